/**
 * Limits of the system (open files, address space, file size) and outputs that are not regular files. The job writes devices
 * and pipes in place, and never renames a file over them.
 */
import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { seen, sortLines } from '../fixtures/command-outcome.js';
import { runShell } from '../fixtures/run-shell.js';
import { useTestDirectory } from '../fixtures/temp-directory.js';
import { SORTED_OUTPUT, smallSizes, writeInputs } from './small-job.js';

const directory = useTestDirectory();
const BUILT = fileURLToPath(new URL('../../dist/bundle/main.cjs', import.meta.url));

function options(): string[] {
  return ['-q', '-T', directory.temp, '--workers', '2', '--seed', '1'];
}

describe('too little address space', () => {
  it('ends the job with the need of a worker', async () => {
    const argv = [...options(), ...writeInputs(directory), '-o', directory.path('out')];
    // Enough for Node, and not for two linear memories.
    const result = await runShell(`ulimit -v ${16 * 2 ** 20}; exec "$@"`, argv, smallSizes());
    expect(seen(result)).toEqual({
      exitCode: 1,
      lines: [
        expect.stringMatching(
          /^pileshuf: the system does not give a thread its memory; .* --workers; where `ulimit -v` is set, allow 10 GiB of addresses a worker$/,
        ),
      ],
    });
    expect(existsSync(directory.path('out'))).toBe(false);
  });
});

describe('256 open files', () => {
  const INPUTS = 2000;
  const FEW_FILES = 'ulimit -n 256; exec "$@"';
  /** 4,096 piles of which each input holds some; as many stripes as the limit allows. */
  const sizes = smallSizes({
    pileCount: 4096,
    bufferBytes: 4096,
    sliceBytes: 20_000,
    pass2ArenaBytes: 2 ** 25,
    stripeCount: undefined,
  });

  function writeManyInputs(): { readonly path: string; readonly lines: string[] } {
    const path = directory.path('many');
    mkdirSync(path);
    const lines: string[] = [];
    for (let file = 0; file < INPUTS; file++) {
      const line = `only line of file ${file}`;
      lines.push(line);
      writeFileSync(`${path}/${file}.txt`, `${line}\n`);
    }
    return { path, lines };
  }

  it('are enough for 2,000 inputs and 4,096 piles', async () => {
    const { path, lines } = writeManyInputs();
    const output = directory.path('out');
    expect(seen(await runShell(FEW_FILES, [...options(), path, '-o', output], sizes))).toEqual({
      exitCode: 0,
      lines: [],
    });
    expect(sortLines(readFileSync(output, 'utf8'))).toEqual([...lines, ''].sort());
  });
});

it('too few descriptors for the program itself are reported in one line', () => {
  const start = (limit: number) => {
    const words = ['-c', 'ulimit -n "$0"; exec "$@"', String(limit), process.execPath, BUILT, '--help'];
    const { status, stderr } = spawnSync('sh', words, { encoding: 'utf8' });
    return { status, stderr };
  };
  // With the fewest of them Node itself does not come as far as to the program; some more are enough for its few files.
  const outcomes = [...Array(28).keys()]
    .slice(17)
    .map(start)
    .filter(({ stderr }) => stderr.startsWith('pileshuf'));
  expect(outcomes.length).toBeGreaterThan(0);
  for (const outcome of outcomes) {
    expect(outcome).toEqual({
      status: 1,
      stderr: expect.stringMatching(/^pileshuf: (cannot start: )?too many open files \(raise `ulimit -n`\)\n$/),
    });
  }
  expect(start(40)).toEqual({ status: 0, stderr: '' });
});

describe('an output that is not a regular file', () => {
  it.each(['/dev/stdout', '-'])('is standard output when it is %s', async (name) => {
    const argv = [...options(), ...writeInputs(directory), '-o', name];
    const result = await runShell('"$@" | cat', argv, smallSizes());
    expect(seen(result)).toEqual({ exitCode: 0, lines: [] });
    expect(sortLines(result.stdout.toString('latin1'))).toEqual(SORTED_OUTPUT);
    // Behind a redirection, too, where the name leads to the file.
    const copy = directory.path('copy');
    expect(seen(await runShell('"$@" > "$COPY"', argv, { ...smallSizes(), COPY: copy }))).toEqual({
      exitCode: 0,
      lines: [],
    });
    expect(sortLines(readFileSync(copy, 'latin1'))).toEqual(SORTED_OUTPUT);
    expect(existsSync(directory.path('stdout'))).toBe(false);
  });
});
