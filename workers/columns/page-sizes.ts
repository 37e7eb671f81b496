/** How large pages and dictionaries become, and what memory that takes: a function of the columns alone. */
import type { KeptDictionary } from '../../src/formats/parquet/kept-dictionary.js';
import { type Leaf, valueBytesOf } from '../../src/formats/parquet/leaf.js';

const MIB = 1024 * 1024;
/** All open pages together; their dictionaries may take as much again. */
const OPEN_BYTES = 24 * MIB;
const MOST_PAGE_BYTES = MIB;
/** Smaller ones would be mostly headers. */
const LEAST_PAGE_BYTES = 8 * 1024;
/** Some batches. */
export const STAGE_BYTES = 256 * 1024;
export const MOST_DICTIONARY_ENTRIES = 32768;

/** Of the pages of each leaf, before compression. Only a batch of rows with a longer value makes a larger one. */
export function pageBytesOf(leafCount: number): number {
  const share = Math.floor(OPEN_BYTES / leafCount / 1024) * 1024;
  return Math.min(Math.max(share, LEAST_PAGE_BYTES), MOST_PAGE_BYTES);
}

/** Bytes of column memory that a writer needs at most, unless a row is longer than a page. */
export function rowGroupWriterBytes(leaves: readonly Leaf[], kept: readonly KeptDictionary[] = []): number {
  const pageBytes = pageBytesOf(leaves.length);
  const ofLeaf = (leaf: Leaf, index: number) => {
    const { count = 0, values } = kept.find((dictionary) => dictionary.leaf === index) ?? {};
    const entries = Math.min(dictionaryLimitOf(pageBytes) / Math.max(valueBytesOf(leaf), 4), MOST_DICTIONARY_ENTRIES);
    const levels = leaf.maxDefinition === 0 ? 0 : leaf.maxRepetition === 0 ? pageBytes / 2 : pageBytes;
    // Its page is compressed at once.
    const keptBytes = 2.5 * (values?.byteLength ?? 0) + 4 * count;
    return pageBytes + levels + dictionaryLimitOf(pageBytes) + keptBytes + 4 * slotsOf(entries + count) + 1024;
  };
  // The area, and what Snappy and LZ4 compress to.
  return leaves.reduce((sum, leaf, i) => sum + ofLeaf(leaf, i), 2 * STAGE_BYTES + 5 * pageBytes);
}

/** The dictionary that has more bytes ends. */
export function dictionaryLimitOf(pageBytes: number): number {
  return pageBytes / 2;
}

/** A power of 2, at least four times the entries: with twice as many, indexes take a third longer. */
export function slotsOf(entries: number): number {
  return 2 ** (32 - Math.clz32(4 * Math.ceil(entries) - 1));
}
