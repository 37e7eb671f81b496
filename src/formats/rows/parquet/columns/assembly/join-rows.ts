// Joins leaves into rows, as src/formats/rows/parquet/leaf.ts lays them out. 64 rows a leaf are written in a row: so the loop over
// rows has one kind of value, and the rows stay in the cache while leaf after leaf is added to them. No copy may go beyond
// the end of its value, because the next row may lie there already.
//
// Neighbouring leaves whose rows all have a value of one width take the same bytes of each row: until another leaf comes, the
// cursors stay where the first one begins.

import { copyExactly } from './copy-bytes';
import {
  addressOfIndexed,
  byteArrayBytes,
  bytesBeforeZero,
  copyPlain,
  countBytes,
  LeafState,
  placeAfter,
  plainBytes,
  wholeRows,
} from './leaf-state';

const BATCH_ROWS: u32 = 64;
/** A u64 for the byte length of each row, and a u32 for where its next leaf goes. */
const sizes = memory.data(512);
const cursors = memory.data(256);

const ALL_DEFINED: u32 = 1 << 31;

/** Fewer than a batch after one that did not fit: large rows are not measured over and over. */
let batchRows: u32 = BATCH_ROWS;

export let joinedBytes: u32 = 0;
/** The bytes that the next row needs, if it does not fit. */
export let neededBytes: f64 = 0;

// @ts-ignore: decorator
@inline
function leafAt(leaves: usize, i: u32): LeafState {
  return changetype<LeafState>(load<u32>(leaves + ((i as usize) << 2)) as usize);
}

/** The first leaf from `first` on without a whole row; -1: none. @param leaves addresses of their states. */
export function findStarved(leaves: usize, leafCount: u32, first: u32): i32 {
  for (let i = first; i < leafCount; i++) {
    if (wholeRows(leafAt(leaves, i)) == 0) return i;
  }
  return -1;
}

/**
 * Joins up to `mostRows` rows, as many as all leaves have and fit, and notes their ends, relative to `room`, in a table of u32.
 * @returns their number; `joinedBytes` is the end of the last one.
 */
export function joinRows(
  leaves: usize,
  leafCount: u32,
  mostRows: u32,
  room: usize,
  roomBytes: u32,
  ends: usize,
): u32 {
  let rows = mostRows;
  for (let i: u32 = 0; i < leafCount; i++) rows = min(rows, wholeRows(leafAt(leaves, i)));
  let done: u32 = 0;
  let filled: u64 = 0;
  neededBytes = 0;
  while (done < rows) {
    const batch = min(batchRows, rows - done);
    memory.fill(sizes, 0, (batch as usize) << 3);
    let evenBytes: u64 = 0;
    for (let i: u32 = 0; i < leafCount; i++) evenBytes += addSizes(leafAt(leaves, i), batch);

    let fitting: u32 = 0;
    for (; fitting < batch; fitting++) {
      const end = filled + evenBytes + load<u64>(sizes + ((fitting as usize) << 3));
      if (end > (roomBytes as u64)) break;
      store<u32>(cursors + ((fitting as usize) << 2), (room + (filled as usize)) as u32);
      store<u32>(ends + ((done as usize) << 2), end as u32);
      filled = end;
      done += 1;
    }
    if (fitting > 0) writeLeaves(leaves, leafCount, fitting);
    if (fitting < batch) {
      if (done == 0) neededBytes = (evenBytes + load<u64>(sizes)) as f64;
      batchRows = max(fitting, 1);
      break;
    }
    batchRows = min(2 * batchRows, BATCH_ROWS);
  }
  joinedBytes = filled as u32;
  return done;
}

// @ts-ignore: decorator
@inline
function grow(row: u32, bytes: u64): void {
  const place = sizes + ((row as usize) << 3);
  store<u64>(place, load<u64>(place) + bytes);
}

