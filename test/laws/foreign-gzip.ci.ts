/**
 * gzip files from other programs: gzip, pigz, igzip, bgzip and Python's gzip module, with one member and with several.
 * A test of a missing program is skipped with a note.
 */

import { readFileSync, writeFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { detectCodec } from '#src/formats/codec-table.js';
import { shuffle } from '#src/index.js';
import { isOnPath, runOn } from '../fixtures/foreign-program.js';
import { sampled } from '../fixtures/scale.js';
import { useMemoryDirectory } from '../fixtures/temp-directory.js';
import { BGZF_END, bgzfOf } from '../formats/codecs/bgzf-file.js';
import { referenceOrder } from './reference-order.js';

const directory = useMemoryDirectory();

/** Some megabytes, so that `pigz` and `bgzip` write many blocks. */
const lines = Buffer.from(Array.from({ length: 40_000 }, (_, i) => `${i} ${'x'.repeat((i * 7919) % 150)}\n`).join(''));
const expected = Buffer.concat(referenceOrder([lines], 'foreign'));

async function expectLines(stored: Buffer): Promise<void> {
  writeFileSync(directory.path('in'), stored);
  for (const sliceBytes of [100_000, 2 ** 30]) {
    const options = { inputs: [directory.path('in')], output: directory.path('out'), seed: 'foreign', force: true };
    const tuning = { sliceBytes, inline: sliceBytes > lines.byteLength };
    await shuffle({ ...options, workers: 2, memoryBytes: 2 ** 26, tempDirs: [directory.temp] }, tuning);
    expect(readFileSync(directory.path('out')).equals(expected), `slices of ${sliceBytes} bytes`).toBe(true);
  }
}

const PYTHON = 'import gzip, sys; sys.stdout.buffer.write(gzip.compress(sys.stdin.buffer.read(), 6))';
const NAMED =
  'import gzip, sys; f = gzip.GzipFile("a name", "wb", 9, sys.stdout.buffer); f.write(sys.stdin.buffer.read()); f.close()';

describe.each(
  sampled(
    [
      ['gzip -1'],
      ['gzip -9'],
      ['pigz -p 4'],
      ['pigz -p 4 --independent'],
      ['igzip'],
      ['bgzip'],
      ['bgzip --threads 2'],
      ['python3', '-c', PYTHON],
      ['python3', '-c', NAMED],
    ],
    5,
  ),
)('%s', (words, ...argv) => {
  const command = [...words.split(' '), ...argv];
  const [program = ''] = command;

  it.skipIf(!isOnPath(program))(`writes what is read as it was, if ${program} is on PATH`, async () => {
    const stored = runOn(lines, command);
    expect(detectCodec(stored)?.name).toBe(program === 'bgzip' ? 'bgzf' : 'gzip');
    await expectLines(stored);
  });

  it.skipIf(!isOnPath(program))(`writes what is read as it was, cut and joined, if ${program} is on PATH`, async () => {
    const third = Math.ceil(lines.byteLength / 3);
    const members = [0, 1, 2].map((i) => runOn(lines.subarray(i * third, (i + 1) * third), command));
    await expectLines(Buffer.concat(members));
    await expectLines(Buffer.concat([...members, Buffer.alloc(10_240)]));
  });
});

describe.each(
  sampled(
    [
      ['gzip -dc'],
      ['bgzip -dc'],
      ['python3', '-c', 'import gzip, sys; sys.stdout.buffer.write(gzip.decompress(sys.stdin.buffer.read()))'],
    ],
    2,
  ),
)('%s', (words, ...argv) => {
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
