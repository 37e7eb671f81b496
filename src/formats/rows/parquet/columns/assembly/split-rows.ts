// Splits rows (src/formats/rows/parquet/leaf.ts) into their leaves, a batch of rows at a time, so that each loop is that of one
// leaf and the batch stays in the core's cache. First a walk over the batch checks every level and length; what splits
// relies on it.
//
// Where a batch ends follows from the rows alone: whatever is decided between batches does, too.
//
// Neighbouring leaves of values of one width are a run. Where all of them have a value, which is usual, the run is whole: it
// has the same bytes in each row, so that no load must wait for the one before.

import { copyLoosely } from './copy-bytes';
import { indexValues } from './encode-dictionary';
import { EncodedLeaf, INDEXED, MOST_RUN_BYTES, SAMPLING, leafAt, runBits } from './encode-leaf';

const BATCH_ROWS: u32 = 64;
/** The row that reaches it is the last one. */
const BATCH_BYTES: usize = 65536;

const ENTRIES_OF_DENSE_SLOTS: u32 = 8192;
const ALL_HIGHEST: u32 = 0x80000000;

/** A null makes the rest of its run slow. */
const MOST_RUN_LEAVES: u32 = 16;

let leaves: usize = 0;
let leafCount: u32 = 0;
/** A u32 for each row of the batch: the place where its next leaf begins. */
let places: usize = 0;
let batchRows: u32 = 0;
/** The leaf that a row breaks; -1: none. */
export let faultyLeaf: i32 = -1;

/** @param placesAt room for 64 u32. */
export function beginSplitting(leavesAt: usize, count: u32, placesAt: usize): void {
  leaves = leavesAt;
  leafCount = count;
  places = placesAt;
}

/** Divides the leaves of a table into runs. */
export function findRuns(leavesAt: usize, count: u32): void {
  for (let i: u32 = 0; i < count; i++) {
    const leaf = leafAt(leavesAt, i);
    leaf.runBytes = 0;
    if (!mayBeInRun(leaf)) continue;
    leaf.runFirst = i != 0 && hasRoom(leavesAt, leafAt(leavesAt, i - 1), i, leaf) ? leafAt(leavesAt, i - 1).runFirst : i;
    joinRun(leaf, leafAt(leavesAt, leaf.runFirst), i);
  }
}

/** Returns whether a leaf fits in the run of the leaf before it. */
function hasRoom(leavesAt: usize, before: EncodedLeaf, index: u32, leaf: EncodedLeaf): bool {
  if (!mayBeInRun(before) || index - before.runFirst >= MOST_RUN_LEAVES) return false;
  return leafAt(leavesAt, before.runFirst).runBytes + wholeBytes(leaf) <= MOST_RUN_BYTES;
}

function joinRun(leaf: EncodedLeaf, first: EncodedLeaf, index: u32): void {
  let bits = runBits(first) + (first.runBytes as usize);
  if (leaf.maxDefinition != 0) {
    store<u8>(bits, 0xff);
    store<u8>(bits + MOST_RUN_BYTES, leaf.maxDefinition as u8);
    bits += 1;
  }
  if (leaf.isBoolean != 0) store<u8>(bits, 0xfe);
  leaf.runOffset = first.runBytes;
  first.runBytes += wholeBytes(leaf);
  first.runEnd = index + 1;
}

// @ts-ignore: decorator
@inline
function mayBeInRun(leaf: EncodedLeaf): bool {
  return leaf.maxRepetition == 0 && leaf.width != 0 && leaf.width < MOST_RUN_BYTES;
}

/** Returns the bytes of a value with its level. */
// @ts-ignore: decorator
@inline
function wholeBytes(leaf: EncodedLeaf): u32 {
  return leaf.width + u32(leaf.maxDefinition != 0);
}

export function rowsOfBatch(): u32 {
  return batchRows;
}

/**
 * @param isLast whether no row follows those in [from, to).
 * @returns where the next batch of rows from `from` on ends; 0: it is not whole, or `faultyLeaf` tells what is wrong.
 */
