/** The checks of a report: right ranges, nothing odd in a shuffle, and each way to be badly shuffled is found. */
import seedrandom from 'seedrandom';
import { describe, expect, it } from 'vitest';
import { binomial, chiSquare, correlation, poissonHighest, selfChecks } from '#src/job/report/self-check.js';
import type { SampledRecord } from '#src/options/report-facts.js';

const COUNT = 2000;
const NONE = { ordered: 0, written: 0 };
const NUMBERS = Array.from({ length: COUNT }, (_, i) => i);

/** @param order the records of the input in the order of the output. */
function oddChecks(order: readonly number[]): string[] {
  const sample = order.map(
    (from, rank): SampledRecord => ({
      inputOrdinal: 0,
      position: from,
      fromPart: from / COUNT,
      rank,
      shard: 0,
      keepsNeighbour: rank + 1 < COUNT ? order[rank + 1] === from + 1 : undefined,
    }),
  );
  return selfChecks(sample, { ordered: COUNT, written: COUNT }, undefined, false).flatMap(({ name, isAsExpected }) =>
    isAsExpected ? [] : name,
  );
}

function shuffled(values: readonly number[], seed: string): number[] {
  const draw = seedrandom(seed);
  return values
    .map((value) => ({ value, key: draw() }))
    .sort((a, b) => a.key - b.key)
    .map(({ value }) => value);
}

/** As loaders do it: a draw from a buffer that is filled up with the next record. */
function bufferShuffled(size: number): number[] {
  const draw = seedrandom('buffer');
  const buffer = NUMBERS.slice(0, size);
  return NUMBERS.map((i) => {
    const at = Math.floor(draw() * buffer.length);
    const taken = buffer[at] ?? 0;
    if (i + size < COUNT) buffer[at] = i + size;
    else buffer.splice(at, 1);
    return taken;
  });
}

describe('the checks', () => {
  it('find nothing odd in a shuffle', () => {
    for (const seed of ['1', '2', '3']) expect(oddChecks(shuffled(NUMBERS, seed))).toEqual([]);
  });

  it.each([
    ['the old order', NUMBERS, 'Neighbours kept'],
    ['the old order backwards', NUMBERS.toReversed(), 'Places'],
    ['a buffer of a tenth', bufferShuffled(COUNT / 10), 'Places'],
    [
      'shuffled halves',
      [0, 1].flatMap((h) => shuffled(NUMBERS.slice((h * COUNT) / 2, ((h + 1) * COUNT) / 2), 'h')),
      'Even spread',
    ],
    [
      'dealt like cards',
      [0, 1, 2, 3].flatMap((player) => NUMBERS.filter((i) => i % 4 === player)),
      'Serial correlation',
    ],
    [
      'shuffled blocks of 20',
      shuffled(NUMBERS.slice(0, COUNT / 20), 'b').flatMap((b) => NUMBERS.slice(b * 20, b * 20 + 20)),
      'Neighbours kept',
    ],
  ])('find %s', (_, order, check) => {
    expect(oddChecks(order)).toContain(check);
  });

  it('expect a neighbour among all ordered records, also those that are not written', () => {
    const sample = NUMBERS.map(
      (from, rank): SampledRecord => ({
        inputOrdinal: 0,
        position: from,
        fromPart: from / COUNT,
        rank,
        shard: 0,
        keepsNeighbour: false,
      }),
    );
    const checks = selfChecks(sample, { ordered: 4 * COUNT, written: COUNT }, undefined, false);
    expect(checks.find(({ name }) => name === 'Neighbours kept')?.expected.mean).toBeCloseTo(0.25);
  });

  it('find piles that differ too much or too little', () => {
    const oddPiles = (records: readonly number[]) => {
      const expected = binomial(10_000, 1 / records.length);
      return selfChecks([], NONE, { records, bytes: [], expected, notExpected: undefined }, false).map(
        ({ isAsExpected }) => isAsExpected,
      );
    };
    expect(oddPiles([988, 1012, 970, 1030, 1001, 999, 1040, 960, 985, 1015])).toEqual([true]);
    expect(oddPiles([1200, 800, 1000, 1000, 1000, 1000, 1000, 1000, 1000, 1000])).toEqual([false]);
    expect(oddPiles(new Array<number>(10).fill(1000))).toEqual([false]);
  });

  it('ask nothing of few records, or of places that follow from values', () => {
    expect(selfChecks([], NONE, undefined, false)).toEqual([]);
  });
});

describe('the ranges', () => {
  it('are those of the tables', () => {
    // Quantiles 0.0005 and 0.9995 of chi-square.
    expect(chiSquare(10).highest).toBeCloseTo(31.42, 0);
    expect(chiSquare(100).lowest).toBeCloseTo(59.9, 0);
    expect(chiSquare(100).highest).toBeCloseTo(153.2, 0);
    expect(poissonHighest(0.01)).toBe(1);
    expect(poissonHighest(1)).toBe(5);
    expect(poissonHighest(0)).toBe(0);
    expect(binomial(100, 0.5)).toMatchObject({ mean: 50, standardDeviation: 5 });
    expect(correlation([1, 2, 3], [2, 4, 6])).toBeCloseTo(1);
    expect(correlation([1, 2, 3], [1, 1, 1])).toBe(0);
  });
});
