// A page of data, version 1: repetition levels and definition levels, each after its byte length, where a leaf has them;
// then the values.

import { deltaBound, encodeDelta } from './encode-delta';
import { encodeHybrid, hybridBound, packBooleans } from './encode-hybrid';
import { EncodedLeaf, INDEXED } from './encode-leaf';

// Numbers of parquet.thrift.
const DELTA_BINARY_PACKED: u32 = 5;
const RLE_DICTIONARY: u32 = 8;

/** Bits that numbers up to `most` take. */
// @ts-ignore: decorator
@inline
function bitsOf(most: u32): u32 {
  return 32 - clz<u32>(most);
}

/** A width of 0 is something that some readers do not expect. */
function indexBits(leaf: EncodedLeaf): u32 {
  return max<u32>(bitsOf(max<u32>(leaf.dictionaryCount, 1) - 1), 1);
}

/** The most bytes of the page in any encoding that its type can have. */
export function pageBound(address: usize): u32 {
  const leaf = changetype<EncodedLeaf>(address);
  let bound: u32 = 64;
  if (leaf.maxRepetition != 0) bound += 4 + hybridBound(leaf.entries, bitsOf(leaf.maxRepetition));
  if (leaf.maxDefinition != 0) bound += 4 + hybridBound(leaf.entries, bitsOf(leaf.maxDefinition));
  if (leaf.mode == INDEXED) return bound + hybridBound(leaf.valueCount, indexBits(leaf));
  if (leaf.width != 4 && leaf.width != 8) return bound + leaf.valueBytes;
  return bound + max<u32>(leaf.valueBytes, deltaBound(leaf.valueCount, leaf.width));
}

/** @returns its bytes. */
export function encodePage(address: usize, encoding: u32, out: usize): u32 {
  const leaf = changetype<EncodedLeaf>(address);
  const start = out;
  if (leaf.maxRepetition != 0) out = storeLevels(leaf.repetitions, leaf.entries, leaf.maxRepetition, out);
  if (leaf.maxDefinition != 0) out = storeLevels(leaf.definitions, leaf.entries, leaf.maxDefinition, out);
  return (out - start) as u32 + encodeValues(address, encoding, leaf.values, leaf.valueCount, leaf.valueBytes, out);
}

function storeLevels(from: usize, count: u32, most: u32, out: usize): usize {
  const end = encodeHybrid<u8>(from, count, bitsOf(most), out + 4);
  store<u32>(out, (end - out - 4) as u32);
  return end;
}

/** @returns the bytes of values that lie at `from` as those of the leaf do. */
export function encodeValues(address: usize, encoding: u32, from: usize, count: u32, byteLength: u32, out: usize): u32 {
  const leaf = changetype<EncodedLeaf>(address);
  if (encoding == RLE_DICTIONARY) {
    const width = indexBits(leaf);
    store<u8>(out, width as u8);
    return (encodeHybrid<u32>(from, count, width, out + 1) - out) as u32;
  }
  if (encoding == DELTA_BINARY_PACKED) {
    const end = leaf.width == 4 ? encodeDelta<i32>(from, count, out) : encodeDelta<i64>(from, count, out);
    return (end - out) as u32;
  }
  if (leaf.isBoolean != 0) return (packBooleans(from, count, out) - out) as u32;
  memory.copy(out, from, byteLength);
  return byteLength;
}