export function walkBatch(from: usize, to: usize, isLast: bool): usize {
  for (let i: u32 = 0; i < leafCount; i++) {
    const leaf = leafAt(leaves, i);
    leaf.batchBytes = 0;
    leaf.batchEntries = 0;
    leaf.runRows = 0;
  }
  faultyLeaf = -1;
  let p = from;
  batchRows = 0;
  while (batchRows < BATCH_ROWS && p - from < BATCH_BYTES && p < to) {
    store<u32>(places + ((batchRows as usize) << 2), p as u32);
    p = passRow(p, to);
    if (p == 0) return 0;
    batchRows += 1;
  }
  for (let i: u32 = 0; i < leafCount; i++) {
    const leaf = leafAt(leaves, i);
    if (mayBeInRun(leaf)) leaf.batchBytes += leafAt(leaves, leaf.runFirst).runRows * wholeBytes(leaf);
  }
  return isLast || batchRows == BATCH_ROWS || p - from >= BATCH_BYTES ? p : 0;
}

/** @returns the end of a row, 0 if it is broken or goes on beyond `to`. */
function passRow(p: usize, to: usize): usize {
  for (let i: u32 = 0; i < leafCount; i++) {
    const leaf = leafAt(leaves, i);
    if (leaf.runBytes != 0 && isWholeRun(leaf, p, to)) {
      leaf.runRows += 1;
      p += leaf.runBytes;
      i = leaf.runEnd - 1;
      continue;
    }
    const start = p;
    let values: u32 = 1;
    if (leaf.maxRepetition != 0) {
      if (to - p < 4) return 0;
      const head = load<u32>(p);
      const entries = head & ~ALL_HIGHEST;
      p += 4;
      if (entries == 0) return broken(i);
      if (leaf.maxRepetition > 1) {
        if (to - p < (entries as usize)) return 0;
        if (!areRepetitions(p, entries, leaf.maxRepetition)) return broken(i);
        p += entries as usize;
      }
      values = entries;
      if ((head & ALL_HIGHEST) == 0) {
        if (to - p < (entries as usize)) return 0;
        values = countHighest(p, entries, leaf.maxDefinition);
        if (values > entries) return broken(i);
        p += entries as usize;
      }
      leaf.batchEntries += entries;
    } else if (leaf.maxDefinition != 0) {
      if (p >= to) return 0;
      const level: u32 = load<u8>(p);
      p += 1;
      if (level > leaf.maxDefinition) return broken(i);
      values = u32(level == leaf.maxDefinition);
    }
    const width = leaf.width;
    if (width != 0) {
      if (((to - p) as u64) < (values as u64) * (width as u64)) return 0;
      if (leaf.isBoolean != 0 && !areBooleans(p, values)) return broken(i);
      p += (values as usize) * (width as usize);
    } else {
      for (; values != 0; values--) {
        if (to - p < 4) return 0;
        const byteLength: usize = load<u32>(p);
        p += 4;
        if (to - p < byteLength) return 0;
        p += byteLength;
      }
    }
    leaf.batchBytes += (p - start) as u32;
  }
  return p;
}

/** Returns whether all leaves of a run have a value at `p`, which is right. Reads up to 15 bytes too far. */
// @ts-ignore: decorator
@inline
function isWholeRun(first: EncodedLeaf, p: usize, to: usize): bool {
  if (to - p < (first.runBytes as usize)) return false;
  let bits = runBits(first);
  const end = p + (first.runBytes as usize);
  let wrong = i64x2.splat(0);
  for (; p < end; p += 16, bits += 16) {
    wrong = v128.or(wrong, v128.xor(v128.and(v128.load(p), v128.load(bits)), v128.load(bits + MOST_RUN_BYTES)));
  }
  return !v128.any_true(wrong);
}

function broken(leaf: u32): usize {
  faultyLeaf = leaf as i32;
  return 0;
}

