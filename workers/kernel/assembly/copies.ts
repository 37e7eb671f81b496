// Copies of records, for inputs with a weight: a number of whole copies of each record, and one more if its draw is below a
// chance. The key of a copy comes from the counter of the record with the number of the copy. The draw has the counter of
// the copy that it decides about, with another purpose. Entries come in the order of (position, copy).

import { ENTRY_BYTES } from './stored-record';
import { BLOCK_RECORDS, keepEntries, keyBlock, offsetOf, advanceOrdinals, positionAt, basePositionOf } from './keying';
import { philoxKeys4 } from './philox';
import { ENTRIES_PLACE, KEYS_PLACE, scratchAt } from './scratch';

export const COPIES_TOGETHER: u32 = 128;

const DRAW: u32 = 1;

let wholeCopies: u32 = 1;
let chance: u64 = 0;
/** The whole copies, and the one that is drawn. */
export let copyRounds: u32 = 1;
/** The records since `setCopies` whose draw added no copy. */
export let undrawnRecords: u32 = 0;
export let undrawnBytes: u64 = 0;
/** The bytes of the longest record since `setCopies` that had a draw, whatever its result. */
export let longestDrawCandidate: u32 = 0;

/** Gives each record from now on `copies` copies, and one more with a chance of `chanceOfOneMore` / 2^64. */
export function setCopies(copies: u32, chanceOfOneMore: u64): void {
  wholeCopies = copies;
  chance = chanceOfOneMore;
  copyRounds = copies + (chance == 0 ? 0 : 1);
  undrawnRecords = 0;
  undrawnBytes = 0;
  longestDrawCandidate = 0;
}

/** Returns the address to which the host may write the path of a field, up to 2 KiB. */
export function fieldPathAddress(): usize {
  return scratchAt(ENTRIES_PLACE);
}

/**
 * Moves the marks of the records whose draw added no copy to the beginning of the boundary table. Returns their number. Where
 * keys come from ordinals, `keyByOrdinal` must have set that of the first record again.
 */
export function selectUndrawn(table: usize, count: u32, base: usize, basePlace: u64, inputKey: u64): u32 {
  const basePosition = basePositionOf(basePlace);
  const keys = scratchAt(KEYS_PLACE);
  let next = table;
  for (let i: u32 = 0; i < count; i++) {
    const mark = load<u64>(table + ((i as usize) << 3));
    const offset = offsetOf(i, mark as u32, base);
    philoxKeys4(basePosition, offset, offset, offset, offset, wholeCopies, DRAW, inputKey, keys);
    if (load<u64>(keys) < chance) continue;
    store<u64>(next, mark);
    next += 8;
  }
  return ((next - table) >> 3) as u32;
}

/** How many records `keyRecords` may get at a time: there must be room for the entries of their copies. */
export function recordsTogether(): u32 {
  if (copyRounds <= 1) return BLOCK_RECORDS;
  return copyRounds <= BLOCK_RECORDS / 4 ? (BLOCK_RECORDS / copyRounds) & ~3 : 1;
}

/**
 * Writes an entry for each copy that is kept, as `keyBlock` does for records; a record at address a lies at the place
 * `basePlace` + (a - `base`). With more than 32 copies, one call makes the entries of at most `COPIES_TOGETHER` of them,
 * from `firstCopy` on.
 */
export function keyRecords(
  table: usize,
  count: u32,
  firstCopy: u32,
  base: usize,
  basePlace: u64,
  inputKey: u64,
): u32 {
  if (copyRounds == 1 && chance == 0) return keyBlock(table, count, base, positionAt(basePlace), inputKey);
  const basePosition = basePositionOf(basePlace);
  const endCopy = min<u32>(copyRounds, firstCopy + COPIES_TOGETHER);
  const perRecord = (endCopy - firstCopy) as usize;
  const keys = scratchAt(KEYS_PLACE);
  const entries = scratchAt(ENTRIES_PLACE);
  for (let i: u32 = 0; i < count; i += 4) {
    const lanes = min<u32>(4, count - i);
    for (let copy = firstCopy; copy < endCopy; copy++) {
      const first = entries + ((i as usize) * perRecord + ((copy - firstCopy) as usize)) * ENTRY_BYTES;
      keyCopy(table + ((i as usize) << 3), i, lanes, copy, base, basePosition, inputKey, keys, first, perRecord);
    }
  }
  if (endCopy == copyRounds) advanceOrdinals(count);
  const made = count * (perRecord as u32);
  return keepEntries(chance != 0 && endCopy == copyRounds ? keepDrawn(made) : made);
}

/** Writes the entries of one copy of up to four records, `step` entries apart. A copy that is not drawn has address 0. */
function keyCopy(
  marks: usize,
  index: u32,
  lanes: u32,
  copy: u32,
  base: usize,
  basePosition: u64,
  inputKey: u64,
  keys: usize,
  first: usize,
  step: usize,
): void {
  const offset0 = offsetOf(index, load<u32>(marks, 0), base);
  const offset1 = offsetOf(index + 1, load<u32>(marks, 8), base);
  const offset2 = offsetOf(index + 2, load<u32>(marks, 16), base);
  const offset3 = offsetOf(index + 3, load<u32>(marks, 24), base);
  let stays: u32 = 15;
  if (copy == wholeCopies) {
    philoxKeys4(basePosition, offset0, offset1, offset2, offset3, copy, DRAW, inputKey, keys);
    stays = 0;
    for (let l: u32 = 0; l < lanes; l++) {
      const mark = marks + ((l as usize) << 3);
      const byteLength = load<u32>(mark, 4) - load<u32>(mark);
      longestDrawCandidate = max<u32>(longestDrawCandidate, byteLength);
      if (load<u64>(keys + ((l as usize) << 3)) < chance) {
        stays |= 1 << l;
        continue;
      }
      undrawnRecords += 1;
      undrawnBytes += byteLength as u64;
    }
  }
  if (stays != 0) philoxKeys4(basePosition, offset0, offset1, offset2, offset3, copy, 0, inputKey, keys);
  let entry = first;
  for (let l: u32 = 0; l < lanes; l++) {
    const mark = load<u64>(marks + ((l as usize) << 3));
    const start = mark as u32;
    store<u64>(entry, load<u64>(keys + ((l as usize) << 3)));
    store<u32>(entry, (stays >> l) & 1 ? start : 0, 8);
    store<u32>(entry, ((mark >> 32) as u32) - start, 12);
    entry += step * ENTRY_BYTES;
  }
}

/** Moves up the entries that have an address. Returns their number. */
function keepDrawn(count: u32): u32 {
  const first = scratchAt(ENTRIES_PLACE);
  const end = first + (count as usize) * ENTRY_BYTES;
  let kept = first;
  let left: u32 = 0;
  for (let entry = first; entry < end; entry += ENTRY_BYTES) {
    if (load<u32>(entry, 8) == 0) {
      left += 1;
      continue;
    }
    v128.store(kept, v128.load(entry));
    kept += ENTRY_BYTES;
  }
  return count - left;
}