// @ts-ignore: decorator
@inline
function cursorAt(row: u32): usize {
  return load<u32>(cursors + ((row as usize) << 2)) as usize;
}

// @ts-ignore: decorator
@inline
function setCursor(row: u32, at: usize): void {
  store<u32>(cursors + ((row as usize) << 2), at as u32);
}

/** Returns whether the next rows all have a value. */
// @ts-ignore: decorator
@inline
function areDefined(leaf: LeafState, rows: u32): bool {
  return leaf.isDefined != 0 || countBytes(leaf.definitions, rows, leaf.maxDefinition) == rows;
}

/** Adds what rows have of a leaf to their sizes. @returns what has to be added to all of them. */
function addSizes(leaf: LeafState, rows: u32): u64 {
  if (leaf.maxRepetition > 0) {
    addRepeatedSizes(leaf, rows);
    return 0;
  }
  const most = leaf.maxDefinition;
  const width = leaf.width;
  if (width > 0) {
    if (most == 0) return width;
    if (areDefined(leaf, rows)) return 1 + width;
    for (let r: u32 = 0; r < rows; r++) if (load<u8>(leaf.definitions + r) == most) grow(r, width);
    return 1;
  }
  let place = leaf.values;
  const mayLack = most > 0 && leaf.isDefined == 0;
  for (let r: u32 = 0; r < rows; r++) {
    if (mayLack && load<u8>(leaf.definitions + r) != most) continue;
    const address = leaf.isIndexed ? addressOfIndexed(leaf, place) : place;
    const byteLength = byteArrayBytes(address);
    grow(r, byteLength);
    place += leaf.isIndexed ? 4 : (byteLength as usize);
  }
  return most > 0 ? 1 : 0;
}

function writeLeaves(leaves: usize, leafCount: u32, rows: u32): void {
  let offset: usize = 0;
  for (let i: u32 = 0; i < leafCount; i++) {
    const leaf = leafAt(leaves, i);
    if (isEven(leaf, rows)) {
      writeEven(leaf, rows, offset);
      offset += levelBytesOf(leaf) + (leaf.width as usize);
    } else {
      moveCursors(rows, offset);
      offset = 0;
      writeLeaf(leaf, rows);
    }
    if (leaf.maxRepetition > 0) continue;
    leaf.rows -= rows;
    if (leaf.maxDefinition > 0) {
      leaf.entries -= rows;
      leaf.definitions += rows;
    }
  }
}

// @ts-ignore: decorator
@inline
function levelBytesOf(leaf: LeafState): usize {
  return leaf.maxDefinition > 0 ? 1 : 0;
}

/** Returns whether the next rows all have a value, of one width that registers have. */
function isEven(leaf: LeafState, rows: u32): bool {
  if (leaf.maxRepetition > 0 || leaf.width == 0 || leaf.width > 8 || popcnt<u32>(leaf.width) != 1) return false;
  return leaf.maxDefinition == 0 || areDefined(leaf, rows);
}

function moveCursors(rows: u32, offset: usize): void {
  if (offset == 0) return;
  for (let r: u32 = 0; r < rows; r++) setCursor(r, cursorAt(r) + offset);
}

function writeEven(leaf: LeafState, rows: u32, offset: usize): void {
  if (leaf.maxDefinition > 0) {
    const level = leaf.maxDefinition as u8;
    for (let r: u32 = 0; r < rows; r++) store<u8>(cursorAt(r) + offset, level);
    offset += 1;
  }
  if (leaf.width == 4) writeNumbers<u32>(leaf, rows, offset);
  else if (leaf.width == 8) writeNumbers<u64>(leaf, rows, offset);
  else if (leaf.width == 1) writeNumbers<u8>(leaf, rows, offset);
  else writeNumbers<u16>(leaf, rows, offset);
}

