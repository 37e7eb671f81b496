/** Looking at the order of files: what a shuffle writes and what it read, in several formats; and every refused call. */
import { mkdirSync, writeFileSync } from 'node:fs';
import { gzipSync } from 'node:zlib';
import { describe, expect, it } from 'vitest';
import { planWindows } from '#src/checks/check-shuffled.js';
import { type CheckOptions, checkShuffled, shuffle } from '#src/index.js';
import type { Tuning } from '#src/plan/memory-plan.js';
import { fromCi, sampled } from '../fixtures/scale.js';
import { useMemoryDirectory } from '../fixtures/temp-directory.js';
import { TINY_BUFFERS } from '../fixtures/tiny-buffers.js';

const directory = useMemoryDirectory();
const COLOURS = ['red', 'green', 'blue', 'black'];

/** Records of four sources, one behind the other. */
const LINES = Array.from({ length: 3000 }, (_, i) => {
  const source = COLOURS[Math.floor((i * 4) / 3000)];
  return `{"id":${i},"meta":{"source":"s${(i * 7) % 5}"},"text":"${`${source} ${i % 97} `.repeat(1 + (i % 13))}"}\n`;
});

function written(files: Readonly<Record<string, string | Uint8Array>>): string[] {
  mkdirSync(directory.path('in'), { recursive: true });
  return Object.entries(files).map(([name, content]) => {
    writeFileSync(directory.path('in', name), content);
    return directory.path('in', name);
  });
}

const check = (inputs: readonly string[], options: Partial<CheckOptions> = {}, tuning: Partial<Tuning> = {}) =>
  checkShuffled({ inputs, ...options }, tuning);

async function shuffledOf(inputs: readonly string[], options: Partial<CheckOptions> = {}): Promise<string> {
  const output = directory.path('shuffled');
  const { records, header, zeroTerminated } = options;
  await shuffle({ inputs, output, records, header, zeroTerminated, seed: '1', tempDirs: [directory.temp] });
  return output;
}

describe('the order of a file', () => {
  it.runIf(fromCi)('is seen before a shuffle, and not after it', async () => {
    const inputs = written({
      'a.jsonl': LINES.slice(0, 1100).join(''),
      'b.jsonl.gz': gzipSync(LINES.slice(1100).join('')),
    });
    const before = await check(inputs);
    expect(before).toMatchObject({
      verdict: 'not-shuffled',
      files: 2,
      records: 3000,
      isCounted: true,
      bytes: LINES.join('').length,
      drift: { isSeen: true },
      neighbours: { isSeen: true },
      travel: { mean: 0, median: 0, ascending: 1 },
    });
    const after = await check([await shuffledOf(inputs)]);
    expect(after).toMatchObject({
      verdict: 'shuffled',
      drift: { isSeen: false },
      neighbours: { isSeen: false },
      records: 3000,
    });
    expect(Math.abs((after.travel?.mean ?? 0) - 1 / 3)).toBeLessThan(0.03);
    expect(after.profile.map(({ name }) => name)).toEqual(['length', 'bytes', 'words', 'alphabet', 'number']);
  });

  it('is the same each time, with threads as without', async () => {
    const inputs = written({ 'a.jsonl': LINES.slice(0, 1000).join('') });
    const { seconds: _, ...one } = await check(inputs);
    const { seconds: __, ...other } = await check(inputs, { workers: 2 }, { ...TINY_BUFFERS, inline: false });
    expect(other).toEqual(one);
  });

  it.each(
    sampled<[string, Partial<CheckOptions>, (order: readonly number[]) => string | Buffer]>(
      [
        [
          'CSV with a header',
          { records: { by: 'csv' }, header: { lines: 1 } },
          (order) => `id,text\n${order.map((i) => `${i},"a\n${i % 9}"\n`).join('')}`,
        ],
        ['NUL-terminated records', { zeroTerminated: true }, (order) => order.map((i) => `${i}\n\0`).join('')],
        [
          'records of a size',
          { records: { by: 'size', recordBytes: 8 } },
          (order) => Buffer.from(BigUint64Array.from(order, (i) => BigInt(i)).map((i) => (i << 40n) | 0xffn).buffer),
        ],
        ['paragraphs', { records: { by: 'paragraphs' } }, (order) => order.map((i) => `${i}\ntext\n\n`).join('')],
      ],
      4,
    ),
  )('may be of %s', async (_, options, fileOf) => {
    const numbers = Array.from({ length: 1000 }, (__, i) => i);
    const inputs = written({ a: fileOf(numbers) });
    expect((await check(inputs, options)).verdict).toBe('not-shuffled');
    expect(['shuffled', 'nothing-to-see']).toContain(
      (await check([await shuffledOf(inputs, options)], options)).verdict,
    );
  });

  it('is seen in a field, and by the numbers of another', async () => {
    // Nothing but the source tells where a record was.
    const lines = Array.from(
      { length: 2560 },
      (_, i) => `{"n":"x","source":${i < 1280 ? 111 : 222},"order":{"at":${2560 - i}}}\n`,
    );
    const inputs = written({ a: lines.join('') });
    const { drift, travel } = await check(inputs, { field: '.source', id: '.order.at' });
    expect(drift.families.find(({ name }) => name === 'field')?.probability).toBeLessThan(1e-6);
    // In the opposite order.
    expect(travel).toMatchObject({ ascending: 0 });
    expect(travel?.mean).toBeCloseTo(0.5, 2);
  });

  it.runIf(fromCi)('of a large file is seen in a sample', async () => {
    const text = 'some text of a long record. '.repeat(80);
    const lines = Array.from({ length: 34_000 }, (_, i) => `{"id":${i},"text":"${text}"}\n`);
    const inputs = written({ a: lines.slice(0, 9000).join(''), b: lines.slice(9000).join('') });
    const report = await check(inputs);
    expect(report).toMatchObject({ verdict: 'not-shuffled', isCounted: false, windows: 128, travel: { ascending: 1 } });
    expect(Math.abs(report.records - 34_000)).toBeLessThan(400);
    expect(report.travel?.mean).toBeLessThan(0.01);
  });
});

