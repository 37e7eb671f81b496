/**
 * Records that stay in memory: the kernel against a plain model. Two instances share one memory, each with its own part,
 * and work in turns: neither sees the bytes that the other one writes for itself.
 */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { ARENA_START, fixedMemory, Kernel } from '#workers/kernel/kernel.js';
import { encodeStored, pileOfKey, recordHash, recordKey } from './kernel-twin.js';

const MEMORY_BYTES = 4 * 2 ** 20;
const RECORDS_AT = 2 ** 20;
const BLOCKS_AT = 2 * 2 ** 20;
const TABLE_BYTES = 8 * (1024 + 4);
const DIRECTORY_BYTES = 32 * 64;

interface HeldRecord {
  readonly key: bigint;
  readonly text: string;
}

/** A thread that holds records: an instance of the kernel, and where its parts lie. */
class Holder {
  readonly kernel: Kernel;
  readonly #own: number;
  #nextRecord: number;
  #nextDirectory: number;

  constructor(memory: ConstructorParameters<typeof Kernel>[0], number: number) {
    this.kernel = new Kernel(memory);
    this.#own = ARENA_START + number * 2 ** 17;
    this.#nextRecord = RECORDS_AT + number * 2 ** 19;
    this.#nextDirectory = this.#own + 2 ** 16;
    this.kernel.wasm.useScratch(this.#own);
    const blocks = BLOCKS_AT + number * 2 ** 20;
    this.kernel.wasm.addBlocks(blocks, blocks + 2 ** 20);
  }

  /** Holds the records of a slice of its own, and returns its directory. */
  hold(texts: readonly string[], pileCount: number, blockBytes: number, inputKey: bigint): number {
    const { wasm, bytes, view } = this.kernel;
    const directory = this.#nextDirectory;
    this.#nextDirectory += DIRECTORY_BYTES;
    wasm.prepareHold(pileCount, directory, blockBytes);
    const table = this.#own + wasm.scratchByteLength();
    const base = this.#nextRecord;
    for (const [i, text] of texts.entries()) {
      view.setUint32(table + 8 * i, this.#nextRecord, true);
      bytes.set(Buffer.from(text, 'latin1'), this.#nextRecord);
      this.#nextRecord += text.length;
      view.setUint32(table + 8 * i + 4, this.#nextRecord, true);
    }
    expect(8 * texts.length).toBeLessThan(TABLE_BYTES);
    const before = wasm.blocksLeft() >>> 0;
    wasm.holdRecords(table, texts.length, base, 0n, inputKey);
    expect(before - (wasm.blocksLeft() >>> 0)).toBeLessThanOrEqual(texts.length);
    expect(wasm.longestHeld()).toBe(texts.reduce((most, { length }) => Math.max(most, length), 0));
    return directory;
  }

  /** Orders and gathers pile `pile` of slices that any thread has held. */
  gather(
    directories: readonly number[],
    pile: number,
    pileCount: number,
    blockBytes: number,
    ties: 'by slice' | 'by bytes' | 'one is kept',
  ) {
    const { wasm, bytes } = this.kernel;
    const counts = MEMORY_BYTES - 2 ** 19;
    const sorted = counts + 4 * 2 ** 6;
    wasm.prepareHeldOrder(counts, 6, sorted, pile, pileCount, blockBytes, ties !== 'by slice');
    for (const directory of directories) expect(wasm.countHeld(directory)).toBe(1);
    wasm.placeRanges();
    for (const directory of directories) wasm.takeHeld(directory);
    const count = (ties === 'one is kept' ? wasm.orderHeldDistinct() : wasm.orderHeld()) >>> 0;
    const out = MEMORY_BYTES - 2 ** 18;
    expect(wasm.gatherHeld(0, count, out, 2 ** 17, 2n ** 62n) >>> 0).toBe(count);
    const text = Buffer.from(bytes.subarray(out, out + (wasm.heldByteLength() >>> 0))).toString('latin1');
    return { count, text, checksum: BigInt.asUintN(64, wasm.heldChecksum()) };
  }
}

const texts = fc.array(fc.string({ unit: fc.constantFrom('a', 'b', 'c'), minLength: 1, maxLength: 40 }), {
  maxLength: 60,
});
const blockBytes = fc.constantFrom(32, 64, 256, 1024);

/** The records of a slice with their keys. */
function keyed(slice: readonly string[], inputKey: bigint): HeldRecord[] {
  let position = 0;
  return slice.map((text) => {
    const record = { key: recordKey(BigInt(position), inputKey), text };
    position += text.length;
    return record;
  });
}

function compare(a: HeldRecord, b: HeldRecord, tiesByBytes: boolean): number {
  if (a.key !== b.key) return a.key < b.key ? -1 : 1;
  return tiesByBytes && a.text !== b.text ? (a.text < b.text ? -1 : 1) : 0;
}

function isSame({ key, text }: HeldRecord, other: HeldRecord | undefined): boolean {
  return other?.key === key && other.text === text;
}

describe.each([
  ['own', false],
  ['shared', true],
])('held records in %s memory', (_, isShared) => {
  // With the same input key, records at the same position of two slices have equal keys.
  it('come in the order of their keys, equal ones in the order of the slices or of their bytes, or once', () => {
    const property = fc.property(
      fc.array(texts, { minLength: 1, maxLength: 4 }),
      fc.integer({ min: 1, max: 64 }),
      blockBytes,
      fc.boolean(),
      fc.constantFrom('by slice', 'by bytes', 'one is kept'),
      (slices, pileCount, ofBlock, sameKeys, ties) => {
        const memory = fixedMemory(MEMORY_BYTES, isShared);
        const holders = [new Holder(memory, 0), new Holder(memory, 1)];
        const holderOf = (slice: number) => holders[isShared ? slice % 2 : 0] as Holder;
        const inputKeyOf = (slice: number) => (sameKeys ? 7n : BigInt(slice));
        const directories = slices.map((slice, i) => holderOf(i).hold(slice, pileCount, ofBlock, inputKeyOf(i)));
        const records = slices.flatMap((slice, i) => keyed(slice, inputKeyOf(i)));
        for (let pile = 0; pile < pileCount; pile++) {
          const expected = records
            .filter(({ key }) => pileOfKey(key, 1n, pileCount) === pile)
            .sort((a, b) => compare(a, b, ties !== 'by slice'))
            .filter((each, i, all) => ties !== 'one is kept' || !isSame(each, all[i - 1]));
          const found = holderOf(pile).gather(directories, pile, pileCount, ofBlock, ties);
          expect(found.text).toBe(expected.map(({ text }) => text).join(''));
          const checksum = expected.reduce((sum, { text }) => sum + recordHash(Buffer.from(text, 'latin1')), 0n);
          expect(found).toMatchObject({ count: expected.length, checksum: BigInt.asUintN(64, checksum) });
        }
      },
    );
    fc.assert(property, { numRuns: 60 });
  });

  it('leave the memory as stored records, pile by pile, in pieces of any size', () => {
    const property = fc.property(texts, blockBytes, fc.integer({ min: 60, max: 500 }), (slice, ofBlock, capacity) => {
      const holder = new Holder(fixedMemory(MEMORY_BYTES, isShared), 0);
      const { wasm, bytes } = holder.kernel;
      const directory = holder.hold(slice, 3, ofBlock, 5n);
      const out = MEMORY_BYTES - 2 ** 18;
      const found: Buffer[] = [];
      for (let pile = 0; pile < 3; pile++) {
        wasm.beginWalk(directory, pile, ofBlock);
        while (wasm.nextWalked() !== 0) {
          const byteLength = wasm.storeWalked(out, capacity) >>> 0;
          expect(byteLength).toBeGreaterThan(0);
          expect(byteLength).toBeLessThanOrEqual(capacity);
          found.push(Buffer.from(bytes.slice(out, out + byteLength)));
        }
      }
      const records = keyed(slice, 5n).map(({ key, text }) => ({ key, bytes: Buffer.from(text, 'latin1') }));
      const byPile = [0, 1, 2].flatMap((pile) => records.filter(({ key }) => pileOfKey(key, 1n, 3) === pile));
      expect(Buffer.concat(found).equals(encodeStored(byPile))).toBe(true);
    });
    fc.assert(property, { numRuns: 60 });
  });
});

describe('gatherHeld', () => {
  it('stops where the buffer is full, or where a shard begins', () => {
    const holder = new Holder(fixedMemory(MEMORY_BYTES, false), 0);
    const { wasm } = holder.kernel;
    const directory = holder.hold(['aaaa', 'bbbb', 'cccc'], 1, 64, 1n);
    expect(holder.gather([directory], 0, 1, 64, 'by slice').count).toBe(3);
    const out = MEMORY_BYTES - 2 ** 18;
    expect(wasm.gatherHeld(0, 3, out, 11, 2n ** 62n)).toBe(2);
    expect(wasm.gatherHeld(0, 3, out, 100, 5n)).toBe(2);
    expect(wasm.gatherHeld(0, 3, out, 100, 4n)).toBe(1);
    expect(wasm.gatherHeld(0, 3, out, 3, 2n ** 62n)).toBe(0);
    expect(wasm.measureHeld(0, 3, 5n)).toBe(2);
    expect(wasm.measuredHeld()).toBe(8n);
  });

  it('refuses an entry on the wrong pile', () => {
    const holder = new Holder(fixedMemory(MEMORY_BYTES, false), 0);
    const { wasm, view } = holder.kernel;
    const directory = holder.hold(['aaaa'], 1, 64, 1n);
    wasm.prepareHeldOrder(MEMORY_BYTES - 2 ** 19, 1, MEMORY_BYTES - 2 ** 18, 0, 2, 64, false);
    const entry = view.getUint32(directory + 4, true);
    view.setBigUint64(entry, 2n ** 64n - 1n, true);
    expect(wasm.countHeld(directory)).toBe(0);
  });
});