// @ts-ignore: decorator
@inline
function writeNumbers<T>(leaf: LeafState, rows: u32, offset: usize): void {
  let place = leaf.values;
  if (leaf.isIndexed) {
    const dictionary = leaf.dictionary;
    for (let r: u32 = 0; r < rows; r++, place += 4) {
      store<T>(cursorAt(r) + offset, load<T>(dictionary + (load<u32>(place) as usize) * sizeof<T>()));
    }
  } else {
    for (let r: u32 = 0; r < rows; r++, place += sizeof<T>()) store<T>(cursorAt(r) + offset, load<T>(place));
  }
  leaf.values = place;
}

function writeLeaf(leaf: LeafState, rows: u32): void {
  const width = leaf.width;
  if (leaf.maxRepetition > 0) writeRepeated(leaf, rows);
  else if (width == 4) writeSome<u32>(leaf, rows);
  else if (width == 8) writeSome<u64>(leaf, rows);
  else if (width == 1) writeSome<u8>(leaf, rows);
  else if (width == 2) writeSome<u16>(leaf, rows);
  else if (width == 0) writeByteArrays(leaf, rows);
  else writeWide(leaf, rows);
}

/** Writes optional values of which some are missing. */
// @ts-ignore: decorator
@inline
function writeSome<T>(leaf: LeafState, rows: u32): void {
  const most = leaf.maxDefinition;
  let place = leaf.values;
  for (let r: u32 = 0; r < rows; r++) {
    const at = cursorAt(r);
    const level = load<u8>(leaf.definitions + r);
    store<u8>(at, level);
    if (level != most) {
      setCursor(r, at + 1);
      continue;
    }
    if (leaf.isIndexed) {
      store<T>(at, load<T>(leaf.dictionary + (load<u32>(place) as usize) * sizeof<T>()), 1);
      place += 4;
    } else {
      store<T>(at, load<T>(place), 1);
      place += sizeof<T>();
    }
    setCursor(r, at + 1 + sizeof<T>());
  }
  leaf.values = place;
}

function writeWide(leaf: LeafState, rows: u32): void {
  const most = leaf.maxDefinition;
  const width = leaf.width;
  let place = leaf.values;
  for (let r: u32 = 0; r < rows; r++) {
    let at = cursorAt(r);
    if (most > 0) {
      const level = load<u8>(leaf.definitions + r);
      store<u8>(at, level);
      at += 1;
      if (level != most) {
        setCursor(r, at);
        continue;
      }
    }
    copyExactly(at, leaf.isIndexed ? leaf.dictionary + (load<u32>(place) as usize) * width : place, width);
    place += leaf.isIndexed ? 4 : (width as usize);
    setCursor(r, at + width);
  }
  leaf.values = place;
}

function writeByteArrays(leaf: LeafState, rows: u32): void {
  const most = leaf.maxDefinition;
  let place = leaf.values;
  for (let r: u32 = 0; r < rows; r++) {
    let at = cursorAt(r);
    if (most > 0) {
      const level = load<u8>(leaf.definitions + r);
      store<u8>(at, level);
      at += 1;
      if (level != most) {
        setCursor(r, at);
        continue;
      }
    }
    const address = leaf.isIndexed ? addressOfIndexed(leaf, place) : place;
    const byteLength = byteArrayBytes(address);
    copyExactly(at, address, byteLength);
    place += leaf.isIndexed ? 4 : (byteLength as usize);
    setCursor(r, at + byteLength);
  }
  leaf.values = place;
}

/** The entries of the row that was measured last. */
let rowEntries: u32 = 0;
let rowValues: u32 = 0;
let rowBytes: u64 = 0;

/** Measures the row that begins `entry` entries further, whose first value lies at `place`. */
// @ts-ignore: decorator
@inline
function measureRow(leaf: LeafState, entry: u32, place: usize): void {
  rowEntries = 1 + bytesBeforeZero(leaf.repetitions + entry + 1, leaf.entries - entry - 1);
  rowValues = countBytes(leaf.definitions + entry, rowEntries, leaf.maxDefinition);
  rowBytes = plainBytes(leaf, place, rowValues);
}

