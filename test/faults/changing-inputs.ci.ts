/**
 * Inputs that somebody writes to, truncates or replaces while the job reads them: exit code 3, a line that names the
 * file and says that it changed, no output, and no temp files.
 */
import { existsSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { seen } from '../fixtures/command-outcome.js';
import { runCommand } from '../fixtures/run-command.js';
import { sampled } from '../fixtures/scale.js';
import { useTestDirectory } from '../fixtures/temp-directory.js';
import { withSabotage } from './sabotage.js';
import { smallSizes, writeInputs } from './small-job.js';

const directory = useTestDirectory();

const CHANGED =
  /^pileshuf: .*\/0\.input: the input changed during the job \(.*\); start again when nothing writes to it$/;
/** Two reads of each input belong to the plan. */
const READS_OF_PLAN = 4;

function shuffleChanging(how: 'grow' | 'shrink' | 'replace' | 'overwrite', nth: number, argv: readonly string[]) {
  const [path] = writeInputs(directory);
  if (path === undefined) throw new RangeError('there is no input');
  const { nodeOptions, env } = withSabotage({ act: 'change-input', at: 'input-read', how, path, nth });
  return runCommand(['-q', path, '-T', directory.temp, '--workers', '2', ...argv], {
    nodeOptions,
    env: { ...env, ...smallSizes() },
  });
}

describe('an input that changes during the job', () => {
  it.each(sampled(['grow', 'shrink', 'replace', 'overwrite'] as const, 2))('is refused: %s', async (how) => {
    const output = directory.path('out');
    const result = await shuffleChanging(how, READS_OF_PLAN + 2, ['-o', output]);
    expect(seen(result)).toEqual({ exitCode: 3, lines: [expect.stringMatching(CHANGED)] });
    expect(existsSync(output)).toBe(false);
  });

  it.each([1, 2])('is refused when it changes while the job is planned, at read %d', async (nth) => {
    const output = directory.path('out');
    const result = await shuffleChanging('grow', nth, ['-o', output]);
    expect(seen(result)).toEqual({ exitCode: 3, lines: [expect.stringMatching(CHANGED)] });
  });

  it('is refused with standard output, too', async () => {
    const result = await shuffleChanging('grow', READS_OF_PLAN + 2, []);
    expect(seen(result)).toEqual({ exitCode: 3, lines: [expect.stringMatching(CHANGED)] });
    expect(result.stdout.byteLength).toBe(0);
  });
});