/** The first begins the row, the others do not. */
function areRepetitions(p: usize, count: u32, most: u32): bool {
  if (load<u8>(p) != 0) return false;
  for (let i: usize = 1; i < (count as usize); i++) {
    const level: u32 = load<u8>(p + i);
    if (level - 1 >= most) return false;
  }
  return true;
}

/** More than `count` if a level is higher than `most`. */
function countHighest(p: usize, count: u32, most: u32): u32 {
  let highest: u32 = 0;
  for (let i: usize = 0; i < (count as usize); i++) {
    const level: u32 = load<u8>(p + i);
    if (level > most) return u32.MAX_VALUE;
    highest += u32(level == most);
  }
  return highest;
}

function areBooleans(p: usize, count: u32): bool {
  let all: u32 = 0;
  for (let i: usize = 0; i < (count as usize); i++) all |= load<u8>(p + i);
  return all <= 1;
}

/**
 * Splits the batch that was walked, from leaf `first` on. Reads and writes up to 16 bytes too far.
 * @param scratch room for the values of a leaf with a dictionary.
 * @returns the next leaf that must be made ready before it takes its part; the number of leaves at the end.
 */
export function splitBatch(first: u32, scratch: usize, scratchBytes: u32): u32 {
  for (let i = first; i < leafCount; i++) {
    const leaf = leafAt(leaves, i);
    if (!isReady(leaf)) return i;
    if (leaf.mode == INDEXED) {
      if (leaf.batchBytes > scratchBytes) return i;
      const count = leaf.valueCount;
      take(leaf, scratch);
      indexValues(leaf, scratch, leaf.valueCount - count, leaf.values + leaf.valueBytes);
      leaf.valueBytes += (leaf.valueCount - count) << 2;
    } else {
      leaf.valueBytes += (take(leaf, leaf.values + leaf.valueBytes) - leaf.values - leaf.valueBytes) as u32;
    }
  }
  return leafCount;
}

/** The entries that the batch has for a leaf. */
export function newEntries(address: usize): u32 {
  const leaf = changetype<EncodedLeaf>(address);
  return leaf.maxRepetition != 0 ? leaf.batchEntries : batchRows;
}

/** Returns whether it is time to end the sample, the dictionary or the page, or room is missing. */
function isReady(leaf: EncodedLeaf): bool {
  const entries = newEntries(changetype<usize>(leaf));
  const levels = u32(leaf.maxDefinition != 0) + u32(leaf.maxRepetition != 0);
  const isIndexed = leaf.mode == INDEXED;
  const valueBytes = leaf.valueBytes + (isIndexed ? entries << 2 : leaf.batchBytes);
  if (leaf.mode == SAMPLING && leaf.valueCount >= leaf.sampleValues) return false;
  if (leaf.entries != 0 && valueBytes + (leaf.entries + entries) * levels > leaf.pageBytes) return false;
  if (valueBytes > leaf.valueCapacity || (levels != 0 && leaf.entries + entries > leaf.levelCapacity)) return false;
  return (
    !isIndexed ||
    ((leaf.width != 0 || leaf.batchBytes <= leaf.batchLimit) &&
      leaf.dictionaryBytes <= leaf.dictionaryLimit &&
      leaf.dictionaryCount <= leaf.entryLimit &&
      leaf.dictionaryBytes + leaf.batchBytes <= leaf.dictionaryCapacity &&
      hasSlots(leaf, leaf.dictionaryCount + entries) &&
      (leaf.width != 0 || leaf.dictionaryCount + entries <= leaf.offsetCapacity))
  );
}

/** Says whether the leaf has enough slots for the entries, by the rule of page-sizes.ts. */
function hasSlots(leaf: EncodedLeaf, entries: u32): bool {
  return entries <= ENTRIES_OF_DENSE_SLOTS ? entries << 2 <= leaf.slotCount : entries << 1 <= leaf.slotCount;
}