function measureCarried(leaf: LeafState): void {
  rowEntries = leaf.carriedEntries;
  rowValues = leaf.carriedValues;
  rowBytes = leaf.carriedBytes;
}

/** Returns the bytes of the repetition levels of the row that was measured. */
// @ts-ignore: decorator
@inline
function repeatedBytes(leaf: LeafState): u64 {
  const repetitions = leaf.maxRepetition > 1 ? rowEntries : 0;
  const definitions = rowValues == rowEntries ? 0 : rowEntries;
  return 4 + (repetitions as u64) + (definitions as u64) + rowBytes;
}

function addRepeatedSizes(leaf: LeafState, rows: u32): void {
  let first: u32 = 0;
  if (leaf.isCarriedWhole) {
    measureCarried(leaf);
    grow(0, repeatedBytes(leaf));
    first = 1;
  }
  let entry: u32 = 0;
  let place = leaf.values;
  for (let r = first; r < rows; r++) {
    measureRow(leaf, entry, place);
    grow(r, repeatedBytes(leaf));
    entry += rowEntries;
    place = placeAfter(leaf, place, rowValues, rowBytes);
  }
}

/** Writes the levels of the row that was measured. @returns where its values go. */
// @ts-ignore: decorator
@inline
function writeLevels(leaf: LeafState, target: usize, repetitions: usize, definitions: usize): usize {
  const areAllDefined = rowValues == rowEntries;
  store<u32>(target, areAllDefined ? rowEntries | ALL_DEFINED : rowEntries);
  let at = target + 4;
  if (leaf.maxRepetition > 1) {
    copyExactly(at, repetitions, rowEntries);
    at += rowEntries;
  }
  if (!areAllDefined) {
    copyExactly(at, definitions, rowEntries);
    at += rowEntries;
  }
  return at;
}

function writeRepeated(leaf: LeafState, rows: u32): void {
  let first: u32 = 0;
  if (leaf.isCarriedWhole) {
    measureCarried(leaf);
    const at = writeLevels(leaf, cursorAt(0), leaf.carriedRepetitions, leaf.carriedDefinitions);
    copyExactly(at, leaf.carriedPlain, leaf.carriedBytes);
    setCursor(0, at + leaf.carriedBytes);
    leaf.isCarriedWhole = 0;
    leaf.carriedEntries = 0;
    leaf.carriedValues = 0;
    leaf.carriedBytes = 0;
    first = 1;
  }
  for (let r = first; r < rows; r++) {
    measureRow(leaf, 0, leaf.values);
    const at = writeLevels(leaf, cursorAt(r), leaf.repetitions, leaf.definitions);
    copyPlain(leaf, leaf.values, rowValues, rowBytes, at);
    setCursor(r, at + (rowBytes as usize));
    leaf.values = placeAfter(leaf, leaf.values, rowValues, rowBytes);
    leaf.entries -= rowEntries;
    leaf.repetitions += rowEntries;
    leaf.definitions += rowEntries;
  }
  leaf.rows -= rows - first;
}

/** Passes over whole rows of the page. */
export function skipRows(state: usize, rows: u32): void {
  const leaf = changetype<LeafState>(state);
  let entries = rows;
  if (leaf.maxRepetition > 0) {
    entries = 0;
    for (let r: u32 = 0; r < rows; r++) {
      entries += 1 + bytesBeforeZero(leaf.repetitions + entries + 1, leaf.entries - entries - 1);
    }
    leaf.repetitions += entries;
  }
  let values = entries;
  if (leaf.maxDefinition > 0) {
    values = countBytes(leaf.definitions, entries, leaf.maxDefinition);
    leaf.definitions += entries;
    leaf.entries -= entries;
  }
  leaf.values = placeAfter(leaf, leaf.values, values, plainBytes(leaf, leaf.values, values));
  leaf.rows -= rows;
}
