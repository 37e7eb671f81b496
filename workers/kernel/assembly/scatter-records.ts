// Pass 1, and the second scatter of an oversized pile: puts each record into the buffer of its pile.
//
//   stored record   as stored-record.ts has it
//   pile buffers    `bufferBytes` for each pile, wherever the host has room; the host's flush() takes a full one and returns
//                   the address of the next, which may be the same
//   tallies         pile j at tallies + 32 * j:
//                   0 address of the next record u32 | 4 end of the buffer u32 | 8 records u64 | 16 checksum u64 |
//                   24 sum of the keys, and of second keys, u64
//
// A buffer is flushed when it is exactly full, so a stored record may straddle two segments. Whoever reads the segments of
// a pile in one pile set, one after the other, joins the record again.
//
// Where one of equal records is kept, a table notes where records lie that still are in the buffer of their pile:
//
//   recent table    slot of a key at recent + 16 * (key mod 2048): key u64 | address of the stored record u32 | free u32
//
// A record that is equal to an earlier one there is dropped at once. So many equal records take no more than one place a
// buffer.

import { beginCopies, hasCopies, keyCopies } from './copies';
import { countDropped } from './duplicates';
import { areEqual, useEquality } from './equal-records';
import { placeOf } from './key-window';
import { BLOCK_RECORDS, keyBlock, positionAt } from './keying';
import { scaled } from './philox';
import { copyAndHash, recordHash } from './record-hash';
import { ENTRIES_PLACE, HEADER_PLACE, SECONDS_PLACE, scratchAt, WEIGHTS_PLACE } from './scratch';
import { countInSection, isSectioned } from './section-keys';
import { ENTRY_BYTES, hasSecondKeys, headerBytes, SECOND_KEY } from './stored-record';
import { isSummed, sumBlock } from './sum-values';
import { isWeighed } from './weigh';

// @ts-ignore: decorator
@external('host', 'flush')
declare function flush(pile: u32, byteLength: u32): usize;

let tallies: usize = 0;
let bufferBytes: u32 = 0;
let pileCount: u32 = 0;
let keyScale: u64 = 1;
export let longestRecord: u32 = 0;
let recent: usize = 0;

const RECENT_SLOTS: u64 = 2048;
/** Entries that are scattered together, at most. */
const SECONDS_TOGETHER: usize = 132;

/**
 * Has `scatterRecords` drop records that equal one in the buffer of their pile. `tableAt` has room for 32 KiB; 0: it drops
 * none. Call it after `prepareScatter`.
 */
export function dropRecent(tableAt: usize): void {
  recent = tableAt;
  if (tableAt != 0) memory.fill(tableAt, 0, (RECENT_SLOTS as usize) << 4);
}

// @ts-ignore: decorator
@inline
function isRecent(slot: usize, key: u64, start: usize, byteLength: u32): bool {
  const stored = load<u32>(slot, 8) as usize;
  // No record is stored at address 0: the slot is empty.
  if (load<u64>(slot) != key || stored == 0) return false;
  return areEqual(stored + headerBytes, load<u32>(stored, 8), start, byteLength);
}

/** Forgets the records in the buffer before `end`, which is about to leave. */
function forgetRecent(end: usize): void {
  const slotsEnd = recent + ((RECENT_SLOTS as usize) << 4);
  for (let slot = recent; slot < slotsEnd; slot += 16) {
    const stored = load<u32>(slot, 8) as usize;
    if (stored < end && end - stored <= (bufferBytes as usize)) store<u32>(slot, 0, 8);
  }
}

/**
 * Prepares for scattering on `count` piles. `scale` is the product, modulo 2^64, of the pile counts of the levels above
 * (1 on the first level): `key * scale` is the key's place inside its pile of the level above, as a fraction of 2^64. Where
 * records have second keys, places in the window of key-window.ts take the part of keys.
 * `useBuffer` then gives each pile its buffer.
 */
export function prepareScatter(count: u32, talliesAt: usize, bytesPerBuffer: u32, scale: u64): void {
  resumeScatter(count, talliesAt, bytesPerBuffer, scale);
  longestRecord = 0;
  memory.fill(talliesAt, 0, (count as usize) << 5);
}

/** Goes on with a scatter that was prepared so, and whose buffers and tallies stay, although another one was done since. */
export function resumeScatter(count: u32, talliesAt: usize, bytesPerBuffer: u32, scale: u64): void {
  pileCount = count;
  tallies = talliesAt;
  bufferBytes = bytesPerBuffer;
  keyScale = scale;
  recent = 0;
}

/** Has the next records of a pile go to an empty buffer at `address`. */
export function useBuffer(pile: u32, address: usize): void {
  const tally = tallies + ((pile as usize) << 5);
  store<u32>(tally, address as u32);
  store<u32>(tally, (address as u32) + bufferBytes, 4);
}

