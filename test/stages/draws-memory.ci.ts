/** Draws with replacement hold all records in memory until the job ends. */
import { execFileSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import { useMemoryDirectory } from '../fixtures/temp-directory.js';

const MIB = 2 ** 20;
const INPUT_BYTES = 32 * MIB;
const indexModule = new URL('../../dist/src/index.js', import.meta.url).href;

const directory = useMemoryDirectory();

it('a draw gives its memory back when its job ends', () => {
  const [input, output] = [directory.path('in'), directory.path('out')];
  writeFileSync(input, `${'x'.repeat(1023)}\n`.repeat(INPUT_BYTES / 1024));
  const code = `
    const { shuffle } = await import(${JSON.stringify(indexModule)});
    const options = { inputs: [${JSON.stringify(input)}], output: ${JSON.stringify(output)}, force: true };
    const draw = () => shuffle({ ...options, repeat: true, headCount: 10, workers: 2, memoryBytes: ${512 * MIB} });
    await draw();
    const before = process.memoryUsage.rss();
    for (let i = 0; i < 4; i++) await draw();
    process.stdout.write(String(process.memoryUsage.rss() - before));
  `;
  const grownBytes = Number(execFileSync(process.execPath, ['--input-type=module', '-e', code], { encoding: 'utf8' }));
  expect(grownBytes).toBeLessThan(2 * INPUT_BYTES);
});
