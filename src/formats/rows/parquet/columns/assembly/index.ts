// The loops over pages, levels and values of columns, in a linear memory of their own. Regions come and go in it: pages
// have any size.

/** @returns the address of a new region, aligned to 16 bytes. */
export function allocate(byteLength: usize): usize {
  return heap.alloc(byteLength);
}

export function release(address: usize): void {
  heap.free(address);
}

export { blockBound, blockTableBytes, encodeBlock } from './encode-blocks';
export { findBounds, leastAt, leastBytes, mostAt, mostBytes } from './encode-bounds';
export { beginDictionary, fillSlots, indexSample } from './encode-dictionary';
export { clear, copy, encodedLeafBytes, setWord, word } from './encode-leaf';
export { encodePage, encodeValues, pageBound } from './encode-page';
export { beginSplitting, bytesOfArrays, faultyLeaf, findRuns, newEntries, rowsOfBatch, splitBatch, walkBatch } from './split-rows';
export { decodeHadoopLz4, decodeLz4, decodeSnappy } from './decode-blocks';
export { decodeDelta32, decodeDelta64, decodeDeltaLengths, decodePrefixes, expandedBytes, expandPrefixes } from './decode-delta';
export {
  decodeBitPackedLevels,
  decodeIndexes,
  decodeLevels,
  decodeRunBooleans,
  levelCount,
  mapLevels,
  unpackBooleans,
} from './decode-hybrid';
export { checkByteArrays, joinByteStreams, tabulateByteArrays } from './decode-plain';
export { problem, problemAt } from './decode-problem';
export { findStarved, joinedBytes, joinRows, neededBytes, skipRows } from './join-rows';
export { carryEntries, entriesBeforeRow, valueBytesOfEntries } from './leaf-state';
