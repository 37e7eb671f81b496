/**
 * The places of piles: stripes tile the piles in order, neighbours are on different disks, and no two data files share
 * a name.
 */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  dataFilePath,
  diskAt,
  diskOfPile,
  indexFilePath,
  type PileSetLayout,
  pileSetFiles,
  pilesOfStripe,
  stripeOfPile,
} from '#src/piles/pile-layout.js';

function layoutOf(pileCount: number, stripeCount: number, diskCount: number): PileSetLayout {
  const disks = Array.from({ length: diskCount }, (_, i) => ({ directory: `/disk${i}`, gate: i, rotates: false }));
  return { pileCount, stripeCount, disks, indexDirectory: '/job' };
}

describe('pilesOfStripe', () => {
  it('tiles the piles, and stripeOfPile is its inverse', () => {
    const piles = fc.integer({ min: 1, max: 5000 });
    fc.assert(
      fc.property(piles, fc.integer({ min: 1, max: 64 }), (pileCount, stripes) => {
        const layout = layoutOf(pileCount, Math.min(stripes, pileCount), 1);
        let next = 0;
        for (let stripe = 0; stripe < layout.stripeCount; stripe++) {
          const { first, end } = pilesOfStripe(layout, stripe);
          expect(first).toBe(next);
          expect(end).toBeGreaterThan(first);
          const stripes = Array.from({ length: end - first }, (_, i) => stripeOfPile(layout, first + i));
          expect(new Set(stripes)).toEqual(new Set([stripe]));
          next = end;
        }
        expect(next).toBe(pileCount);
      }),
    );
  });
});

describe('pileSetFiles', () => {
  it('names the index and one data file for each stripe and disk', () => {
    const layout = layoutOf(10, 3, 2);
    const files = pileSetFiles(layout, 'set-1');
    expect(new Set(files).size).toBe(1 + 3 * 2);
    expect(files).toContain(indexFilePath(layout, 'set-1'));
    expect(indexFilePath(layout, 'set-1')).toBe('/job/set-1.index');
    for (let pile = 0; pile < 10; pile++) {
      expect(files).toContain(dataFilePath(layout, 'set-1', stripeOfPile(layout, pile), diskOfPile(layout, pile)));
    }
  });

  it('uses the disks in turn, and none that is not there', () => {
    const layout = layoutOf(10, 3, 3);
    expect([0, 1, 2, 3, 4].map((pile) => diskOfPile(layout, pile))).toEqual([0, 1, 2, 0, 1]);
    expect(dataFilePath(layout, 'set-1', 2, 1)).toBe('/disk1/set-1.2.pile');
    expect(() => diskAt(layout, 3)).toThrow(RangeError);
  });
});
