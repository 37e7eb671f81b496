/**
 * A program that embeds pileshuf gets the memory of a job back when the job ends, before its garbage collector runs.
 */
import { execFileSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import { useTestDirectory } from '../fixtures/temp-directory.js';

const directory = useTestDirectory();

const MIB = 2 ** 20;
const DATA_BYTES = 128 * MIB;
const library = new URL('../../dist/bundle/index.js', import.meta.url).href;

it('is less than the data, after a job that had all of it in memory', () => {
  writeFileSync(directory.path('in'), `${'x'.repeat(1023)}\n`.repeat(DATA_BYTES / 1024));
  const code = `
    const { shuffle } = await import(${JSON.stringify(library)});
    const job = { output: process.argv[2], tempDirs: [process.argv[3]], memoryBytes: 2 ** 30, workers: 2, force: true };
    const before = process.memoryUsage.rss();
    let most = before;
    const watch = setInterval(() => { most = Math.max(most, process.memoryUsage.rss()); }, 5);
    const { tempBytes } = await shuffle({ ...job, inputs: [process.argv[1]] });
    clearInterval(watch);
    const after = process.memoryUsage.rss();
    process.stdout.write(JSON.stringify({ tempBytes, most: most - before, after: after - before }));
  `;
  const argv = ['--input-type=module', '-e', code, '--', directory.path('in'), directory.path('out'), directory.temp];
  const memory = JSON.parse(execFileSync(process.execPath, argv, { encoding: 'utf8' }));
  expect(memory.tempBytes).toBe(0);
  expect(memory.most).toBeGreaterThan(DATA_BYTES);
  expect(memory.after).toBeLessThan(DATA_BYTES / 2);
});