function appendAcrossBuffers(pile: u32, source: usize, byteLength: u32): void {
  const tally = tallies + ((pile as usize) << 5);
  while (byteLength > 0) {
    const next = load<u32>(tally);
    const room = load<u32>(tally, 4) - next;
    const piece = min<u32>(byteLength, room);
    memory.copy(next, source, piece);
    source += piece;
    byteLength -= piece;
    if (piece < room) {
      store<u32>(tally, next + piece);
    } else {
      if (recent != 0) forgetRecent(load<u32>(tally, 4));
      useBuffer(pile, flush(pile, bufferBytes));
    }
  }
}

// @ts-ignore: decorator
@inline
function storeHeader(target: usize, key: u64, second: u64, byteLength: u32): void {
  store<u64>(target, key);
  store<u32>(target, byteLength, 8);
  if (hasSecondKeys) store<u64>(target, second, SECOND_KEY);
}

// @ts-ignore: decorator
@inline
function scatterRecord(key: u64, second: u64, start: usize, byteLength: u32): u64 {
  const pile = scaled(placeOf(key, second) * keyScale, pileCount) as u32;
  const tally = tallies + ((pile as usize) << 5);
  const slot = recent + (((key & (RECENT_SLOTS - 1)) as usize) << 4);
  // A dropped record counts, too: which ones are dropped here depends on the memory.
  longestRecord = max<u32>(longestRecord, byteLength);
  if (recent != 0 && isRecent(slot, key, start, byteLength)) {
    countDropped(start, byteLength);
    return 0;
  }
  store<u64>(tally, load<u64>(tally, 8) + 1, 8);
  const target = load<u32>(tally);
  let hash: u64;
  const header = headerBytes;
  if ((byteLength as u64) + (header as u64) < ((load<u32>(tally, 4) - target) as u64)) {
    storeHeader(target, key, second, byteLength);
    hash = copyAndHash(target + header, start, byteLength);
    store<u32>(tally, target + header + byteLength);
    if (recent != 0) {
      store<u64>(slot, key);
      store<u32>(slot, target, 8);
    }
  } else {
    storeHeader(scratchAt(HEADER_PLACE), key, second, byteLength);
    appendAcrossBuffers(pile, scratchAt(HEADER_PLACE), header);
    appendAcrossBuffers(pile, start, byteLength);
    hash = recordHash(start, byteLength);
  }
  store<u64>(tally, load<u64>(tally, 16) + hash, 16);
  store<u64>(tally, load<u64>(tally, 24) + key + second, 24);
  return hash;
}

/**
 * Scatters each record of the boundary table as often as its weight says. A record at address a has position
 * `basePosition` + (a - `base`). The table must have 3 entries of slack after it.
 */
export function scatterRecords(table: usize, count: u32, base: usize, basePosition: u64, inputKey: u64): void {
  for (let i: u32 = 0; i < count; i += BLOCK_RECORDS) {
    const block = table + ((i as usize) << 3);
    const records = min<u32>(BLOCK_RECORDS, count - i);
    if (!isWeighed) {
      if (isSummed) sumBlock(block, records, 0, true);
      scatterEntries(keyBlock(block, records, base, positionAt(basePosition), inputKey));
      continue;
    }
    beginCopies(block, records, base, basePosition, inputKey);
    if (isSummed) sumBlock(block, records, scratchAt(WEIGHTS_PLACE), true);
    while (hasCopies()) scatterEntries(keyCopies());
  }
}

/** Gives all records from now on the same second key. */
export function fillSecondKeys(second: u64): void {
  const end = scratchAt(SECONDS_PLACE) + (SECONDS_TOGETHER << 3);
  for (let at = scratchAt(SECONDS_PLACE); at < end; at += 8) store<u64>(at, second);
}

function scatterEntries(count: u32): void {
  const entries = scratchAt(ENTRIES_PLACE);
  const end = entries + ((count as usize) << 4);
  // The splits may have looked for another value.
  if (recent != 0) useEquality();
  const seconds = scratchAt(SECONDS_PLACE);
  for (let entry = entries; entry < end; entry += ENTRY_BYTES) {
    const second = hasSecondKeys ? load<u64>(seconds + ((entry - entries) >> 1)) : 0;
    const hash = scatterRecord(load<u64>(entry), second, load<u32>(entry, 8), load<u32>(entry, 12));
    if (isSectioned) countInSection((entry - entries) >> 4, load<u32>(entry, 12), hash);
  }
}

/** Scatters the complete stored records by the next level of their keys. Returns the address of the first incomplete one. */
export function rescatterStored(from: usize, to: usize): usize {
  const header = headerBytes;
  let p = from;
  while (to - p >= header) {
    const byteLength = load<u32>(p, 8);
    if (byteLength > ((to - p) as u32) - header) break;
    scatterRecord(load<u64>(p), hasSecondKeys ? load<u64>(p, SECOND_KEY) : 0, p + header, byteLength);
    p += header + byteLength;
  }
  return p;
}
