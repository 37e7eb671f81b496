/** What is kept of records and where windows lie: ranks, likeness, standard columns, buffers, and the windows of inputs. */
import { describe, expect, it } from 'vitest';
import { bufferOrder, spanOf } from '#src/plan/order-tests.js';
import { drawsOf, identityOrder } from '#src/plan/permutation-test.js';
import { matrixOf, ranksOf, similarity } from '#src/plan/record-sample.js';
import { planWindows } from '#src/plan/sample-windows.js';
import { describeRecord, inColumns } from '#workers/tasks/sample-records.js';

const sampleOf = (...texts: string[]) =>
  inColumns(texts.map((text) => describeRecord(Buffer.from(text), Buffer.byteLength(text), ['a', 'b'], undefined)));

describe('a sample', () => {
  it('has the lengths, bytes, words, numbers and fields of its records', () => {
    const sample = sampleOf('{"a":{"b":"x"}}\n', '{"a":{"b":7}}\n', 'Ab 12é');
    expect(sample).toMatchObject({ count: 3, byteLengths: Float64Array.of(16, 14, 7) });
    expect([...sample.numbers]).toEqual([Number.NaN, 7, 12]);
    expect([sample.fields[0] !== sample.fields[1], sample.fields[2]]).toEqual([true, 0]);
    expect([...sample.byteKinds.subarray(12)].map((part) => Math.round(part * 7))).toEqual([1, 1, 2, 1, 0, 2]);
    expect(sample.words.subarray(64).filter((word) => word !== 0)).toHaveLength(2);
  });

  it('knows words again, in any case and anywhere', () => {
    const sample = sampleOf('one two', 'TWO, one!', 'two three', '', '');
    expect(similarity(sample, 0, 1)).toBe(1);
    expect(similarity(sample, 0, 2)).toBeCloseTo(1 / 3);
    expect([similarity(sample, 0, 3), similarity(sample, 3, 4)]).toEqual([0, 1]);
  });

  it('becomes columns of mean 0 and deviation 1', () => {
    const { values, columnCount, rowCount, families } = matrixOf(
      sampleOf(...Array.from({ length: 50 }, (_, i) => `${i * i} b${i % 3} c`)),
    );
    expect(families.map(({ name, from, to }) => [name, to - from])).toEqual([
      ['length', 1],
      ['bytes', 6],
      ['words', 16],
      ['alphabet', 1],
      ['number', 1],
    ]);
    for (let column = 0; column < columnCount; column++) {
      const own = Array.from({ length: rowCount }, (_, row) => values[row * columnCount + column] ?? 0);
      expect(own.reduce((sum, value) => sum + value, 0)).toBeCloseTo(0, 3);
      const deviation = Math.sqrt(own.reduce((sum, value) => sum + value * value, 0) / rowCount);
      expect(deviation < 1e-9 || Math.abs(deviation - 1) < 0.2).toBe(true);
    }
  });

  it('has mean ranks for equal numbers, and the middle one where there is none', () => {
    expect([...ranksOf(Float64Array.of(5, 1, 5, Number.NaN, 9))]).toEqual([1.5, 0, 1.5, 1.5, 3]);
  });
});

describe('a buffer', () => {
  it.each([1, 2, 50, 1000])('of %i keeps all records, and moves none forward by more than its size', (size) => {
    const order = bufferOrder(identityOrder(300), size, drawsOf(5));
    expect(order.toSorted()).toEqual(identityOrder(300));
    for (const [place, record] of order.entries()) expect(record - place).toBeLessThan(size);
    if (size === 1) expect(order).toEqual(identityOrder(300));
  });
});

describe('the span', () => {
  const matrixBy = (kindOf: (window: number) => number) => {
    const draw = drawsOf(8);
    const values = Float32Array.from({ length: 64 * 64 }, (_, i) => kindOf(Math.floor(i / 64)) + draw() - 0.5);
    return { rowCount: 64 * 64, columnCount: 1, values, families: [] };
  };
  const column = { name: 'length', from: 0, to: 1 } as const;

  it('of blocks in random order is about their size', () => {
    const draw = drawsOf(6);
    const kinds = Array.from({ length: 8 }, () => (draw() < 0.5 ? 1 : -1));
    const share = spanOf(
      matrixBy((window) => (kinds[window >> 3] ?? 0) * (window % 8 < 8 ? 1 : 0)),
      column,
    );
    expect(share).toBeGreaterThan(0.06);
    expect(share).toBeLessThan(0.3);
  });

  it('of all data is unknown', () => {
    expect(
      spanOf(
        matrixBy(() => 1),
        column,
      ),
    ).toBeUndefined();
  });
});

describe('windows', () => {
  const file = (decodedBytes: number, canSeek = true) => ({ decodedBytes, canSeek });
  const MIB = 2 ** 20;

  it('of little data are all of it, or evenly spread', () => {
    expect(planWindows([file(1000), file(50)], 10, 128, 64)).toMatchObject([
      { inputOrdinal: 0, stride: 64, windowCount: Number.POSITIVE_INFINITY },
      { inputOrdinal: 1, stride: 64 },
    ]);
    expect(planWindows([file(60 * MIB, false)], 10, 128, 64)).toMatchObject([{ stride: 49_152 }]);
  });

  it('of much data lie in the middle of equal parts of it', () => {
    const windows = planWindows([file(1000 * MIB), file(MIB), file(279 * MIB)], 100, 128, 64);
    expect(windows).toHaveLength(128);
    expect(windows.map(({ windowCount }) => windowCount)).toEqual(windows.map(() => 1));
    const before = [0, 1000 * MIB, 1001 * MIB];
    const places = windows.map(({ inputOrdinal, startBytes }) => (before[inputOrdinal] ?? 0) + startBytes);
    for (const [i, place] of places.entries()) expect(Math.abs(place - (i + 0.5) * 10 * MIB)).toBeLessThan(2);
  });

  it('of files that must be decoded from their beginning are at the beginning, or spread if they are not too large', () => {
    const GIB = 1024 * MIB;
    expect(planWindows([file(3 * GIB, false)], 100, 128, 64)).toMatchObject([
      { windowCount: Number.POSITIVE_INFINITY },
    ]);
    expect(planWindows([file(3 * GIB, false), file(2 * GIB, false)], 100, 128, 64)).toMatchObject([
      { stride: 64, windowCount: 4 },
      { stride: 64, windowCount: 4 },
    ]);
  });
});
