/**
 * Writing pile sets and reading merged piles: every byte of a pile comes back, in split order and in
 * the order in which its segments were written, from memory, from disk and from both.
 */
import { readdirSync, rmSync, truncateSync } from 'node:fs';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { VerificationError } from '#src/errors.js';
import { JobControl, UNGATED } from '#src/io/job-control.js';
import { type MergedPile, MergedPileReader, mergePiles } from '#src/pile-store/merged-pile.js';
import { type PileSet, PileSetWriter } from '#src/pile-store/pile-set-writer.js';
import { reserveSlabs } from '#src/pile-store/pool-memory.js';
import { createRamPool, RamPool } from '#src/pile-store/ram-pool.js';
import { dataFilePath, pileSetFiles, type StoreLayout } from '#src/pile-store/store-layout.js';
import { useTestDirectory } from '../fixtures/temp-directory.js';

type Append = readonly [pile: number, byteLength: number];

const control = JobControl.create([1], 0);
const PILES = 5;

function bytesOf(set: number, i: number, byteLength: number): Buffer {
  return Buffer.alloc(byteLength, `${set}.${i};`);
}

/** Writes one pile set for each list; the tallies count segments as records. */
function writeSets(lists: readonly (readonly Append[])[], layout: StoreLayout, pool: RamPool | undefined): PileSet[] {
  return lists.map((appends, set) => {
    const writer = new PileSetWriter(`set-${set}`, layout, pool, control);
    const tallies = Array.from({ length: PILES }, () => ({ records: 0, recordBytes: 0, checksum: 2n ** 63n }));
    for (const [i, [pile, byteLength]] of appends.entries()) {
      const bytes = Buffer.concat([Buffer.alloc(2, 0xee), bytesOf(set, i, byteLength)]);
      writer.append(pile, bytes, 2, byteLength);
      bytes.fill(0xee);
      const tally = tallies[pile];
      if (tally !== undefined) tally.records += 1;
    }
    return writer.commit(tallies);
  });
}

function expectedBytes(lists: readonly (readonly Append[])[], pile: number): Buffer {
  return Buffer.concat(
    lists.flatMap((appends, set) =>
      appends.flatMap(([of, byteLength], i) => (of === pile ? [bytesOf(set, i, byteLength)] : [])),
    ),
  );
}

/** Reads a pile, at most `most` bytes at a time. */
async function readAll(
  reader: MergedPileReader,
  merged: MergedPile,
  layout: StoreLayout,
  most: number,
): Promise<Buffer> {
  const target = Buffer.alloc(merged.storedBytes);
  let filled = 0;
  await reader.read(
    merged,
    layout,
    (byteLength) => ({ target, offset: filled, byteLength: Math.min(most, byteLength) }),
    (byteLength) => {
      filled += byteLength;
    },
  );
  expect(filled).toBe(merged.storedBytes);
  return target;
}

const plenty = JobControl.create([], 2 ** 40);

describe('mergePiles and MergedPileReader', () => {
  const directory = useTestDirectory();
  const layoutOf = (disks: number): StoreLayout => ({
    pileCount: PILES,
    stripeCount: 2,
    tempPlaces: Array.from({ length: disks }, (_, i) => ({
      directory: directory.temp,
      gate: i === 0 ? 0 : UNGATED,
      rotates: false,
    })),
  });

  it('bring back every byte, in split order, from memory, disk, or both', async () => {
    const append = fc.tuple(fc.nat({ max: PILES - 1 }), fc.integer({ min: 1, max: 400_000 }));
    const lists = fc.array(fc.array(append, { maxLength: 8 }), { maxLength: 4 });
    const most = fc.integer({ min: 1, max: 300_000 });
    await fc.assert(
      fc.asyncProperty(lists, fc.constantFrom(0, 1, 3), most, async (sets, poolMib, atOnce) => {
        const pool = poolMib === 0 ? undefined : new RamPool(createRamPool(poolMib * 2 ** 20, reserveSlabs), plenty);
        const layout = layoutOf(1);
        const pileSets = writeSets(sets, layout, pool);
        const reader = new MergedPileReader(pool, control);
        for (const merged of mergePiles(pileSets, 0, PILES)) {
          const expected = expectedBytes(sets, merged.pile);
          expect((await readAll(reader, merged, layout, atOnce)).equals(expected)).toBe(true);
          expect(merged.records).toBe(sets.flat().filter(([pile]) => pile === merged.pile).length);
        }
        for (const { name } of pileSets) for (const path of pileSetFiles(layout, name)) rmSync(path, { force: true });
        expect(readdirSync(directory.temp)).toEqual([]);
      }),
      { numRuns: 40 },
    );
  });

  it('make no file for a pile set that stays in memory', () => {
    const pool = new RamPool(createRamPool(2 ** 20, reserveSlabs), plenty);
    const [pileSet] = writeSets([[[1, 10]]], layoutOf(1), pool);
    expect(pileSet?.diskBytes).toBe(0);
    expect(readdirSync(directory.temp)).toEqual([]);
  });

  it('refuse a data file that is shorter than its index says', async () => {
    const layout = layoutOf(1);
    const pileSets = writeSets([[[4, 100]]], layout, undefined);
    const path = dataFilePath(layout, 'set-0', 1, 0);
    truncateSync(path, 60);
    const [merged] = mergePiles(pileSets, 4, 5);
    expect(merged?.storedBytes).toBe(100);
    const reader = new MergedPileReader(undefined, control);
    await expect(merged && readAll(reader, merged, layout, 100)).rejects.toThrow(
      new VerificationError(`${path} ends at byte 60, expected 100`),
    );
    for (const file of pileSetFiles(layout, 'set-0')) rmSync(file, { force: true });
  });
});
