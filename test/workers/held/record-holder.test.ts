/** What a thread does with the records of a slice that stay, and the order that it gives them in pass 2. */
import { describe, expect, it } from 'vitest';
import { AbortError, VerificationError } from '#src/errors.js';
import { BOUNDARY_COUNT } from '#src/plan/arena-sizes.js';
import { heldPass2Bytes } from '#src/plan/hold-plan.js';
import { HeldOrderer } from '#workers/held/held-orderer.js';
import { RecordHolder } from '#workers/held/record-holder.js';
import type { RecordTaker } from '#workers/read/record-reader.js';
import type { RecordMemory } from '#workers/record-memory.js';
import { pileOfKey, recordHash, recordKey } from '../kernel/kernel-twin.js';
import { holdTexts, openRecordMemory } from './open-record-memory.js';

const PILES = 5;
const SETTINGS = { pileCount: PILES, blockBytes: 64, regionBytes: 65_536, pieceBytes: 65_536, maxRecordBytes: 65_536 };
const OUTPUT_BYTES = 4096;
const TEXTS = Array.from({ length: 40 }, (_, i) => `record ${i} ${'.'.repeat((7 * i) % 23)}`);

/** Tasks open the memory by it; here it is open. */
const HANDLE = { channelName: undefined, byteLength: 0, ownEnd: 0, pass1End: 0 };

function noScatter(_directory: number): RecordTaker {
  throw new Error('the memory has room');
}

function openHolder(memory: RecordMemory, scatter = noScatter): RecordHolder | undefined {
  return RecordHolder.open(memory, { ...SETTINGS, memory: HANDLE }, scatter);
}

interface KeyedText {
  readonly key: bigint;
  readonly text: string;
}

function keyed(texts: readonly string[], inputKey: bigint, position = 0): KeyedText[] {
  let at = position;
  return texts.map((text) => {
    const key = recordKey(BigInt(at), inputKey);
    at += text.length;
    return { key, text };
  });
}

/** Slices of the same keys and the same lengths, whose records differ. */
async function holdSlices(slices: readonly (readonly string[])[]) {
  const pass2Bytes = heldPass2Bytes(1, OUTPUT_BYTES, 200);
  const { memory, control } = await openRecordMemory({ pass1Bytes: 4 * 2 ** 20, pass2Bytes });
  const directories = slices.map((texts) => {
    const holder = openHolder(memory);
    if (holder === undefined) throw new RangeError('no room');
    holdTexts(holder, texts.slice(0, 10), 7n);
    holdTexts(holder, texts.slice(10), 7n, texts.slice(0, 10).join('').length);
    const { directory, totals } = holder.held();
    expect(totals.recordBytes.reduce((sum, bytes) => sum + bytes, 0)).toBe(texts.join('').length);
    return directory;
  });
  const openOrder = (tiesByBytes: boolean, pileCount = PILES) =>
    new HeldOrderer({
      memory,
      control,
      held: { memory: HANDLE, pileCount, blockBytes: SETTINGS.blockBytes, directories, mostRecords: 200 },
      unique: false,
      outputBytes: OUTPUT_BYTES,
      tiesByBytes,
    });
  return { memory, control, openOrder };
}

async function recordsIn(order: HeldOrderer, first = 0, end = PILES): Promise<KeyedText[][]> {
  const piles: KeyedText[][] = [];
  for (const { pile, order: orderPile } of order.piles(first, end)) {
    await orderPile(async (count) => {
      const found = Array.from({ length: count }, (_, i) => {
        const bytes = order.recordAt(i);
        expect(bytes.byteLength).toBe(order.byteLengthOf(i));
        return { key: order.keyAt(i), text: Buffer.from(bytes).toString('latin1') };
      });
      piles[pile] = found;
    });
  }
  return piles;
}

