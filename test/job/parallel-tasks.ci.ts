/**
 * Several threads work on a job at one time, even on one large input, and --io-limit bounds how many use a disk. A
 * worker is held inside a read or write until another one is inside one too: they meet, or the job fails because no
 * other came.
 */
import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { withSabotage } from '../faults/sabotage.js';
import { smallSizes, writeInputs } from '../faults/small-job.js';
import { DONE, seen, sortLines } from '../fixtures/command-outcome.js';
import { runCommand } from '../fixtures/run-command.js';
import { sampled } from '../fixtures/scale.js';
import { useTestDirectory } from '../fixtures/temp-directory.js';

const directory = useTestDirectory();

const OCCASIONS = ['input-read', 'temp-write', 'temp-read', 'output-write'] as const;

/** Shuffles one plain file, which lies on one disk with the temp data and the output. */
function shuffleOneFile(at: (typeof OCCASIONS)[number], ioLimit: number, patienceMilliseconds: number) {
  const [input = ''] = writeInputs(directory);
  const { nodeOptions, env } = withSabotage({ act: 'meet', at, patienceMilliseconds });
  const argv = ['-q', input, '-T', directory.temp, '-o', directory.path('out'), '--workers', '2'];
  return runCommand([...argv, `--io-limit=${directory.path()}=${ioLimit}`], {
    nodeOptions,
    env: { ...env, ...smallSizes() },
  });
}

describe('two workers', () => {
  it.each(OCCASIONS)('are at work on one file at the same time, each at a call of its own: %s', async (at) => {
    expect(seen(await shuffleOneFile(at, 2, 20_000))).toEqual(DONE);
    expect(sortLines(readFileSync(directory.path('out'), 'latin1'))).toEqual(
      sortLines(readFileSync(directory.path('0.input'), 'latin1')),
    );
  });

  it.each(sampled(OCCASIONS, 3, 1))('never are at one disk together that --io-limit gives to one: %s', async (at) => {
    const { exitCode, stderr } = await shuffleOneFile(at, 1, 500);
    expect(stderr).toMatch(/^pileshuf: .*: made up: nobody came/);
    expect(exitCode).not.toBe(0);
  });
});
