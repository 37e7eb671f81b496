/** The tally of records in the kernel, against the twin: both hashes, the slots, and which records a slot selects. */
import fc from 'fast-check';
import { expect, it } from 'vitest';
import { bitmapOfSlots, SLOT_BITMAP_BYTES, SLOTS_BYTES } from '#src/plan/slot-tally.js';
import { ARENA_START, Kernel } from '#workers/kernel/kernel.js';
import { atScale } from '../../fixtures/scale.js';
import { keyedHash, recordHash } from './kernel-twin.js';

const SLOTS = ARENA_START;
const WANTED = SLOTS + SLOTS_BYTES;
const TABLE = WANTED + SLOT_BITMAP_BYTES;
const SELECTED = TABLE + 8192;
const RECORDS = SELECTED + 8192;
const kernel = new Kernel();
kernel.ensureArena(SLOTS_BYTES + 128 * 1024);

type Keys = readonly [bigint, bigint, bigint, bigint];
const word = fc.bigInt({ min: 0n, max: 2n ** 64n - 1n });
const keys = fc.tuple(word, word, word, word);
const records = fc.array(fc.uint8Array({ minLength: 1, maxLength: 100 }), { maxLength: 60 });

/** Puts the records into memory, one behind the other, with other bytes behind them. */
function place(list: readonly Uint8Array[]): void {
  kernel.bytes.fill(0xa5, RECORDS, RECORDS + 8192);
  let at = RECORDS;
  for (const [i, record] of list.entries()) {
    kernel.bytes.set(record, at);
    kernel.view.setUint32(TABLE + 8 * i, at, true);
    at += record.byteLength;
    kernel.view.setUint32(TABLE + 8 * i + 4, at, true);
  }
}

function tally(list: readonly Uint8Array[], drawn: Keys): void {
  place(list);
  kernel.bytes.fill(0, SLOTS, SLOTS + SLOTS_BYTES);
  kernel.wasm.resetTally(...drawn);
  kernel.wasm.tallyRecords(TABLE, list.length, SLOTS);
}

const u64 = (address: number) => kernel.view.getBigUint64(address, true);

it('adds each record to the slot of its keyed hash, and its published hash to the checksum', () => {
  fc.assert(
    fc.property(records, keys, (list, drawn) => {
      tally(list, drawn);
      const checksum = list.reduce((sum, record) => sum + recordHash(record), 0n);
      expect(BigInt.asUintN(64, kernel.wasm.talliedChecksum.value)).toBe(BigInt.asUintN(64, checksum));
      expect(Number(kernel.wasm.talliedBytes.value)).toBe(list.reduce((sum, { byteLength }) => sum + byteLength, 0));
      expect(kernel.wasm.longestTallied.value).toBe(Math.max(0, ...list.map(({ byteLength }) => byteLength)));
      const hashes = list.map((record) => keyedHash(record, drawn));
      for (const slot of new Set(hashes.map((hash) => Number(hash >> 48n)))) {
        const ofSlot = hashes.filter((hash) => Number(hash >> 48n) === slot);
        expect(u64(SLOTS + 16 * slot)).toBe(BigInt(ofSlot.length));
        expect(u64(SLOTS + 16 * slot + 8)).toBe(
          BigInt.asUintN(
            64,
            ofSlot.reduce((sum, hash) => sum + hash, 0n),
          ),
        );
      }
      const tallied = kernel.view.getUint32(SLOTS, true);
      expect(tallied).toBeLessThanOrEqual(list.length);
    }),
    { numRuns: atScale(30, 150, 300) },
  );
});

it('selects the records of the wanted slots, and no others', () => {
  fc.assert(
    fc.property(records, keys, fc.nat(), (list, drawn, choice) => {
      place(list);
      const slots = list.map((record) => Number(keyedHash(record, drawn) >> 48n));
      const wanted = slots.filter((_, i) => (choice >> (i % 31)) & 1);
      kernel.bytes.set(bitmapOfSlots(wanted), WANTED);
      kernel.wasm.resetTally(...drawn);
      const count = kernel.wasm.selectRecords(TABLE, list.length, WANTED, SELECTED);
      const selected = Array.from({ length: count }, (_, i) => kernel.view.getUint32(SELECTED + 4 * i, true));
      expect(selected).toEqual(slots.flatMap((slot, i) => (wanted.includes(slot) ? [i] : [])));
    }),
    { numRuns: atScale(30, 150, 300) },
  );
});
