/** What is kept of records and where windows lie: ranks, standard columns, and the windows of inputs. */
import { describe, expect, it } from 'vitest';
import { planWindows } from '#src/checks/check-shuffled.js';
import { ranksOf, rowsOf } from '#src/checks/record-rows.js';
import { describeRecord } from '#workers/tasks/sample-windows.js';

const sampleOf = (...texts: string[]) =>
  texts.map((text) => describeRecord(Buffer.from(text), Buffer.byteLength(text), ['a', 'b']));

describe('a sample', () => {
  it('has the lengths, bytes, words, numbers and fields of its records', () => {
    const [one, other, third] = sampleOf('{"a":{"b":"x"}}\n', '{"a":{"b":7}}\n', 'Ab 12é');
    expect([one?.byteLength, other?.byteLength, third?.byteLength]).toEqual([16, 14, 7]);
    expect([one?.number, other?.number, third?.number]).toEqual([Number.NaN, 7, 12]);
    expect([one?.field !== other?.field, third?.field]).toEqual([true, 0]);
    expect(third?.byteKinds.map((part) => Math.round(part * 7))).toEqual([1, 1, 2, 1, 0, 2]);
    expect(third?.words).toHaveLength(2);
  });

  it('knows words again, in any case and anywhere', () => {
    const [one, other, third] = sampleOf('one two', 'TWO, one!', 'two three');
    expect(one?.words).toEqual(other?.words);
    expect(one?.words.filter((word) => third?.words.includes(word))).toHaveLength(1);
  });

  it('becomes columns of mean 0 and deviation 1', () => {
    const { values, columnCount, rowCount, families } = rowsOf(
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
    expect([...ranksOf([5, 1, 5, Number.NaN, 9])]).toEqual([1.5, 0, 1.5, 1.5, 3]);
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
