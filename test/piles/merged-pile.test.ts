/**
 * Writing pile sets and reading merged piles: every byte of a pile comes back, in slice order and in the order in
 * which its segments were written, from memory, from disk and from both; and every changed byte is noticed.
 */
import { createHash } from 'node:crypto';
import { readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { JobControl, UNGATED } from '#src/floor/job-control.js';
import { type MergedPile, MergedPileReader, mergePiles } from '#src/piles/merged-pile.js';
import { dataFilePath, indexFilePath, type PileSetLayout, pileSetFiles } from '#src/piles/pile-layout.js';
import { readPileSetDescription, readPileTotals } from '#src/piles/pile-set-index.js';
import { type PileSet, PileSetWriter } from '#src/piles/pile-set-writer.js';
import { pileTotalsOf } from '#src/piles/pile-totals.js';
import { ownRamPool, RamPool } from '#src/piles/ram-pool.js';
import type { SegmentCompressor } from '#src/piles/segments.js';
import { atScale, sampled } from '../fixtures/scale.js';
import { useTestDirectory } from '../fixtures/temp-directory.js';
import { deflateCompressor } from './deflate-compressor.js';
import { DigestHasher } from './digest-hasher.js';

type Append = readonly [pile: number, byteLength: number];

const control = JobControl.create([1], 0);
const hasher = new DigestHasher();
const PILES = 5;

function bytesOf(set: number, i: number, byteLength: number): Buffer {
  return Buffer.alloc(byteLength, `${set}.${i};`);
}

function talliesOf(appends: readonly Append[]) {
  return Array.from({ length: PILES }, (_, pile) => ({
    records: appends.filter(([of]) => of === pile).length,
    bytes: 0,
    checksum: 2n ** 63n,
  }));
}

/** Writes one pile set for each list; the tallies count segments as records. */
function writeSets(
  lists: readonly (readonly Append[])[],
  layout: PileSetLayout,
  ramPool: RamPool | undefined,
  { indexInFile = false, compressor }: { indexInFile?: boolean; compressor?: SegmentCompressor | undefined } = {},
): PileSet[] {
  return lists.map((appends, set) => {
    const parts = { name: `set-${set}`, layout, ramPool, indexInFile };
    const writer = new PileSetWriter({ ...parts, hasher, compressor, control });
    for (const [i, [pile, byteLength]] of appends.entries()) {
      const bytes = Buffer.concat([Buffer.alloc(2, 0xee), bytesOf(set, i, byteLength)]);
      writer.append(pile, bytes, 2, byteLength);
      bytes.fill(0xee);
    }
    return writer.commit(pileTotalsOf(talliesOf(appends)), { ofSet: set });
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
  layout: PileSetLayout,
  most: number,
): Promise<Buffer> {
  const target = Buffer.alloc(merged.storedBytes);
  let filled = 0;
  await reader.read(merged, layout, {
    place: (byteLength) => ({ target, offset: filled, byteLength: Math.min(most, byteLength) }),
    receive: (byteLength) => {
      filled += byteLength;
    },
  });
  expect(filled).toBe(merged.storedBytes);
  return target;
}

const plenty = JobControl.create([], 2 ** 40);

describe('mergePiles and MergedPileReader', () => {
  const directory = useTestDirectory();
  const layoutOf = (disks: number): PileSetLayout => ({
    pileCount: PILES,
    stripeCount: 2,
    disks: Array.from({ length: disks }, (_, i) => ({
      directory: directory.path(),
      gate: i === 0 ? 0 : UNGATED,
      rotates: false,
    })),
    indexDirectory: directory.path(),
  });

  it('bring back every byte, in slice order, from memory, disk, or both, compressed or not', async () => {
    const append = fc.tuple(fc.nat({ max: PILES - 1 }), fc.integer({ min: 1, max: 400_000 }));
    const lists = fc.array(fc.array(append, { maxLength: 8 }), { maxLength: 4 });
    const most = fc.integer({ min: 1, max: 300_000 });
    const anyCompressor = fc.constantFrom(undefined, deflateCompressor);
    await fc.assert(
      fc.asyncProperty(
        lists,
        fc.constantFrom(0, 1, 3),
        most,
        anyCompressor,
        async (sets, poolMib, atOnce, compressor) => {
          const pool = poolMib === 0 ? undefined : await RamPool.open(ownRamPool(poolMib * 2 ** 20), plenty);
          const layout = layoutOf(1);
          const pileSets = writeSets(sets, layout, pool, { compressor });
          const reader = new MergedPileReader(pool, hasher, deflateCompressor, control);
          for (const merged of mergePiles(pileSets, 0, PILES)) {
            const expected = expectedBytes(sets, merged.pile);
            expect((await readAll(reader, merged, layout, atOnce)).equals(expected)).toBe(true);
            expect(merged.records).toBe(sets.flat().filter(([pile]) => pile === merged.pile).length);
          }
          for (const { name } of pileSets) for (const path of pileSetFiles(layout, name)) rmSync(path, { force: true });
          expect(readdirSync(directory.path())).toEqual(['temp']);
        },
      ),
      { numRuns: atScale(2, 20, 40) },
    );
  });

  it('tell the data files of a pile set, and its index keeps them', () => {
    const layout = layoutOf(2);
    const appends: Append[] = [
      [0, 100],
      [4, 7],
      [2, 11],
    ];
    const [pileSet] = writeSets([appends], layout, undefined);
    const dataFiles = [
      { stripe: 0, disk: 0, byteLength: 111 },
      { stripe: 1, disk: 0, byteLength: 7 },
    ];
    expect(pileSet).toMatchObject({ diskBytes: 118, dataFiles });
    const index = { path: indexFilePath(layout, 'set-0') };
    const report = { ofSet: 0 };
    expect(readPileSetDescription(index)).toEqual({ name: 'set-0', stripeCount: 2, diskCount: 2, dataFiles, report });
    expect([...readPileTotals(index).records]).toEqual([1, 0, 1, 0, 1]);
  });

  describe('of compressed segments', () => {
    const compressible = Buffer.alloc(10_000, 'what repeats itself becomes shorter; ');
    const random = createHash('shake256', { outputLength: 500 }).digest();

    function write(...pieces: readonly Buffer[]): readonly [PileSet, MergedPile] {
      const writer = new PileSetWriter({
        name: 'set',
        layout: layoutOf(1),
        ramPool: undefined,
        indexInFile: false,
        hasher,
        compressor: deflateCompressor,
        control,
      });
      for (const bytes of pieces) writer.append(4, bytes, 0, bytes.byteLength);
      const pileSet = writer.commit(pileTotalsOf(talliesOf([])), null);
      const [merged] = mergePiles([pileSet], 4, 5);
      return [pileSet, merged ?? expect.fail('there is no pile 4')];
    }

    const read = (merged: MergedPile, most: number) =>
      readAll(new MergedPileReader(undefined, hasher, deflateCompressor, control), merged, layoutOf(1), most);

    it('tell what they take on disk, and leave as it is what would not become shorter', async () => {
      const [pileSet, merged] = write(compressible, random, compressible);
      const segments = merged.parts.flatMap((part) => part.segments);
      expect(segments.map(({ byteLength }) => byteLength)).toEqual([10_000, 500, 10_000]);
      const [first = 0, second, third] = segments.map(({ diskBytes }) => diskBytes);
      expect(first).toBeLessThan(300);
      expect([second, third]).toEqual([500, first]);
      expect(pileSet.diskBytes).toBe(2 * first + 500);
      expect(readFileSync(dataFilePath(layoutOf(1), 'set', 1, 0)).byteLength).toBe(pileSet.diskBytes);
      expect(merged.storedBytes).toBe(20_500);
      for (const most of [1, 499, 9_999, 10_000]) {
        expect((await read(merged, most)).equals(Buffer.concat([compressible, random, compressible]))).toBe(true);
      }
    });

    it.each(sampled([1, 3_000, 10_000], 3, 1))(
      'see every changed byte that changes something, read %d at a time',
      async (most) => {
        const [{ diskBytes }, merged] = write(compressible, compressible);
        const path = dataFilePath(layoutOf(1), 'set', 1, 0);
        const good = readFileSync(path);
        let harmless = 0;
        for (let at = 0; at < good.byteLength; at++) {
          const bytes = Buffer.from(good);
          bytes[at] = (bytes[at] ?? 0) ^ (1 << (at % 8));
          writeFileSync(path, bytes);
          const outcome = await read(merged, most).catch((error: unknown) => error);
          if (outcome instanceof Buffer) {
            expect(outcome.equals(Buffer.concat([compressible, compressible]))).toBe(true);
            harmless += 1;
            continue;
          }
          const segment = `${diskBytes / 2} bytes at byte ${at < diskBytes / 2 ? 0 : diskBytes / 2}`;
          expect(outcome).toMatchObject({
            code: 'ERR_VERIFICATION',
            message: `verification failed: ${segment} of ${path} (pile 4) are not what was written there; check the disk; if the job can be resumed, give \`resume\``,
            pileSetName: 'set',
          });
        }
        // The bits that fill the last byte of each.
        expect(harmless).toBeLessThan(3);
      },
    );
  });

  describe('see damage:', () => {
    const appends: Append[] = [
      [4, 100],
      [1, 40],
      [4, 33],
    ];
    const reader = new MergedPileReader(undefined, hasher, deflateCompressor, control);

    async function read(
      pileSets: readonly PileSet[],
      layout: PileSetLayout,
      pile: number,
      most = 100,
    ): Promise<Buffer> {
      const [merged] = mergePiles(pileSets, pile, pile + 1);
      if (merged === undefined) throw new Error(`there is no pile ${pile}`);
      return readAll(reader, merged, layout, most);
    }

    it.each(sampled([1, 10, 100], 3, 1))('every changed byte of a data file, read %d at a time', async (most) => {
      const layout = layoutOf(1);
      const pileSets = writeSets([appends], layout, undefined);
      const path = dataFilePath(layout, 'set-0', 1, 0);
      const good = readFileSync(path);
      expect(good.byteLength).toBe(133);
      for (let at = 0; at < good.byteLength; at++) {
        const bytes = Buffer.from(good);
        bytes[at] = (bytes[at] ?? 0) ^ (1 << (at % 8));
        writeFileSync(path, bytes);
        const segment = at < 100 ? '100 bytes at byte 0' : '33 bytes at byte 100';
        await expect(read(pileSets, layout, 4, most)).rejects.toThrow(
          expect.objectContaining({
            message: `verification failed: ${segment} of ${path} (pile 4) are not what was written there; check the disk; if the job can be resumed, give \`resume\``,
            pileSetName: 'set-0',
          }),
        );
        expect((await read(pileSets, layout, 1, most)).equals(expectedBytes([appends], 1))).toBe(true);
      }
    });

    it('every changed byte of the memory pool', async () => {
      const handle = ownRamPool(2 ** 20);
      const pool = await RamPool.open(handle, plenty);
      const layout = layoutOf(1);
      const [merged] = mergePiles(writeSets([appends], layout, pool), 4, 5);
      if (merged === undefined) throw new Error('there is no pile 4');
      const memory = handle.memory.kind === 'own' ? handle.memory.slabs[0] : undefined;
      if (memory === undefined) throw new Error('expected a slab of this thread');
      const ramReader = new MergedPileReader(pool, hasher, deflateCompressor, control);
      // The segments of pile 4 lie at [0, 100) and [140, 173).
      for (let at = 0; at < 173; at++) {
        memory[at] = (memory[at] ?? 0) ^ (1 << (at % 8));
        const bytes = readAll(ramReader, merged, layout, 1000);
        if (at >= 100 && at < 140) expect((await bytes).equals(expectedBytes([appends], 4))).toBe(true);
        else {
          await expect(bytes).rejects.toThrow(
            /bytes at byte \d+ of the memory pool \(pile 4\) are not what was written there; check the memory/,
          );
        }
        memory[at] = (memory[at] ?? 0) ^ (1 << (at % 8));
      }
      expect((await readAll(ramReader, merged, layout, 1000)).equals(expectedBytes([appends], 4))).toBe(true);
    });
  });
});
