/** The curves of a plot: what they are of orders that are known. */
import { describe, expect, it } from 'vitest';
import { distanceParts, randomDistanceParts, similarityByDistance } from '#src/plan/order-curves.js';
import { describeRecord, inColumns } from '#workers/tasks/sample-records.js';

/** Ten words of which the first are those of the kind. */
function recordOf(kind: number, own: number) {
  const words = [...Array.from({ length: 5 }, (_, i) => `kind${kind}-${i}`), `own${own}`];
  const bytes = Buffer.from(`${words.join(' ')}\n`);
  return describeRecord(bytes, bytes.byteLength, undefined, undefined);
}

describe('similarityByDistance', () => {
  it('falls where the kinds change, and tells distances in records of all data', () => {
    // Four windows of one kind, then four of another.
    const sample = inColumns(Array.from({ length: 512 }, (_, i) => recordOf(Math.floor(i / 256), i)));
    const curve = similarityByDistance(sample, 512, 80_000);
    expect(curve.map(({ records }) => records)).toEqual([1, 2, 4, 8, 16, 32, 10_000, 20_000, 40_000]);
    const [neighbours, , , , , , next, second, far] = curve.map(({ mean }) => mean);
    // "kind" and its number are words too: 7 of the 10 words of two records are in both.
    expect(neighbours).toBeGreaterThan(0.4);
    expect(curve.slice(0, 6).every(({ mean }) => mean === neighbours)).toBe(true);
    expect(next).toBeLessThan(neighbours ?? 0);
    expect(second).toBeLessThan(next ?? 0);
    expect(far).toBeLessThan(second ?? 0);
    expect(curve[0]?.error).toBeCloseTo(0);
    expect(curve[6]?.error).toBeGreaterThan(0);
  });
});

describe('the parts of distances', () => {
  it('are those of a random order', () => {
    const random = randomDistanceParts(20);
    expect(random.reduce((sum, part) => sum + part, 0)).toBeCloseTo(1);
    const length = 1000;
    // Every pair of places, as often as a random order has it.
    const distances = Float64Array.from({ length: length ** 2 }, (_, i) => {
      return Math.abs((i % length) - Math.floor(i / length)) / length;
    });
    for (const [i, part] of distanceParts(distances).entries()) expect(part).toBeCloseTo(random[i] ?? 0, 2);
  });

  it('hold distances of all of the data', () => {
    expect(distanceParts(Float64Array.of(0, 0.049, 1))).toEqual([2 / 3, ...Array(18).fill(0), 1 / 3]);
  });
});
