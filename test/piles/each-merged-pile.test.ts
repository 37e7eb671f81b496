/** Merged piles one by one: the same piles, and never many piles with many segments in memory at one time. */
import { describe, expect, it } from 'vitest';
import { eachMergedPile, mergePiles } from '#src/piles/merged-pile.js';
import { encodePileSetIndex } from '#src/piles/pile-set-index.js';
import type { StoredPileSet } from '#src/piles/pile-set-writer.js';
import { pileTotalsOf } from '#src/piles/pile-totals.js';
import { SegmentLog } from '#src/piles/segments.js';

const SEGMENT_BYTES = 100;

/** A pile set in memory with the given number of segments in each pile; `readings` counts the reads of its index. */
function pileSetOf(segmentCounts: readonly number[]): { pileSet: StoredPileSet; readings: () => number } {
  const log = new SegmentLog();
  for (const [pile, count] of segmentCounts.entries()) {
    for (let i = 0; i < count; i++) {
      log.add(pile, { place: log.count * SEGMENT_BYTES, byteLength: SEGMENT_BYTES, diskBytes: 0, checksum: BigInt(i) });
    }
  }
  const tallies = segmentCounts.map((records) => ({ records, bytes: 0, checksum: 0n }));
  const description = { name: 'set-1', stripeCount: 1, diskCount: 1, dataFiles: [], report: null };
  const bytes = encodePileSetIndex(pileTotalsOf(tallies), log, description);
  let readings = 0;
  const index = {
    get bytes() {
      readings += 1;
      return bytes;
    },
  };
  return { pileSet: { name: 'set-1', index }, readings: () => readings };
}

describe('eachMergedPile', () => {
  it('gives the piles that mergePiles gives', () => {
    const { pileSet } = pileSetOf([3, 0, 1, 7, 2, 2]);
    expect([...eachMergedPile([pileSet], 1, 5)]).toEqual(mergePiles([pileSet], 1, 5));
    expect([...eachMergedPile([], 0, 3)]).toEqual(mergePiles([], 0, 3));
    expect([...eachMergedPile([pileSet], 2, 2)]).toEqual([]);
  });

  it('reads the index twice for piles of few segments, and once a pile for those of many', () => {
    const few = pileSetOf(Array(200).fill(5));
    expect([...eachMergedPile([few.pileSet], 0, 200)]).toHaveLength(200);
    expect(few.readings()).toBe(2);
    const many = pileSetOf(Array(4).fill(20_000));
    const piles = eachMergedPile([many.pileSet], 0, 4);
    for (let pile = 0; pile < 4; pile++) {
      expect(piles.next().value).toMatchObject({ pile, records: 20_000 });
      expect(many.readings()).toBe(pile + 1);
    }
  });

  it('takes more at a time when piles have fewer segments', () => {
    const { pileSet, readings } = pileSetOf([20_000, 20_000, ...Array(50).fill(2000)]);
    expect([...eachMergedPile([pileSet], 0, 52)]).toHaveLength(52);
    expect(readings()).toBe(3 + Math.ceil(49 / 16));
  });
});