describe('a holder of records', () => {
  it('tells what a slice has, pile by pile, and its longest record', async () => {
    const { memory } = await openRecordMemory({ pass1Bytes: 2 ** 20 });
    const holder = openHolder(memory);
    if (holder === undefined) throw new RangeError('no room');
    holdTexts(holder, TEXTS, 7n, 1000);
    const { totals } = holder.held();
    for (let pile = 0; pile < PILES; pile++) {
      const own = keyed(TEXTS, 7n, 1000).filter(({ key }) => pileOfKey(key, 1n, PILES) === pile);
      const checksum = own.reduce((sum, { text }) => sum + recordHash(Buffer.from(text)), 0n);
      expect(totals.records[pile]).toBe(own.length);
      expect(totals.checksums[pile]).toBe(BigInt.asUintN(64, checksum));
    }
    const longest = Math.max(...TEXTS.map(({ length }) => length));
    expect(holder.take(0, 0, 0, 7n)).toBe(longest);
    expect(holder.isFull).toBe(false);
  });

  it('is full when it may have too few blocks for the next records, and has one successor', async () => {
    const { memory } = await openRecordMemory({ pass1Bytes: 90_000 });
    const successors: number[] = [];
    const holder = openHolder(memory, (directory) => {
      successors.push(directory);
      return { kernel: memory.kernel } as RecordTaker;
    });
    if (holder === undefined) throw new RangeError('no room');
    let held = 0;
    for (; !holder.isFull; held += 40) holdTexts(holder, Array(40).fill('a'), 7n, held);
    // Two lots of blocks do not fit: one is enough for a whole boundary table.
    expect(memory.kernel.wasm.blocksLeft()).toBeLessThan(BOUNDARY_COUNT);
    expect(memory.kernel.wasm.blocksLeft()).toBeGreaterThan(0);
    expect(holder.successor()).toBe(holder.successor());
    expect(successors).toEqual([holder.held().directory]);
  });

  it('takes over for good when its window has no room', async () => {
    const { memory } = await openRecordMemory({ pass1Bytes: 2 ** 20 });
    const holder = openHolder(memory, () => ({ kernel: memory.kernel }) as RecordTaker);
    expect(holder?.isFull).toBe(false);
    holder?.successor();
    expect(holder?.isFull).toBe(true);
  });

  it('cannot be opened without room for its piles', async () => {
    const { memory } = await openRecordMemory({ pass1Bytes: 100 });
    expect(openHolder(memory)).toBeUndefined();
  });
});

describe('an order of held records', () => {
  const one = TEXTS.map((text) => `1 ${text}`);
  const two = TEXTS.map((text) => `0 ${text}`);

  it.each([
    ['slices', false],
    ['bytes', true],
  ])('has all piles by key, and equal keys in the order of their %s', async (_, tiesByBytes) => {
    const { openOrder } = await holdSlices([one, two]);
    const piles = await recordsIn(openOrder(tiesByBytes));
    const records = keyed(one, 7n).flatMap((record, i) => {
      const pair = [record, { ...record, text: two[i] ?? '' }];
      return tiesByBytes ? pair.toReversed() : pair;
    });
    const byKey = records.toSorted((a, b) => (a.key < b.key ? -1 : a.key > b.key ? 1 : 0));
    expect(piles).toEqual(
      Array.from({ length: PILES }, (__, pile) => byKey.filter(({ key }) => pileOfKey(key, 1n, PILES) === pile)),
    );
    const some = await recordsIn(openOrder(tiesByBytes), 2, 4);
    expect(Object.entries(some)).toEqual(Object.entries(piles).slice(2, 4));
  });

  it('emits nothing of an empty pile', async () => {
    const { openOrder } = await holdSlices([one.slice(0, 1)]);
    expect(Object.keys(await recordsIn(openOrder(false)))).toHaveLength(1);
  });

  it('has a checksum of the records gathered, and of those written from where they lie', async () => {
    const { openOrder } = await holdSlices([one]);
    const order = openOrder(false);
    const [{ order: orderPile } = { order: undefined }] = order.piles(0, 1);
    await orderPile?.(async (count) => {
      const [target = 0] = order.sinkBuffer.addresses;
      expect(order.gather(0, 1, target, OUTPUT_BYTES, 2n ** 62n)).toBe(1);
      expect(order.gatheredBytes).toBe(order.byteLengthOf(0));
      expect(BigInt.asUintN(64, order.checksum)).toBe(recordHash(order.recordAt(0)));
      order.hashInPlace(1, 2);
      const sum = recordHash(order.recordAt(0)) + recordHash(order.recordAt(1));
      expect(BigInt.asUintN(64, order.checksum)).toBe(BigInt.asUintN(64, sum));
      expect(order.measureUpTo(0, count, 1n)).toBe(1);
      expect(order.measuredBytes).toBe(order.byteLengthOf(0));
      expect(order.measureUpTo(0, count + 1000, 2n ** 62n)).toBe(count);
    });
  });

  it('has buffers side by side, aligned for direct writes, before its tables', async () => {
    const { openOrder, memory } = await holdSlices([one]);
    const { sinkBuffer } = openOrder(false);
    const { addresses, capacityBytes } = sinkBuffer;
    expect(capacityBytes).toBe(OUTPUT_BYTES);
    expect(sinkBuffer.memory()).toBe(memory.kernel.bytes);
    expect(addresses.map((address) => address % 4096)).toEqual([0, 0, 0, 0]);
    expect(addresses.slice(1).map((address, i) => address - (addresses[i] ?? 0))).toEqual([8192, 8192, 8192]);
    expect(openOrder(true).sinkBuffer.addresses).toEqual(addresses);
  });

  it('refuses a record of another pile', async () => {
    const { openOrder } = await holdSlices([one]);
    await expect(recordsIn(openOrder(false, PILES - 1))).rejects.toThrow(VerificationError);
  });

  it('ends when the job is stopped', async () => {
    const { openOrder, control } = await holdSlices([one]);
    control.abort();
    await expect(recordsIn(openOrder(false))).rejects.toThrow(AbortError);
  });
});
