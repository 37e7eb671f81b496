/** What counted windows say: the truth lies within the limits, and more or more equal windows narrow them. */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { divideStrata, estimateRecords, type Stratum } from '#src/plan/sampled-records.js';

const stratum = (bytes: number, ...densities: number[]): Stratum => ({ bytes, densities, doubt: 1 });
const widthOf = (strata: readonly Stratum[], seenBytes = 1000) => {
  const { least, expected, most } = estimateRecords(strata, seenBytes, 0);
  return (most - least) / expected;
};

describe('the number of records', () => {
  it('is that of the strata', () => {
    expect(estimateRecords([stratum(1000, 0.1, 0.1), stratum(3000, 0.02, 0.04)], 100, 0).expected).toBe(190);
  });

  it('is exact if all was seen, hardly in doubt if all windows agree, and more in doubt if they do not', () => {
    expect(estimateRecords([stratum(1000, 0.1), stratum(10, 0.5)], 1010, 0)).toEqual({
      least: 105,
      expected: 105,
      most: 105,
    });
    const same = Array.from({ length: 32 }, () => stratum(1e6, 0.1, 0.1));
    const different = Array.from({ length: 32 }, () => stratum(1e6, 0.02, 0.18));
    expect(widthOf(same, 1e6)).toBeLessThan(0.01);
    expect(widthOf(different, 1e6)).toBeGreaterThan(0.3);
    expect(widthOf(different.slice(0, 8), 1e6)).toBeGreaterThan(widthOf(different, 1e6));
  });

  it('is at least the number of inputs, and may be more than none where no window has an end', () => {
    const { least, expected, most } = estimateRecords([stratum(1e6, 0, 0)], 1e5, 2);
    expect([least, expected]).toEqual([2, 2]);
    expect(most).toBeGreaterThan(20);
  });

  it('is in doubt where only a part can be seen', () => {
    const { least, expected, most } = estimateRecords([{ bytes: 1000, densities: [0.1], doubt: 2 }], 1000, 0);
    expect([least, expected, most]).toEqual([50, 100, 200]);
  });

  it('lies between its limits, of which no one is beyond a record for a byte', () => {
    const density = fc.nat(1000).map((number) => number / 1000);
    const any = fc.tuple(fc.nat(1e6), fc.array(density, { minLength: 1, maxLength: 4 }), fc.constantFrom(1, 2, 200));
    fc.assert(
      fc.property(fc.array(any), (drawn) => {
        const strata = drawn.map(([bytes, densities, doubt]) => ({ bytes: bytes + 1, densities, doubt }));
        const { least, expected, most } = estimateRecords(strata, 1000, 0);
        const bytes = strata.reduce((sum, each) => sum + each.bytes, 0);
        expect(0 <= least && least <= expected && expected <= most && most <= bytes * (1 + 1e-9)).toBe(true);
      }),
    );
  });
});

it('strata become more where windows differ, and beside strata that differ', () => {
  expect(divideStrata([stratum(10, 0.1, 0.1), stratum(10, 0.1, 0.1), stratum(10, 0.1, 0.1)], 8)).toEqual([1, 1, 1]);
  const [first = 0, second = 0, third = 0, last = 0] = divideStrata(
    [stratum(10, 0.9, 0.9), stratum(10, 0.1, 0.3), stratum(10, 0.2, 0.2), stratum(10, 0.2, 0.2)],
    8,
  );
  expect(first).toBeGreaterThan(third);
  expect(second).toBeGreaterThan(third);
  expect([third, last]).toEqual([1, 1]);
});
