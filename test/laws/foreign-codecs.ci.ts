/**
 * gzip and zstd files from other programs: with one member and with several, with and without sizes and checksums, with
 * large windows. A test of a missing program is skipped with a note.
 */
import { readFileSync, writeFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { detectCodec } from '#src/formats/codec-table.js';
import { findZstdInNode } from '#src/formats/codecs/zstd-decoders.js';
import { shuffle } from '#src/index.js';
import { DONE, seen } from '../fixtures/command-outcome.js';
import { isOnPath, runOn } from '../fixtures/foreign-program.js';
import { runCommand } from '../fixtures/run-command.js';
import { fromCi, sampled } from '../fixtures/scale.js';
import { useMemoryDirectory } from '../fixtures/temp-directory.js';
import { BGZF_END, bgzfOf } from '../formats/codecs/bgzf-file.js';
import { orderRecords, recordsOf, referenceOrder } from './reference-order.js';

const directory = useMemoryDirectory();
const MIB = 2 ** 20;

/** Some megabytes, so that there are many blocks and, of programs with several threads, many members. */
const lines = Buffer.from(Array.from({ length: 25_000 }, (_, i) => `${i} ${'x'.repeat((i * 7919) % 150)}\n`).join(''));
const expected = Buffer.concat(referenceOrder([lines], 'foreign'));

async function expectLines(stored: Buffer, memoryBytes = 64 * MIB): Promise<void> {
  writeFileSync(directory.path('in'), stored);
  for (const sliceBytes of [100_000, 2 ** 30]) {
    const options = { inputs: [directory.path('in')], output: directory.path('out'), seed: 'foreign', force: true };
    const tuning = { sliceBytes, inline: sliceBytes > lines.byteLength };
    await shuffle({ ...options, workers: 2, memoryBytes, tempDirs: [directory.temp] }, tuning);
    expect(readFileSync(directory.path('out')).equals(expected), `slices of ${sliceBytes} bytes`).toBe(true);
  }
}

const NAMED =
  'import gzip, sys; f = gzip.GzipFile("a name", "wb", 9, sys.stdout.buffer); f.write(sys.stdin.buffer.read()); f.close()';
/** Every second of them in CI. */
const ZSTD = ['-1', '-T0', '-T2 -B512K', '--no-check', '--no-content-size', '--ultra -20', '--fast=5'];

const WRITERS: readonly (readonly [codec: string, words: string, ...argv: string[]])[] = [
  ['gzip', 'gzip -1'],
  ['gzip', 'gzip -9'],
  ['gzip', 'pigz -p 4'],
  ['gzip', 'pigz -p 4 --independent'],
  ['gzip', 'igzip'],
  ['bgzf', 'bgzip'],
  ['bgzf', 'bgzip --threads 2'],
  ['gzip', 'python3', '-c', NAMED],
  ...sampled(ZSTD, 1, 0, 2).map((words) => ['zstd', `zstd ${words} -q -c`] as const),
  ['zstd', 'pzstd -p 4 -q -c'],
];

describe.each(WRITERS)('%s of %s', (codec, words, ...argv) => {
  const command = [...words.split(' '), ...argv];
  const [program = ''] = command;

  it.skipIf(!isOnPath(program))(`is read as it was, alone, cut and joined, if ${program} is on PATH`, async () => {
    const stored = runOn(lines, command);
    expect(detectCodec(stored)?.name).toBe(codec);
    await expectLines(stored);
    const third = Math.ceil(lines.byteLength / 3);
    const members = [0, 1, 2].map((i) => runOn(lines.subarray(i * third, (i + 1) * third), command));
    await expectLines(Buffer.concat([runOn(new Uint8Array(), command), ...members]));
    if (codec !== 'zstd') await expectLines(Buffer.concat([...members, Buffer.alloc(10_240)]));
  });
});

describe.each([
  ['gzip -dc'],
  ['bgzip -dc'],
  ['python3', '-c', 'import gzip, sys; sys.stdout.buffer.write(gzip.decompress(sys.stdin.buffer.read()))'],
])('%s', (words, ...argv) => {
  const command = [...words.split(' '), ...argv];
  const [program = ''] = command;

  it.skipIf(!isOnPath(program))(`reads the BGZF that the tests write, if ${program} is on PATH`, () => {
    expect(runOn(bgzfOf(lines, [65_536, 0, 1, 300]), command).equals(lines)).toBe(true);
  });
});

it.skipIf(!isOnPath('bgzip'))('bgzip ends its files as the tests do, but for the compressor, if it is on PATH', () => {
  const end = runOn(Buffer.alloc(0), ['bgzip']);
  expect(end.byteLength).toBe(28);
  expect(end.subarray(0, 18)).toEqual(BGZF_END.subarray(0, 18));
});

const hasZstd = isOnPath('zstd');
const NO_ROOM =
  /in: the zstd frame at byte 0 \(compressed\) has a window of 134217728 bytes, which does not fit the memory budget; expected (?:--memory|-S) of at least (\d+M)$/;

describe.runIf(fromCi)('zstd --long, if zstd is on PATH', () => {
  it.skipIf(!hasZstd).each(sampled([0, 1], 2))(
    'is read when the window fits the memory, and else refused with the memory that would do: %d lines of header',
    async (headerLines) => {
      // Hardly compressible, so that the first bytes of the file do not hold all of it.
      const digits = Array.from({ length: 20_000 }, (_, i) => (Math.imul(i + 1, 0x9e3779b1) >>> 0).toString(36));
      const input = Buffer.concat([Buffer.from(`${digits.join('')}\n`), lines]);
      writeFileSync(directory.path('in'), runOn(input, ['zstd', '-q', '-c', '--long=27']));
      const output = directory.path('out');
      const header = headerLines === 0 ? [] : ['--header', String(headerLines)];
      const argv = [
        directory.path('in'),
        '-o',
        output,
        '--seed',
        'foreign',
        '--temp-dir',
        directory.temp,
        '-q',
        ...header,
      ];
      const env = { PILESHUF_TEST_TUNING: JSON.stringify({ inline: false }) };
      const { exitCode, lines: said } = seen(await runCommand([...argv, '--memory', '64M'], { env }));
      expect({ exitCode, said }).toEqual({ exitCode: 2, said: [expect.stringMatching(NO_ROOM)] });
      const [, memory = ''] = NO_ROOM.exec(said[0] ?? '') ?? [];
      expect(Number.parseInt(memory, 10)).toBeLessThan(600);
      expect(seen(await runCommand([...argv, '--memory', memory], { env }))).toEqual(DONE);
      const headerBytes = headerLines === 0 ? 0 : input.indexOf('\n') + 1;
      const records = orderRecords([recordsOf(input.subarray(headerBytes), 0x0a)], 'foreign', [headerBytes]);
      expect(readFileSync(output).equals(Buffer.concat([input.subarray(0, headerBytes), ...records]))).toBe(true);
    },
  );

  it.skipIf(!hasZstd)('is read with little memory when the frame says that it is small', async () => {
    writeFileSync(directory.path('lines'), lines);
    await expectLines(runOn(new Uint8Array(), ['zstd', '-q', '-c', '--long=31', directory.path('lines')]), 16 * MIB);
  });

  it.skipIf(!hasZstd || findZstdInNode() === undefined)('=31 is read where Node has zstd', async () => {
    await expectLines(runOn(lines, ['zstd', '-q', '-c', '--long=31']), 8192 * MIB);
  });
});

it.skipIf(!hasZstd)('a truncated and a corrupt file are errors with their place, if zstd is on PATH', async () => {
  const stored = runOn(lines, ['zstd', '-q', '-c']);
  const damaged = Buffer.from(stored);
  damaged[damaged.byteLength - 3] = (damaged[damaged.byteLength - 3] ?? 0) ^ 1;
  for (const [bytes, message] of [
    [stored.subarray(0, -1), `the zstd data ends at byte ${stored.byteLength - 1} (compressed) inside a frame`],
    [damaged, 'the zstd data is corrupt between byte '],
    [
      Buffer.concat([stored, Buffer.from('\n')]),
      `byte ${stored.byteLength} (compressed) lies after the last zstd frame`,
    ],
  ] as const) {
    writeFileSync(directory.path('in'), bytes);
    const argv = [directory.path('in'), '-o', directory.path('out'), '--temp-dir', directory.temp];
    const { exitCode, stderr } = await runCommand(argv);
    expect({ exitCode, stderr }).toMatchObject({ exitCode: 3, stderr: expect.stringContaining(message) });
  }
});
