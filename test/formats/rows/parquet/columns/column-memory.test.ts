/** Regions of any size, of which none shares a byte with another. */
import { describe, expect, it } from 'vitest';
import { ColumnMemory, MOST_REGION_BYTES, type Region } from '#src/formats/rows/parquet/columns/column-memory.js';
import { drawsFor } from '../../../../fixtures/draws.ts';

const open = (allowanceBytes: number) =>
  new ColumnMemory({ takeSpare: () => false, giveSpare: () => {} }, allowanceBytes);

const MIB = 2 ** 20;

describe('the memory of columns', () => {
  it('keeps regions apart, the largest ones, too, up to 4 GiB', () => {
    const draw = drawsFor('regions');
    const memory = open(2 ** 32);
    const regions: Region[] = [];
    for (let i = 0; i < 300; i++) {
      const byteLength = Math.floor(draw() < 0.3 ? draw() * MIB : (500 + 130 * draw()) * MIB);
      const region = memory.allocate(byteLength);
      if (region !== undefined) {
        const end = region.address + region.byteLength;
        expect(end).toBeLessThan(memory.bytes.byteLength);
        expect(
          regions.filter(({ address, byteLength: other }) => address < end && address + other > region.address),
        ).toEqual([]);
        regions.push(region);
      }
      if (region === undefined || draw() < 0.3)
        for (const old of regions.splice(Math.floor(draw() * regions.length), 1)) memory.release(old);
    }
    expect(Math.max(...regions.map(({ address }) => address))).toBeGreaterThan(2 ** 31);
  });

  it('has no region beyond the largest, and no more than it may take', () => {
    const memory = open(2 ** 32);
    expect(memory.allocate(MOST_REGION_BYTES + 1)).toBeUndefined();
    expect(memory.allocate(MOST_REGION_BYTES)).toMatchObject({ byteLength: MOST_REGION_BYTES });
    expect(open(1000).allocate(2000)).toBeUndefined();
  });
});
