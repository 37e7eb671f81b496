/** The tally of a set: parts add up to the whole with their carries, and the slots to examine fit their limit. */
import { describe, expect, it } from 'vitest';
import { bitmapOfSlots, SLOT_BITMAP_BYTES, SLOTS_BYTES, SlotTally, slotsToExamine } from '#src/plan/slot-tally.js';

/** A part with so many records in each slot, whose hashes have this sum. */
function partOf(slots: Readonly<Record<number, readonly [records: bigint, sum: bigint]>>) {
  const words = new Uint32Array(SLOTS_BYTES / 4);
  for (const [slot, [records, sum]] of Object.entries(slots)) {
    const values = [records, records >> 32n, sum, sum >> 32n].map((value) => Number(value & 0xffffffffn));
    words.set(values, 4 * Number(slot));
  }
  return { records: 1, bytes: 10, checksum: 2n ** 63n, slots: words };
}

function tallyOf(...parts: ReturnType<typeof partOf>[]): SlotTally {
  const tally = new SlotTally();
  for (const part of parts) tally.add(part);
  return tally;
}

describe('tallies', () => {
  it('are equal if their parts add up to the same', () => {
    const whole = tallyOf(partOf({ 0: [2n ** 32n + 1n, 5n], 65535: [2n, 2n ** 33n] }), partOf({}));
    const parts = tallyOf(
      partOf({ 0: [2n ** 32n - 1n, 2n ** 64n - 1n], 65535: [1n, 2n ** 32n + 2n ** 31n] }),
      partOf({ 0: [2n, 6n], 65535: [1n, 2n ** 31n] }),
    );
    // The second word of a count carries into nothing else.
    expect(whole.slotsThatDiffer(parts)).toEqual([]);
    expect(parts.recordsIn(0)).toBe(2 ** 32 + 1);
    expect(parts).toMatchObject({ records: 2, bytes: 20, checksum: '0'.repeat(16) });
  });

  it.each<[string, Readonly<Record<number, readonly [bigint, bigint]>>, number[]]>([
    ['the number of records of a slot', { 7: [2n, 9n] }, [7]],
    ['the upper half of a number', { 7: [1n + 2n ** 32n, 9n] }, [7]],
    ['a sum', { 7: [1n, 8n] }, [7]],
    ['the upper half of a sum', { 7: [1n, 9n + 2n ** 32n] }, [7]],
    ['the slot', { 8: [1n, 9n] }, [7, 8]],
  ])('differ by %s', (_, slots, differing) => {
    expect(tallyOf(partOf({ 7: [1n, 9n] })).slotsThatDiffer(tallyOf(partOf(slots)))).toEqual(differing);
  });
});

describe('the slots to examine', () => {
  const tally = tallyOf(partOf({ 1: [10n, 0n], 2: [500n, 0n], 3: [20n, 0n], 4: [90n, 0n] }));

  it('are all that fit', () => {
    expect(slotsToExamine([1, 2, 3, 4], [tally], 1000)).toEqual([1, 2, 3, 4]);
    expect(slotsToExamine([1, 2, 3, 4], [tally], 40)).toEqual([1, 3]);
    expect(slotsToExamine([1, 2, 3, 4], [tally, tally], 40)).toEqual([1]);
  });

  it('are the smallest one if none fits', () => {
    expect(slotsToExamine([2, 4], [tally], 40)).toEqual([4]);
    expect(slotsToExamine([], [tally], 40)).toEqual([]);
  });

  it('are a bit each', () => {
    const bits = bitmapOfSlots([0, 9, 65535]);
    expect([bits.byteLength, bits[0], bits[1], bits.at(-1)]).toEqual([SLOT_BITMAP_BYTES, 1, 2, 128]);
  });
});
