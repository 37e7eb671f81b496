/** What counted samples say: the truth lies within the limits, and more or more equal samples narrow them. */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { recordsPerByte } from '#src/plan/sampled-records.js';

const piece = (bytes: number, records: number) => ({ bytes, records });
const widthOf = ({ least, expected, most }: ReturnType<typeof recordsPerByte>) => (most - least) / expected;

describe('records for a byte', () => {
  it('are those of the samples', () => {
    expect(recordsPerByte([piece(1000, 10), piece(3000, 10)]).expected).toBe(20 / 4000);
  });

  it('are hardly in doubt if all samples agree, and more in doubt if they do not', () => {
    const same = Array.from({ length: 32 }, () => piece(1000, 10));
    const different = Array.from({ length: 32 }, (_, i) => piece(1000, i % 2 === 0 ? 2 : 18));
    expect(widthOf(recordsPerByte(same))).toBeLessThan(0.01);
    expect(widthOf(recordsPerByte(different))).toBeGreaterThan(0.3);
    expect(widthOf(recordsPerByte(different.slice(0, 8)))).toBeGreaterThan(widthOf(recordsPerByte(different)));
  });

  it('are in doubt with few samples, and a guess without any', () => {
    expect(widthOf(recordsPerByte([piece(1000, 10)]))).toBeGreaterThan(1);
    expect(recordsPerByte([]).expected).toBeGreaterThan(0);
    expect(recordsPerByte([piece(0, 0)])).toEqual(recordsPerByte([]));
  });

  it('lie between their limits, all above 0', () => {
    const pieces = fc.array(fc.tuple(fc.nat(1e6), fc.nat(1e4)).map(([bytes, records]) => piece(bytes, records)));
    fc.assert(
      fc.property(pieces, (any) => {
        const { least, expected, most } = recordsPerByte(any);
        expect(0 < least && least <= expected && expected <= most && Number.isFinite(most)).toBe(true);
      }),
    );
  });
});
