/**
 * Piles whose records have two keys: they come in the order of both, whatever part of the records shares a key, and
 * however often a pile is scattered again.
 */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { JobControl, UNGATED } from '#src/floor/job-control.js';
import { zstdExpander } from '#src/formats/codecs/zstd-writer.js';
import { eachMergedPile, MergedPileReader } from '#src/piles/merged-pile.js';
import type { PileSetLayout } from '#src/piles/pile-layout.js';
import { PileSetWriter } from '#src/piles/pile-set-writer.js';
import { Arena } from '#workers/arena.js';
import { KernelHasher } from '#workers/kernel/kernel.js';
import { PileOrderer } from '#workers/piles/pile-orderer.js';
import { ScatterArena } from '#workers/piles/scatter-arena.js';
import { atScale } from '../../fixtures/scale.js';
import { useTestDirectory } from '../../fixtures/temp-directory.js';

interface TwoKeys {
  readonly key: bigint;
  readonly second: bigint;
}

const MOST = 2n ** 64n - 1n;
const PILES = 3;
const directory = useTestDirectory();
let sets = 0;

/** Scatters the records, and orders the piles in an arena of so many bytes. */
async function orderInPiles(records: readonly TwoKeys[], arenaBytes: number, tiesByBytes = false) {
  const control = JobControl.create([], 0);
  const arena = new Arena(control);
  arena.allow(arenaBytes);
  const hasher = new KernelHasher(arena, 'segments');
  const disks = [{ directory: directory.path('.'), gate: UNGATED, rotates: false }];
  const indexDirectory = directory.path('.');
  const layout: PileSetLayout = { pileCount: PILES, stripeCount: 1, disks, indexDirectory, hasSecondKeys: true };
  const sizes = { bufferBytes: 512, readBytes: 4096, outputBytes: 4096 };
  const parts = { hasher, compressor: undefined, control, ramPool: undefined, indexInFile: false };
  sets += 1;
  const writer = new PileSetWriter({ name: `set-${sets}`, layout, ...parts });
  const scatterArena = new ScatterArena(arena, writer, {
    pileCount: PILES,
    bufferBytes: sizes.bufferBytes,
    windowBytes: sizes.readBytes,
    keyScale: 1n,
    hasSecondKeys: true,
  });
  const { window } = scatterArena;
  for (const [i, record] of records.entries()) {
    const stored = storedOf(record, `${i} ${'x'.repeat(i % 20)}`);
    window.clear();
    arena.kernel.bytes.set(stored, window.filledEnd);
    const end = window.filledEnd + stored.byteLength;
    expect(arena.kernel.wasm.rescatterStored(window.filledEnd, end) >>> 0).toBe(end);
  }
  const { pileSet, totals } = scatterArena.commit(null);
  const order = new PileOrderer({
    ...parts,
    arena,
    reader: new MergedPileReader(undefined, hasher, zstdExpander, control),
    job: { layout, ...sizes, tiesByBytes, rescatterTo: layout, keyScale: undefined, content: undefined },
    longestRecordBytes: 64,
    pileSets: [pileSet],
    attemptName: 'attempt',
    waitForWrites: async () => {},
  });
  const ordered: number[] = [];
  for (const { order: orderPile } of order.piles(0, PILES)) {
    await orderPile(async (count) => {
      for (let i = 0; i < count; i++) ordered.push(Number.parseInt(Buffer.from(order.recordAt(i)).toString(), 10));
    });
  }
  const perPile = [...eachMergedPile([pileSet], 0, PILES)].map(({ records: count }) => count);
  expect(perPile).toEqual([...totals.records]);
  return { ordered, rescatteredBytes: control.counted('rescatteredBytes') };
}

function storedOf({ key, second }: TwoKeys, text: string): Buffer {
  const header = Buffer.alloc(20);
  header.writeBigUInt64LE(key, 0);
  header.writeUInt32LE(text.length, 8);
  header.writeBigUInt64LE(second, 12);
  return Buffer.concat([header, Buffer.from(text)]);
}

/** The numbers of the records by both keys; equal pairs as they came. */
function expectedOrder(records: readonly TwoKeys[]): number[] {
  const compare = (a: bigint, b: bigint) => (a < b ? -1 : a > b ? 1 : 0);
  return [...records.entries()]
    .sort(([i, a], [j, b]) => compare(a.key, b.key) || compare(a.second, b.second) || i - j)
    .map(([i]) => i);
}

/** Numbers that look random. */
function spread(i: number, salt: bigint): bigint {
  return ((BigInt(i + 1) * 0x9e3779b97f4a7c15n) ^ (BigInt(i) * salt * 0xd1b54a32d192ed03n)) & MOST;
}

const ROOMY = 2 ** 22;
const TIGHT = 108_000;
const RECORDS = 4000;

const CASES: readonly (readonly [string, (i: number) => TwoKeys])[] = [
  [
    'few keys have most records',
    (i) => ({ key: i % 9 === 0 ? spread(i, 3n) : spread(i % 4, 5n), second: spread(i, 7n) }),
  ],
  ['one key has all records', (i) => ({ key: 2n ** 62n + 5n, second: spread(i, 3n) })],
  ['all keys differ', (i) => ({ key: spread(i, 3n) / 4n, second: spread(i, 7n) })],
  ['two keys are neighbours', (i) => ({ key: 2n ** 63n + BigInt(i % 2), second: spread(i, 3n) })],
  ['second keys are close together', (i) => ({ key: MOST, second: MOST - spread(i, 5n) / 2n ** 50n })],
];

describe('piles with second keys', () => {
  it('order any few records by both keys', async () => {
    const key = fc.oneof(fc.constantFrom(0n, 1n, 2n ** 63n, MOST), fc.bigInt({ min: 0n, max: MOST }));
    const pair = fc.record({ key, second: key });
    await fc.assert(
      fc.asyncProperty(fc.array(pair, { maxLength: 40 }), async (records) => {
        expect((await orderInPiles(records, ROOMY)).ordered).toEqual(expectedOrder(records));
      }),
      { numRuns: atScale(10, 100, 200) },
    );
  });

  it.each(CASES.slice(0, atScale(2, 5)))(
    'order many records where %s, in memory and scattered again',
    async (_, pairOf) => {
      const records = Array.from({ length: RECORDS }, (__, i) => pairOf(i));
      const expected = expectedOrder(records);
      const inMemory = await orderInPiles(records, ROOMY);
      expect(inMemory).toEqual({ ordered: expected, rescatteredBytes: 0 });
      const again = await orderInPiles(records, TIGHT);
      expect(again.ordered).toEqual(expected);
      expect(again.rescatteredBytes).toBeGreaterThan(0);
    },
  );

  it('refuse more records of one pair than memory holds', async () => {
    const records = Array.from({ length: RECORDS }, () => ({ key: 7n, second: 9n }));
    await expect(orderInPiles(records, TIGHT)).rejects.toMatchObject({ code: 'ERR_RECORDS_COLLIDE' });
  });
});
