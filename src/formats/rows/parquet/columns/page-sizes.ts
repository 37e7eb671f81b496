/** How large pages and dictionaries become, and what memory that takes: a function of the columns alone. */
import type { CarriedDictionary } from '../carried-dictionary.js';
import { type Leaf, valueBytesOf } from '../leaf.js';

const MIB = 1024 * 1024;
/** All open pages together; their dictionaries may take as much again. */
const OPEN_BYTES = 24 * MIB;
const MOST_PAGE_BYTES = MIB;
/** Smaller ones would be mostly headers. */
const LEAST_PAGE_BYTES = 8 * 1024;
/** Some batches. */
export const STAGE_BYTES = 256 * 1024;
export const MOST_DICTIONARY_ENTRIES = 32768;

/**
 * Returns the bytes of the pages of each leaf, before compression. Only a batch of rows with a longer value makes a
 * larger one.
 */
export function pageBytesOf(leafCount: number): number {
  const share = Math.floor(OPEN_BYTES / leafCount / 1024) * 1024;
  return Math.min(Math.max(share, LEAST_PAGE_BYTES), MOST_PAGE_BYTES);
}

/** Bytes of column memory that a writer needs at most, unless a row is longer than a page. */
export function rowGroupWriterBytes(leaves: readonly Leaf[], carried: readonly CarriedDictionary[] = []): number {
  const pageBytes = pageBytesOf(leaves.length);
  const ofLeaf = (leaf: Leaf, index: number) => {
    const { count = 0, values } = carried.find((dictionary) => dictionary.leaf === index) ?? {};
    const entries = Math.min(dictionaryLimitOf(pageBytes) / Math.max(valueBytesOf(leaf), 4), MOST_DICTIONARY_ENTRIES);
    // Where there is a table of values, a page has an index of four bytes beside each level, unless most values are null.
    const levels = leaf.maxDefinition === 0 ? 0 : leaf.maxRepetition === 0 ? 0.3 * pageBytes : pageBytes;
    // Its page is compressed at once.
    const carriedBytes = 3 * (values?.byteLength ?? 0) + 4 * count;
    return (
      pageBytes +
      Math.ceil(levels) +
      dictionaryLimitOf(pageBytes) +
      carriedBytes +
      4 * slotCountOf(entries + count) +
      1024
    );
  };
  // The area, and what Snappy and LZ4 compress to.
  return leaves.reduce((sum, leaf, i) => sum + ofLeaf(leaf, i), 2 * STAGE_BYTES + 5 * pageBytes);
}

/** The dictionary that has more bytes ends. */
export function dictionaryLimitOf(pageBytes: number): number {
  return pageBytes / 2;
}

/** A table of so many entries leaves the core's cache if it has more slots. */
const ENTRIES_OF_DENSE_SLOTS = 8192;

/** Indexes of small tables take a third longer with twice as many slots as entries than with four times as many. */
export function slotCountOf(entries: number): number {
  return slotsOf(entries <= ENTRIES_OF_DENSE_SLOTS ? entries : Math.max(ENTRIES_OF_DENSE_SLOTS, entries / 2));
}

/** Returns the slots of a hash table: a power of 2, at least four times the entries. */
export function slotsOf(entries: number): number {
  return 2 ** (32 - Math.clz32(4 * Math.ceil(entries) - 1));
}
