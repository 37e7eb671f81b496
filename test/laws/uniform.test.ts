/**
 * Every order is equally likely: all 120 orders of five records, by the reference order of the laws; the places of 1,000
 * records; and neighbours in the input are neighbours in the output only as often as by chance. The law tests show that
 * jobs give the reference order to the byte, so its seeds stand for theirs. uniform-modes.test.ts tries whole jobs, and
 * chi-square.ts explains the bounds.
 */
import { describe, expect, it } from 'vitest';
import { atScale } from '../fixtures/scale.js';
import { expectUniform } from './chi-square.js';
import { FIVE_RECORDS, numberOfOrder, ORDERS_OF_FIVE } from './order-of-five.js';
import { referenceOrder, uniqueOrder, uniqueOrderBy } from './reference-order.js';

describe('all orders of five records that the laws expect', () => {
  const seeds = atScale(6_000, 30_000, 120_000);
  const letters = FIVE_RECORDS.match(/.\n/g) ?? [];
  const records = letters.map((letter) => Buffer.from(letter));
  const letterOf = (record: Buffer) => Buffer.from(`"${record.toString().slice(0, 1)}`);

  it.each<[string, (seed: string) => readonly Buffer[]]>([
    ['random keys', (seed) => referenceOrder([Buffer.from(FIVE_RECORDS)], seed)],
    ['the records', (seed) => uniqueOrder(records, seed)],
    ['values of the records', (seed) => uniqueOrderBy(records, seed, letterOf)],
  ])(`are equally likely over ${seeds} seeds where keys come from %s`, (_, orderOf) => {
    const counts = new Float64Array(ORDERS_OF_FIVE);
    for (let seed = 0; seed < seeds; seed++) {
      const order = numberOfOrder(Buffer.concat(orderOf(String(seed))).toString('latin1'));
      counts[order] = (counts[order] ?? 0) + 1;
    }
    expectUniform(counts, 119, `${seeds} seeds`);
  });
});

describe('a thousand records', () => {
  const RECORDS = 1000;
  const SEEDS = atScale(60, 120, 400);
  const CELL = 50;
  const input = Buffer.from(Array.from({ length: RECORDS }, (_, i) => `${i}\n`).join(''));

  /** Output places of the records, for each seed. */
  function placesOfRecords(seed: number): Int32Array {
    const place = new Int32Array(RECORDS);
    for (const [at, line] of referenceOrder([input], `thousand ${seed}`).entries()) place[Number(line.toString())] = at;
    return place;
  }

  it('go from every part of the input to every part of the output, and leave their neighbours', () => {
    const places = Array.from({ length: SEEDS }, (_, seed) => placesOfRecords(seed));

    const cells = new Float64Array((RECORDS / CELL) ** 2);
    let followed = 0;
    let adjacent = 0;
    for (const place of places) {
      for (const [record, at] of place.entries()) {
        const cell = Math.floor(record / CELL) * (RECORDS / CELL) + Math.floor(at / CELL);
        cells[cell] = (cells[cell] ?? 0) + 1;
        const step = (place[record + 1] ?? Number.NaN) - at;
        if (step === 1) followed += 1;
        if (Math.abs(step) === 1) adjacent += 1;
      }
    }
    // Rows and columns have fixed sums: (20 - 1)^2 degrees of freedom.
    expectUniform(cells, 361, 'input part against output part');

    // A permutation has about one record followed by its successor, and two beside it; as good as
    // Poisson distributed, so over all seeds the deviation is the square root.
    for (const [count, perSeed] of [
      [followed, (RECORDS - 1) / RECORDS],
      [adjacent, (2 * (RECORDS - 1)) / RECORDS],
    ] as const) {
      const expected = perSeed * SEEDS;
      expect(Math.abs(count - expected)).toBeLessThan(5.5 * Math.sqrt(2 * expected));
    }
  });
});