describe('nothing is to be seen', () => {
  it.each<[string, string]>([
    ['no records', ''],
    ['one record', 'one\n'],
    ['a few records', LINES.slice(0, 100).join('')],
    ['equal records', 'x\n'.repeat(600)],
    ['empty records', '\n'.repeat(600)],
    ['the bytes 00 and FF', '\0\xff\n\xff\0\n\0\0\n'.repeat(1)],
  ])('in %s', async (_, content) => {
    const report = await check(written({ a: Buffer.from(content, 'latin1') }));
    expect(report).toMatchObject({
      verdict: 'nothing-to-see',
      drift: { isSeen: false },
      neighbours: { isSeen: false },
    });
  });
});

describe('windows', () => {
  const MIB = 2 ** 20;
  const file = (decodedBytes: number, canSeek = true) => ({ decodedBytes, canSeek });
  const planned = (...files: readonly ReturnType<typeof file>[]) => planWindows(files, 100, 128, 64);

  it('lie in the middle of equal parts of much data, and hold all of little', () => {
    const windows = planned(file(1000 * MIB), file(MIB), file(279 * MIB));
    expect(windows).toHaveLength(128);
    const before = [0, 1000 * MIB, 1001 * MIB];
    const places = windows.map(({ inputOrdinal, startBytes }) => (before[inputOrdinal] ?? 0) + startBytes);
    for (const [i, place] of places.entries()) expect(Math.abs(place - (i + 0.5) * 10 * MIB)).toBeLessThan(2);
    const all = { stride: 64, windowCount: Number.POSITIVE_INFINITY };
    expect(planned(file(1000), file(50))).toMatchObject([all, all]);
  });

  it('are spread over what must be decoded from its beginning, or at that if it is too large', () => {
    expect(planned(file(60 * MIB, false))).toMatchObject([{ stride: 4915 }]);
    const few = { stride: 64, windowCount: 4 };
    expect(planned(file(3072 * MIB, false), file(2048 * MIB, false))).toMatchObject([few, few]);
  });
});