/** @returns the end of the values that it writes to `out`. */
function take(leaf: EncodedLeaf, out: usize): usize {
  if (leaf.maxRepetition != 0) return takeRepeated(leaf, out);
  const entries = leaf.entries;
  leaf.entries = entries + batchRows;
  if (mayBeInRun(leaf)) {
    const first = leafAt(leaves, leaf.runFirst);
    if (first.runRows == batchRows) return takeWhole(leaf, first, entries, out);
  }
  if (leaf.maxDefinition != 0) {
    switch (leaf.width) {
      case 0:
        return takeOptionalBytes(leaf, entries, out);
      case 1:
        return takeOptional<u8>(leaf, entries, out);
      case 4:
        return takeOptional<u32>(leaf, entries, out);
      case 8:
        return takeOptional<u64>(leaf, entries, out);
      default:
        return takeOptionalFixed(leaf, entries, out);
    }
  }
  leaf.valueCount += batchRows;
  switch (leaf.width) {
    case 0:
      return takeBytes(out);
    case 1:
      return takeAll<u8>(out);
    case 4:
      return takeAll<u32>(out);
    case 8:
      return takeAll<u64>(out);
    default:
      return takeFixed(leaf.width, out);
  }
}

/** Takes the values of a leaf whose run is whole in all rows. The places stay at the run until its last leaf is taken. */
function takeWhole(leaf: EncodedLeaf, first: EncodedLeaf, entries: u32, out: usize): usize {
  leaf.valueCount += batchRows;
  let offset: usize = leaf.runOffset;
  if (leaf.maxDefinition != 0) {
    offset += 1;
    const level = i8x16.splat(leaf.maxDefinition as i8);
    const levels: usize = leaf.definitions + entries;
    for (let i: usize = 0; i < (batchRows as usize); i += 16) v128.store(levels + i, level);
  }
  const width = leaf.width;
  if (width == 4) out = takeAt<u32>(offset, out);
  else if (width == 8) out = takeAt<u64>(offset, out);
  else if (width == 1) out = takeAt<u8>(offset, out);
  else {
    const end = places + ((batchRows as usize) << 2);
    for (let place = places; place < end; place += 4, out += width as usize) {
      copyLoosely(out, (load<u32>(place) as usize) + offset, width);
    }
  }
  if (leaf.runOffset + wholeBytes(leaf) == first.runBytes) movePlaces(first.runBytes);
  return out;
}

// @ts-ignore: decorator
@inline
function takeAt<T>(offset: usize, out: usize): usize {
  const end = places + ((batchRows as usize) << 2);
  for (let place = places; place < end; place += 4, out += sizeof<T>()) {
    store<T>(out, load<T>((load<u32>(place) as usize) + offset));
  }
  return out;
}

/** There is room for a multiple of four places. */
function movePlaces(byteLength: u32): void {
  const bytes = i32x4.splat(byteLength as i32);
  const end = places + ((batchRows as usize) << 2);
  for (let place = places; place < end; place += 16) v128.store(place, i32x4.add(v128.load(place), bytes));
}

function takeAll<T>(out: usize): usize {
  const end = places + ((batchRows as usize) << 2);
  for (let place = places; place < end; place += 4) {
    const p = load<u32>(place) as usize;
    store<T>(out, load<T>(p));
    store<u32>(place, (p + sizeof<T>()) as u32);
    out += sizeof<T>();
  }
  return out;
}

function takeFixed(width: u32, out: usize): usize {
  const end = places + ((batchRows as usize) << 2);
  for (let place = places; place < end; place += 4) {
    const p = load<u32>(place) as usize;
    copyLoosely(out, p, width);
    store<u32>(place, (p + (width as usize)) as u32);
    out += width as usize;
  }
  return out;
}

function takeBytes(out: usize): usize {
  const end = places + ((batchRows as usize) << 2);
  for (let place = places; place < end; place += 4) {
    const p = load<u32>(place) as usize;
    const byteLength = 4 + load<u32>(p);
    copyLoosely(out, p, byteLength);
    store<u32>(place, (p + (byteLength as usize)) as u32);
    out += byteLength as usize;
  }
  return out;
}

