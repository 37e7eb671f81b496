/**
 * Inputs that somebody writes to, truncates or replaces while the job reads them: exit code 3, a line that names the
 * file and says that it changed, no output, and no temp files.
 */

import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { gzipSync } from 'node:zlib';
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

  it('leaves the output that it should replace', async () => {
    const output = directory.path('existing');
    writeFileSync(output, 'precious\n');
    const result = await shuffleChanging('shrink', READS_OF_PLAN + 2, ['-o', output, '--force']);
    expect(seen(result)).toEqual({ exitCode: 3, lines: [expect.stringMatching(CHANGED)] });
    expect(readFileSync(output, 'utf8')).toBe('precious\n');
  });

  it.each(sampled(['grow', 'shrink', 'replace'] as const, 3, 1))(
    'is refused when it is compressed: %s',
    async (how) => {
      const path = directory.path('0.input');
      // Incompressible enough to be read in several pieces.
      const digits = Array.from({ length: 120_000 }, (_, i) => `${(i * 2_654_435_761) % 4_294_967_296}\n`).join('');
      writeFileSync(path, gzipSync(digits));
      const { nodeOptions, env } = withSabotage({ act: 'change-input', at: 'input-read', how, path, nth: 3 });
      const argv = ['-q', path, path, '-T', directory.temp, '--workers', '1', '-o', directory.path('out')];
      const sizes = smallSizes({ bufferBytes: 4000, readBytes: 65_536, pass2ArenaBytes: 2 ** 22, sliceBytes: 10_000 });
      const result = await runCommand(argv, { nodeOptions, env: { ...env, ...sizes } });
      expect(result.stderr).toMatch(/0\.input/);
      expect(seen(result)).toEqual({
        exitCode: 3,
        lines: [expect.stringMatching(/0\.input: the (input changed|gzip)/)],
      });
      expect(existsSync(directory.path('out'))).toBe(false);
    },
  );
});
