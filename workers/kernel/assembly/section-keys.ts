// Keys of records that are divided into sections, one for each value. The records of a section have pile keys in a range of its
// own, and their own keys as second keys: so each section is contiguous, in the order of the own keys, whatever its range.
//
//   table   16,384 slots of 64 bytes; a value has the slot at its hash, or the next free one:
//           0 hash u64 | 8 second hash u64, or 0 | 16 first pile key u64 | 24 pile keys u64 | 32 records u64 | 40 bytes u64 |
//           48 checksum u64 | 56 whether it is taken u32 | free u32

import { highProduct } from './philox';
import { formOfFound, foundAt, foundEnd, sectionHash, secondHash, useSelector } from './record-value';
import { SECONDS_PLACE, SLOTS_PLACE, scratchAt } from './scratch';
import { ENTRY_BYTES } from './stored-record';

/** Gives a new slot the range of its pile keys. `form` is `formOfFound`, or `OTHER_VALUE`: the slot has another value. */
// @ts-ignore: decorator
@external('host', 'openSection')
declare function openSection(slot: usize, hash: u64, at: usize, end: usize, form: u32): void;

const SLOTS: u64 = 16384;
const SLOT_BYTES: usize = 64;
const OTHER_VALUE: u32 = 5;

let table: usize = 0;
let selector: usize = 0;
/** True if records are divided into sections. */
export let isSectioned: bool = false;

export function sectionByNone(): void {
  isSectioned = false;
}

/** Divides records by the value that `selectorAt` finds. The table at `tableAt` has 1 MiB, and becomes empty. */
export function sectionByValue(tableAt: usize, selectorAt: usize): void {
  table = tableAt;
  selector = selectorAt;
  isSectioned = true;
  memory.fill(tableAt, 0, (SLOTS as usize) * SLOT_BYTES);
}

/** Gives the entries pile keys in place of their own keys, which become their second keys. */
export function mapKeysToSections(first: usize, count: u32): void {
  const end = first + ((count as usize) << 4);
  let second = scratchAt(SECONDS_PLACE);
  let slotAt = scratchAt(SLOTS_PLACE);
  let lastStart: usize = 0;
  let slot: usize = 0;
  useSelector(selector);
  for (let entry = first; entry < end; entry += ENTRY_BYTES) {
    const own = load<u64>(entry);
    const start = load<u32>(entry, 8) as usize;
    // Copies of a record follow each other.
    if (start != lastStart) slot = findSlot(start, start + (load<u32>(entry, 12) as usize));
    lastStart = start;
    store<u64>(second, own);
    store<u32>(slotAt, slot as u32);
    if (slot != 0) store<u64>(entry, load<u64>(slot, 16) + highProduct(own, load<u64>(slot, 24)));
    second += 8;
    slotAt += 4;
  }
}

/** Returns the slot of the value of a record. 0: it must have one and has none, which the selector tells. */
function findSlot(start: usize, end: usize): usize {
  const hash = sectionHash(selector, start, end);
  if (foundAt == 0) return 0;
  for (let i = hash & (SLOTS - 1); ; i = (i + 1) & (SLOTS - 1)) {
    const slot = table + (i as usize) * SLOT_BYTES;
    if (load<u32>(slot, 56) == 0) {
      openSection(slot, hash, foundAt, foundEnd, formOfFound);
      store<u64>(slot, hash);
      store<u64>(slot, secondHash, 8);
      store<u32>(slot, 1, 56);
      return slot;
    }
    if (load<u64>(slot) != hash) continue;
    const other = load<u64>(slot, 8);
    if (other == 0) store<u64>(slot, secondHash, 8);
    else if (secondHash != 0 && other != secondHash) openSection(slot, hash, foundAt, foundEnd, OTHER_VALUE);
    return slot;
  }
}

/** Counts the record of the entry at `index`, with its hash. */
// @ts-ignore: decorator
@inline
export function countInSection(index: usize, byteLength: u32, hash: u64): void {
  const slot = load<u32>(scratchAt(SLOTS_PLACE) + (index << 2)) as usize;
  if (slot == 0) return;
  store<u64>(slot, load<u64>(slot, 32) + 1, 32);
  store<u64>(slot, load<u64>(slot, 40) + (byteLength as u64), 40);
  store<u64>(slot, load<u64>(slot, 48) + hash, 48);
}