function takeOptional<T>(leaf: EncodedLeaf, entries: u32, out: usize): usize {
  const from = out;
  const highest = leaf.maxDefinition;
  let level: usize = leaf.definitions + entries;
  const end = places + ((batchRows as usize) << 2);
  for (let place = places; place < end; place += 4) {
    const p = load<u32>(place) as usize;
    const definition: u32 = load<u8>(p);
    store<u8>(level, definition as u8);
    level += 1;
    store<T>(out, load<T>(p, 1));
    const byteLength: usize = select<usize>(sizeof<T>(), 0, definition == highest);
    store<u32>(place, (p + 1 + byteLength) as u32);
    out += byteLength;
  }
  leaf.valueCount += ((out - from) / sizeof<T>()) as u32;
  return out;
}

function takeOptionalFixed(leaf: EncodedLeaf, entries: u32, out: usize): usize {
  const level: usize = leaf.definitions + entries;
  for (let i: usize = 0; i < (batchRows as usize); i++) {
    const place = places + (i << 2);
    const p = (load<u32>(place) as usize) + 1;
    const definition: u32 = load<u8>(p - 1);
    store<u8>(level + i, definition as u8);
    const byteLength = definition == leaf.maxDefinition ? leaf.width : 0;
    copyLoosely(out, p, byteLength);
    store<u32>(place, (p as u32) + byteLength);
    out += byteLength as usize;
    leaf.valueCount += u32(byteLength != 0);
  }
  return out;
}

function takeOptionalBytes(leaf: EncodedLeaf, entries: u32, out: usize): usize {
  const level: usize = leaf.definitions + entries;
  let count: u32 = 0;
  for (let i: usize = 0; i < (batchRows as usize); i++) {
    const place = places + (i << 2);
    const p = (load<u32>(place) as usize) + 1;
    const definition: u32 = load<u8>(p - 1);
    store<u8>(level + i, definition as u8);
    let byteLength: u32 = 0;
    if (definition == leaf.maxDefinition) {
      byteLength = 4 + load<u32>(p);
      copyLoosely(out, p, byteLength);
      count += 1;
    }
    store<u32>(place, (p as u32) + byteLength);
    out += byteLength as usize;
  }
  leaf.valueCount += count;
  return out;
}

function takeRepeated(leaf: EncodedLeaf, out: usize): usize {
  for (let i: usize = 0; i < (batchRows as usize); i++) {
    const place = places + (i << 2);
    let p = load<u32>(place) as usize;
    const head = load<u32>(p);
    const entries = head & ~ALL_HIGHEST;
    const repetitions: usize = leaf.repetitions + leaf.entries;
    const definitions: usize = leaf.definitions + leaf.entries;
    p += 4;
    if (leaf.maxRepetition > 1) {
      copyLoosely(repetitions, p, entries);
      p += entries as usize;
    } else {
      memory.fill(repetitions, 1, entries);
      store<u8>(repetitions, 0);
    }
    let values = entries;
    if ((head & ALL_HIGHEST) == 0) {
      copyLoosely(definitions, p, entries);
      values = countHighest(p, entries, leaf.maxDefinition);
      p += entries as usize;
    } else {
      memory.fill(definitions, leaf.maxDefinition as u8, entries);
    }
    leaf.entries += entries;
    leaf.valueCount += values;
    const byteLength = leaf.width != 0 ? leaf.width * values : bytesOfArrays(p, values);
    copyLoosely(out, p, byteLength);
    store<u32>(place, (p as u32) + byteLength);
    out += byteLength as usize;
  }
  return out;
}

/** Returns the bytes of arrays with their lengths. */
export function bytesOfArrays(from: usize, count: u32): u32 {
  let p = from;
  for (; count != 0; count--) p += 4 + (load<u32>(p) as usize);
  return (p - from) as u32;
}
