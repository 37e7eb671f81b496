/**
 * An expression that tries for ever on one record: the first SIGINT ends the job within seconds, in memory and on disk, in
 * one thread and in several, and the job leaves nothing behind.
 */
import { readdirSync, writeFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { runCommand } from '../fixtures/run-command.js';
import { useTestDirectory } from '../fixtures/temp-directory.js';

const directory = useTestDirectory();
const { path } = directory;
/** Long enough for threads to start and to meet the record. */
const RUNNING_MILLISECONDS = 1000;

describe('a runaway expression', () => {
  it.each<[string, readonly string[], Record<string, string>]>([
    ['piles on disk', ['--workers', '2'], { PILESHUF_TEST_TUNING: '{"mayUseRamPool":false}' }],
    ['a job that can be resumed', ['--workers', '2', '--resume'], {}],
    ['values that tell which records are equal', ['--unique-by', '/(a+)+$/'], {}],
  ])('is ended by SIGINT: %s', async (_, words, env) => {
    writeFileSync(path('records'), `b\naaa\n${'a'.repeat(80)}!\nb\n`);
    const split = ['--split', 'x=0.5,y=rest', '--split-by', '/(a+)+$/'];
    const values = [...(words.includes('--unique-by') ? [] : split), '--missing', 'none'];
    const { exitCode, stderr } = await runCommand([path('records'), '-o', path('out'), ...values, ...words], {
      cwd: path(),
      env,
      onSpawn: (pid) => {
        const wait = setInterval(() => {
          if (!readdirSync(path()).some((name) => name.startsWith('.pileshuf-'))) return;
          clearInterval(wait);
          setTimeout(() => process.kill(pid, 'SIGINT'), RUNNING_MILLISECONDS);
        }, 20);
      },
    });
    expect({ exitCode, stderr }).toMatchObject({
      exitCode: 130,
      stderr: expect.stringMatching(/^pileshuf: interrupted by SIGINT: stopped before the end; no output was written/),
    });
    expect(readdirSync(path()).filter((name) => name.startsWith('.pileshuf-') || name === 'out')).toEqual([]);
    expect(readdirSync(directory.temp)).toEqual([]);
  });
});
