/**
 * Inputs that programs decode: files of bzip2, xz and lz4, as files and through pipes, with other inputs in one job;
 * and any program of --decompress-program. A test of a missing program is skipped with a note.
 */
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { gzipSync } from 'node:zlib';
import { describe, expect, it } from 'vitest';
import { type ShuffleOptions, shuffle } from '#src/index.js';
import type { Tuning } from '#src/plan/memory-plan.js';
import { isOnPath, runOn } from '../fixtures/foreign-program.js';
import { runCommand } from '../fixtures/run-command.js';
import { sampled } from '../fixtures/scale.js';
import { useMemoryDirectory } from '../fixtures/temp-directory.js';
import { referenceOrder } from './reference-order.js';

const directory = useMemoryDirectory();

/** More than a pipe holds, compressed as well. */
const lines = Buffer.from(
  Array.from({ length: 20_000 }, (_, i) => `${i} ${Math.imul(i, 0x9e3779b1).toString(36).repeat(3)}\n`).join(''),
);
const expected = Buffer.concat(referenceOrder([lines], 'foreign'));

async function outputOf(
  inputs: readonly Buffer[],
  options: Partial<ShuffleOptions> = {},
  tuning: Partial<Tuning> = {},
) {
  const paths = inputs.map((bytes, i) => {
    writeFileSync(directory.path(`in-${i}`), bytes);
    return directory.path(`in-${i}`);
  });
  const usual = { output: directory.path('out'), seed: 'foreign', force: true, workers: 2, memoryBytes: 2 ** 26 };
  await shuffle({ ...usual, inputs: paths, tempDirs: [directory.temp], ...options }, { inline: false, ...tuning });
  return readFileSync(directory.path('out'));
}

const COMMANDS = [
  ['bzip2 -c'],
  ['bzip2 -1 -c'],
  ['xz -c'],
  ['xz -0 -T4 --block-size=100000 -c'],
  ['xz --check=none -c'],
  ['lz4 -c'],
  ['lz4 -9 -BD -c'],
  ['lz4 -l -c'],
] as const;

describe.each(sampled(COMMANDS, 3, 0, 3))('%s', (command) => {
  const argv = command.split(' ');
  const [program = ''] = argv;

  describe.skipIf(!isOnPath(program))(`if ${program} is on PATH`, () => {
    const stored = isOnPath(program) ? runOn(lines, argv) : lines;

    it.each([true, false])('writes what is read as it was (inline: %s)', async (inline) => {
      expect((await outputOf([stored], {}, { inline })).equals(expected)).toBe(true);
    });

    it('writes what is read as it was, through a pipe', async () => {
      const { exitCode, stdout, stderr } = await runCommand(['-q', '--seed', 'foreign', '-T', directory.temp], {
        stdin: stored,
      });
      expect({ exitCode, stderr }).toEqual({ exitCode: 0, stderr: '' });
      expect(stdout.equals(expected)).toBe(true);
    });

    it('writes what is read as it was, one file behind the other', async () => {
      const half = Math.ceil(lines.byteLength / 2);
      const halves = [lines.subarray(0, half), lines.subarray(half)].map((part) => runOn(part, argv));
      expect((await outputOf([Buffer.concat(halves)])).equals(expected)).toBe(true);
    });

    it('writes what is not an input any more when it is cut', async () => {
      for (const byteLength of [stored.byteLength - 1, Math.floor(stored.byteLength / 2), 20]) {
        await expect(outputOf([stored.subarray(0, byteLength)]), `${byteLength} bytes`).rejects.toMatchObject({
          code: 'ERR_INPUT_CORRUPT',
          message: expect.stringMatching(
            new RegExp(`^${directory.path('in-0')}: \`${program} -dc\` ended with exit code \\d+ and said: .`),
          ),
        });
      }
    });

    it('writes what is not an input any more when something lies after it, however small it is', async () => {
      const stored = runOn(lines.subarray(0, 1000), argv);
      for (const behind of [Buffer.from('x'), gzipSync('lines'), Buffer.concat([Buffer.alloc(99), stored])]) {
        await expect(outputOf([Buffer.concat([stored, behind])])).rejects.toMatchObject({
          code: 'ERR_INPUT_CORRUPT',
          message: expect.stringMatching(
            new RegExp(`^${directory.path('in-0')}: \`${program} -dc\` (ended with exit code \\d+|left out a part)`),
          ),
        });
      }
    });

    it('writes what is not an input any more when a byte of it is another', async () => {
      const changed = Buffer.from(stored);
      const at = Math.floor(changed.byteLength / 3);
      changed[at] = (changed[at] ?? 0) ^ 0x40;
      // Without a check nothing can be told.
      const isChecked = !/none|-l/.test(command);
      const output = await outputOf([changed]).catch((error: unknown) => error);
      if (isChecked) expect(output).toMatchObject({ code: 'ERR_INPUT_CORRUPT' });
    });
  });
});

describe.skipIf(!['bzip2', 'xz', 'lz4', 'zstd'].every(isOnPath))('if bzip2, xz, lz4 and zstd are on PATH', () => {
  it('one job takes all of them', async () => {
    const parts = Array.from({ length: 6 }, (_, i) => Buffer.from(`${i} a\n${i} b\n`.repeat(5000)));
    const [a = lines, b = lines, c = lines, d = lines, e = lines, f = lines] = parts;
    const stored = [a, gzipSync(b), runOn(c, ['xz', '-c']), runOn(d, ['bzip2', '-c']), runOn(e, ['lz4', '-c'])];
    const output = await outputOf([...stored, runOn(f, ['zstd', '-c'])]);
    expect(output.equals(Buffer.concat(referenceOrder(parts, 'foreign')))).toBe(true);
  });
});

describe('a program of the user', () => {
  it('gets every input, whatever it begins with', async () => {
    const upper = Buffer.from(lines.toString().toUpperCase());
    const options = { decompressProgram: ['tr', '[:lower:]', '[:upper:]'] };
    for (const inline of [true, false]) {
      const output = await outputOf([lines], options, { inline });
      expect(output.equals(Buffer.concat(referenceOrder([upper], 'foreign')))).toBe(true);
    }
    const stored = gzipSync(lines);
    const kept = await outputOf([stored], { decompressProgram: ['gzip', '-dc'] });
    expect(kept.equals(expected)).toBe(true);
  });

  it('is started for each of many inputs, no more at a time than there are workers', async () => {
    const inputs = Array.from({ length: 20 }, (_, i) => Buffer.from(`${i}\n`));
    mkdirSync(directory.path('running'));
    const script = 'mkdir "$0/running/$$" && ls "$0/running" | wc -l >>"$0/counts" && cat && rmdir "$0/running/$$"';
    const options = { decompressProgram: ['sh', '-c', script, directory.path()] };
    // Each input is a slice of its own.
    const output = await outputOf(inputs, options, { sliceBytes: 1 });
    expect(output.equals(Buffer.concat(referenceOrder(inputs, 'foreign')))).toBe(true);
    const counts = readFileSync(directory.path('counts'), 'utf8').trim().split('\n').map(Number);
    expect(counts).toHaveLength(inputs.length);
    expect(Math.max(...counts)).toBeLessThanOrEqual(2);
  });
});
