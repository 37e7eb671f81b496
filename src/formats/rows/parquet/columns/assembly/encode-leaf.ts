// What is gathered of one leaf for its next page. JavaScript reads and writes the same words, by their places
// (leaf-encoder.ts), and makes the room that a batch of rows needs.

/** Values are looked at before it is decided how they are encoded. */
export const SAMPLING: u32 = 0;
/** `values` has them as PLAIN stores them, a BOOLEAN as one byte. */
export const RAW: u32 = 1;
/** `values` has u32 indexes of the dictionary. */
export const INDEXED: u32 = 2;

@unmanaged
export class EncodedLeaf {
  /** Bytes of each value; 0: BYTE_ARRAY. */
  width: u32;
  isBoolean: u32;
  maxDefinition: u32;
  maxRepetition: u32;
  /** The most bytes of a page, levels as single bytes; only one batch may have more. */
  pageBytes: u32;
  /** A dictionary that has more bytes, or more entries, ends before the next batch; so it does before a batch of more bytes. */
  dictionaryLimit: u32;
  entryLimit: u32;
  batchLimit: u32;
  sampleValues: u32;
  mode: u32;

  values: u32;
  valueCapacity: u32;
  valueBytes: u32;
  valueCount: u32;
  definitions: u32;
  repetitions: u32;
  levelCapacity: u32;
  entries: u32;

  /** Its values as PLAIN stores them. */
  dictionary: u32;
  dictionaryCapacity: u32;
  dictionaryBytes: u32;
  dictionaryCount: u32;
  /** A hash table: u32 each, an index and 1; 0: free. A power of 2 of them, at least twice as many as entries. */
  slots: u32;
  slotCount: u32;
  /** The start of each value of the dictionary in it; only for BYTE_ARRAY. */
  offsets: u32;
  offsetCapacity: u32;

  /** The most bytes of the batch that is split, and entries if the leaf may repeat. */
  batchBytes: u32;
  batchEntries: u32;

  // Only split-rows.ts knows the words from here on.

  /** The index of the first leaf of its run. */
  runFirst: u32;
  /** The bytes before it in a row whose run is whole. */
  runOffset: u32;

  /** Of the first leaf of a run: the index after the last one. */
  runEnd: u32;
  /** Of the first leaf of a run: the bytes that a whole run has in a row. Of all others 0. */
  runBytes: u32;
  /** Of the first leaf of a run: the rows of the batch in which the run is whole. */
  runRows: u32;
}

/** The most bytes that a whole run has in a row. */
export const MOST_RUN_BYTES: u32 = 128;

/** Returns the place of the bits of a whole run that must be right, as bytes of a row; after them, what they must be. */
// @ts-ignore: decorator
@inline
export function runBits(first: EncodedLeaf): usize {
  return changetype<usize>(first) + offsetof<EncodedLeaf>();
}

export function encodedLeafBytes(): u32 {
  return offsetof<EncodedLeaf>() + 2 * MOST_RUN_BYTES;
}

// @ts-ignore: decorator
@inline
export function leafAt(leaves: usize, index: u32): EncodedLeaf {
  return changetype<EncodedLeaf>(leaves + (index as usize) * (encodedLeafBytes() as usize));
}

export function word(address: usize): u32 {
  return load<u32>(address);
}

export function setWord(address: usize, value: u32): void {
  store<u32>(address, value);
}

export function clear(address: usize, byteLength: u32): void {
  memory.fill(address, 0, byteLength);
}

export function copy(to: usize, from: usize, byteLength: u32): void {
  memory.copy(to, from, byteLength);
}
