/**
 * Inputs that can be read only once, and standard output: every kind of stream gives the same bytes as a file with the
 * same content, and an impossible request gets an error.
 */
import { existsSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { gzipSync } from 'node:zlib';
import { beforeEach, describe, expect, it } from 'vitest';
import { smallSizes } from '../faults/small-job.js';
import { DONE, seen, sortLines } from '../fixtures/command-outcome.js';
import { makePipe } from '../fixtures/make-pipe.js';
import { runCommand } from '../fixtures/run-command.js';
import { IN_TIME, runShell } from '../fixtures/run-shell.js';
import { sampled } from '../fixtures/scale.js';
import { useMemoryDirectory } from '../fixtures/temp-directory.js';

const directory = useMemoryDirectory();
const text = (name: string, count: number) =>
  Array.from({ length: count }, (_, i) => `${name} ${'.'.repeat(i % 17)}${i}\n`).join('');

let a = '';
let b = '';
beforeEach(() => {
  a = directory.path('a');
  b = directory.path('b');
  writeFileSync(a, text('a', 3000));
  writeFileSync(b, text('b', 500).trimEnd());
});

function options(workers = 2): string[] {
  return ['-q', '--seed', '7', '-T', directory.temp, '-S', '64M', '--workers', `${workers}`];
}

/** What the files give: the reference for every stream. */
async function shuffledFiles(...more: string[]): Promise<string> {
  const result = await runCommand([...options(), a, b, ...more], { env: smallSizes() });
  expect(result.exitCode).toBe(0);
  return result.stdout.toString('latin1');
}

describe('standard output', () => {
  it.each(sampled([3, 5, 7], 3))('is in order with %d workers', async (workers) => {
    const output = directory.path('out');
    const argv = [...options(workers), a, b];
    // Many tasks, each with several writes, all of which have to wait for their turn.
    const env = smallSizes({ pileCount: 40, outputBytes: 200, pass2ArenaBytes: 2 ** 22 });
    const result = await runCommand(argv, { env });
    expect(seen(result)).toEqual(DONE);
    expect(seen(await runCommand([...options(), a, b, '-o', output], { env: smallSizes() }))).toEqual(DONE);
    expect(result.stdout.toString('latin1')).toBe(readFileSync(output, 'latin1'));
  });
});

describe('an input that is a stream', () => {
  it.each(
    sampled(
      [
        ['process substitutions', '"$@" <(cat "$A") <(cat "$B")'],
        ['named pipes', 'cat "$A" > "$PIPE" & "$@" "$PIPE" "$B"'],
        ['standard input', 'cat "$A" | "$@" - "$B"'],
        ['/dev/stdin', 'cat "$A" | "$@" /dev/stdin "$B"'],
        ['/dev/fd', '"$@" "$A" /dev/fd/5 5< <(cat "$B")'],
        ['standard input from a file', '"$@" - "$B" < "$A"'],
        [
          'a pipe in a list',
          'cat "$A" > "$PIPE" & printf "%s\\n" "$PIPE" "$B" > "$PIPE.list"; "$@" --files-from "$PIPE.list"',
        ],
      ],
      3,
    ),
  )('gives the order of the files: %s', async (_, script) => {
    const env = { ...smallSizes(), A: a, B: b, PIPE: makePipe(directory.path('pipe')) };
    const result = await runShell(script.replace('"$@"', `${IN_TIME} "$@"`), options(), env);
    expect(seen(result)).toEqual(DONE);
    expect(result.stdout.toString('latin1')).toBe(await shuffledFiles());
  });

  it('may be given once only', async () => {
    for (const argv of [
      ['-', '/dev/stdin'],
      ['/dev/stdin', '/proc/self/fd/0'],
    ]) {
      const script = `cat "$A" | ${IN_TIME} "$@"; exit "\${PIPESTATUS[1]}"`;
      const result = await runShell(script, [...options(), ...argv], { ...smallSizes(), A: a });
      const line = `pileshuf: ${argv[1]} is the same stream as ${argv[0]}; it can be read only once`;
      expect(seen(result)).toEqual({ exitCode: 2, lines: [line] });
    }
  });

  const kernelFile = '/proc/filesystems';
  it.skipIf(!existsSync(kernelFile))('may be a file of the kernel, which says that it is empty', async () => {
    expect(statSync(kernelFile).size).toBe(0);
    const result = await runCommand([...options(), kernelFile], { env: smallSizes() });
    expect(seen(result)).toEqual(DONE);
    expect(sortLines(result.stdout.toString('latin1'))).toEqual(sortLines(readFileSync(kernelFile, 'latin1')));
  });
});

describe('gzip in a pipe', () => {
  it.each(sampled([0, 10, 100_000, 1_000_000], 2, 1))('may be followed by %d zeros', async (zeros) => {
    const stdin = Buffer.concat([gzipSync('one\ntwo\n'), Buffer.alloc(zeros)]);
    const result = await runCommand(options(), { stdin, env: smallSizes() });
    expect(seen(result)).toEqual(DONE);
    expect(sortLines(result.stdout.toString())).toEqual(sortLines('one\ntwo\n'));
  });

  it.each(sampled([10, 100_000, 1_000_000], 2, 1))(
    'is not a whole file with something behind %d zeros',
    async (zeros) => {
      const packed = gzipSync('one\ntwo\n');
      const stdin = Buffer.concat([packed, Buffer.alloc(zeros), Buffer.from('x')]);
      const result = await runCommand(options(), { stdin, env: smallSizes() });
      const position = packed.byteLength + zeros;
      const line = `pileshuf: standard input: byte ${position} (compressed) lies after the last gzip member and is neither a new member nor zero padding; expected the end of the file; if what follows is junk, \`gzip -dc FILE | gzip\` writes the data without it`;
      expect(seen(result)).toEqual({ exitCode: 3, lines: [line] });
    },
  );
});

describe('pipes among files', () => {
  it('are kept apart', async () => {
    const script = `${IN_TIME} "$@" <(cat "$A") "$B" <(gzip -c "$A")`;
    const result = await runShell(script, options(), { ...smallSizes({ inline: true }), A: a, B: b });
    expect(seen(result)).toEqual(DONE);
    expect(result.stdout.toString('latin1')).toBe(await shuffledFiles(a));
  });
});
