// Keys of records that are divided into sections, one for each value. The records of a section have pile keys in a range of its
// own, and their own keys as second keys: so each section is contiguous, in the order of the own keys, whatever its range.
//
//   table   32,768 addresses of entries u32, each at the hash of its characters or in the next free place | entries
//   entry   0 first pile key u64 | 8 pile keys u64 | 16 records u64 | 24 bytes u64 | 32 checksum u64 |
//           40 byteLength of the characters u32 | 44 whether they are coded u32 | 48 characters as records have them
//
// A value has an entry for each way to write it. The host adds them up.

import { haveSameBytes } from './duplicates';
import { highProduct } from './philox';
import { hashInCache } from './record-hash';
import { findCharactersOf, foundAt, foundEnd, isCoded, useSelector } from './record-value';
import { SECONDS_PLACE, SLOTS_PLACE, scratchAt } from './scratch';
import { ENTRY_BYTES } from './stored-record';

/** Makes an entry for characters that have none, and returns its address. */
// @ts-ignore: decorator
@external('host', 'openSection')
declare function openSection(at: usize, end: usize, isCoded: bool): usize;

const SLOTS: u64 = 32768;
const CHARACTERS: usize = 48;

let table: usize = 0;
let selector: usize = 0;
/** True if records are divided into sections. */
export let isSectioned: bool = false;

export function sectionByNone(): void {
  isSectioned = false;
}

/** Divides records by the value that `selectorAt` finds. The table at `tableAt` becomes empty. */
export function sectionByValue(tableAt: usize, selectorAt: usize): void {
  table = tableAt;
  selector = selectorAt;
  isSectioned = true;
  memory.fill(tableAt, 0, (SLOTS as usize) << 2);
}

/** Gives the entries pile keys in place of their own keys, which become their second keys. */
export function mapKeysToSections(first: usize, count: u32): void {
  const end = first + ((count as usize) << 4);
  let second = scratchAt(SECONDS_PLACE);
  let sectionAt = scratchAt(SLOTS_PLACE);
  let lastStart: usize = 0;
  let section: usize = 0;
  useSelector(selector);
  for (let entry = first; entry < end; entry += ENTRY_BYTES) {
    const own = load<u64>(entry);
    const start = load<u32>(entry, 8) as usize;
    // Copies of a record follow each other.
    if (start != lastStart) section = sectionOf(start, start + (load<u32>(entry, 12) as usize));
    lastStart = start;
    store<u64>(second, own);
    store<u32>(sectionAt, section as u32);
    if (section != 0) store<u64>(entry, load<u64>(section) + highProduct(own, load<u64>(section, 8)));
    second += 8;
    sectionAt += 4;
  }
}

/** Returns the entry of the value of a record. 0: it must have one and has none, which the selector tells. */
function sectionOf(start: usize, end: usize): usize {
  if (!findCharactersOf(selector, start, end)) return 0;
  const byteLength = (foundEnd - foundAt) as u32;
  const form = (byteLength as u64) | ((isCoded as u64) << 32);
  for (let i = hashInCache(foundAt, byteLength) & (SLOTS - 1); ; i = (i + 1) & (SLOTS - 1)) {
    const slot = table + ((i as usize) << 2);
    const section = load<u32>(slot) as usize;
    if (section == 0) store<u32>(slot, openSection(foundAt, foundEnd, isCoded) as u32);
    else if (load<u64>(section, 40) != form || !haveSameBytes(section + CHARACTERS, foundAt, byteLength)) continue;
    return load<u32>(slot) as usize;
  }
}

/** Counts the record of the entry at `index`, with its hash. */
// @ts-ignore: decorator
@inline
export function countInSection(index: usize, byteLength: u32, hash: u64): void {
  const section = load<u32>(scratchAt(SLOTS_PLACE) + (index << 2)) as usize;
  if (section == 0) return;
  store<u64>(section, load<u64>(section, 16) + 1, 16);
  store<u64>(section, load<u64>(section, 24) + (byteLength as u64), 24);
  store<u64>(section, load<u64>(section, 32) + hash, 32);
}
