/**
 * Finds where the chunks of a dataset lie. The grid of chunks is numbered in row-major order. An index is read as far
 * as a reader asks for chunks: those of some rows at a time.
 */
import { MOST_LEVELS, recordsOfTree, treeNode } from './b-trees.js';
import { CHECKSUM_BYTES, type Cursor, type Hdf5Bytes, Hdf5Problem } from './hdf5-bytes.js';
import type { ChunkLayout, Shape } from './object-messages.js';

export interface StoredChunk {
  readonly address: number;
  readonly byteLength: number;
  /** A bit for each filter of the dataset that it did not go through. */
  readonly mask: number;
}

/** @param place in the grid. @returns undefined: it was never written. */
export type FindChunk = (place: readonly number[]) => StoredChunk | undefined;

interface IndexedDataset {
  readonly file: Hdf5Bytes;
  readonly layout: ChunkLayout;
  readonly shape: Shape;
  /** The bytes of a chunk without filters. */
  readonly chunkBytes: number;
  readonly filterCount: number;
}

export function chunkFinder(dataset: IndexedDataset): FindChunk {
  const { layout, shape, filterCount } = dataset;
  const find = finderOf(dataset);
  if (!layout.plainEdges) return find;
  return (place) => {
    const chunk = find(place);
    const isEdge = place.some((each, i) => (each + 1) * (layout.lengths[i] ?? 1) > (shape.lengths[i] ?? 0));
    return chunk && isEdge ? { ...chunk, mask: 2 ** filterCount - 1 } : chunk;
  };
}

function finderOf(dataset: IndexedDataset): FindChunk {
  const { layout, chunkBytes } = dataset;
  const { address } = layout;
  if (address === undefined) return () => undefined;
  switch (layout.index) {
    case 'tree':
      return treeFinder(dataset, address);
    case 'tree2':
      return tree2Finder(dataset, address);
    case 'single': {
      const { byteLength = chunkBytes, mask = 0 } = layout.single ?? {};
      return () => ({ address, byteLength, mask });
    }
    default:
      return arrayFinder(dataset, address);
  }
}

/** A B-tree of version 1, sorted by the first element of a chunk. */
function treeFinder({ file, layout, shape }: IndexedDataset, root: number): FindChunk {
  const keyBytes = 8 + 8 * (shape.lengths.length + 1);
  const entryBytes = keyBytes + 8;
  return (place) => {
    const start = place.map((each, i) => each * (layout.lengths[i] ?? 1));
    /** Returns a number above 0 if the key of an entry is after the chunk. */
    const compare = (entries: Cursor, i: number) => {
      entries.at = i * entryBytes + 8;
      for (const each of start) {
        const difference = entries.u64() - each;
        if (difference !== 0) return difference;
      }
      return 0;
    };
    let address = root;
    for (let depth = 0; depth < MOST_LEVELS; depth++) {
      const { level, count, entries } = treeNode(file, address, 1, keyBytes);
      let [low, high] = [0, count];
      while (low < high) {
        const middle = (low + high) >> 1;
        if (compare(entries, middle) <= 0) low = middle + 1;
        else high = middle;
      }
      if (low === 0 || (level === 0 && compare(entries, low - 1) !== 0)) return undefined;
      entries.at = (low - 1) * entryBytes;
      const [byteLength, mask] = [entries.u32(), entries.u32()];
      address = entries.skip(keyBytes - 8).u64();
      if (level === 0) return { address, byteLength, mask };
    }
    throw new Hdf5Problem(`the B-tree at byte ${root} has no end`);
  };
}

/** A B-tree of version 2, of datasets without a limit in several dimensions. It is read whole. */
function tree2Finder({ file, shape, chunkBytes }: IndexedDataset, root: number): FindChunk {
  const placeBytes = 8 * shape.lengths.length;
  const chunks = new Map<string, StoredChunk>();
  for (const record of recordsOfTree(file, root)) {
    const chunk = storedChunk(record, record.left - placeBytes, chunkBytes);
    if (chunk !== undefined) chunks.set(shape.lengths.map(() => record.u64()).join(), chunk);
  }
  return (place) => chunks.get(place.join());
}

/** Entries of all newer indexes: an address, and of a filtered chunk its length and its mask. */
function storedChunk(entry: Cursor, entryBytes: number, chunkBytes: number): StoredChunk | undefined {
  const address = entry.u64OrNone();
  const [byteLength, mask] = entryBytes > 8 ? [entry.uint(entryBytes - 12), entry.u32()] : [chunkBytes, 0];
  return address === undefined ? undefined : { address, byteLength, mask };
}

/** Indexes whose entries are numbered as the chunks of the largest grid that the dataset may have. */
function arrayFinder({ file, layout, shape, chunkBytes }: IndexedDataset, address: number): FindChunk {
  const most = shape.mostLengths.map((length, i) =>
    length === null ? null : Math.ceil(length / (layout.lengths[i] ?? 1)),
  );
  // The dimension without a limit counts as the first one.
  const endless = most.indexOf(null);
  const order = [...most.keys()].sort((a, b) => Number(b === endless) - Number(a === endless));
  const numberOf = (place: readonly number[]) =>
    order.reduce((number, dimension) => number * (most[dimension] ?? 1) + (place[dimension] ?? 0), 0);
  if (layout.index === 'implicit')
    return (place) => ({ address: address + numberOf(place) * chunkBytes, byteLength: chunkBytes, mask: 0 });
  const { entryBytes, find } = layout.index === 'fixed' ? fixedArray(file, address) : extensibleArray(file, address);
  return (place) => {
    const entry = find(numberOf(place));
    return entry && storedChunk(entry, entryBytes, chunkBytes);
  };
}

interface EntryArray {
  readonly entryBytes: number;
  /** @returns undefined: it was never written. */
  find(number: number): Cursor | undefined;
}

/** The head of a block: signature, version, kind, address of the header. */
const BLOCK_HEAD_BYTES = 14;

interface Block {
  readonly address: number;
  /** The bytes before the entries; or before the checksum that is before the first page of them. */
  readonly headBytes: number;
  readonly count: number;
  readonly entryBytes: number;
  readonly pageEntries: number;
  isThere(page: number): boolean;
}

/** Returns an entry. In a block with many entries, these lie in pages. */
function entryOf(file: Hdf5Bytes, block: Block, number: number): Cursor | undefined {
  const { address, headBytes, count, entryBytes, pageEntries } = block;
  if (number >= count) return undefined;
  if (count <= pageEntries)
    return file.checked(address, headBytes + count * entryBytes + CHECKSUM_BYTES).skip(headBytes + number * entryBytes);
  const page = Math.floor(number / pageEntries);
  if (!block.isThere(page)) return undefined;
  const first = page * pageEntries;
  const at = address + headBytes + CHECKSUM_BYTES + first * entryBytes + page * CHECKSUM_BYTES;
  const pageBytes = Math.min(pageEntries, count - first) * entryBytes;
  return file.checked(at, pageBytes + CHECKSUM_BYTES).skip((number - first) * entryBytes);
}

function bitIn(bitmap: Buffer, bit: number): boolean {
  return (((bitmap[bit >> 3] ?? 0) << (bit & 7)) & 0x80) !== 0;
}

function fixedArray(file: Hdf5Bytes, header: number): EntryArray {
  const cursor = file.checked(header, 28).expect('FAHD').skip(2);
  const entryBytes = cursor.u8();
  const pageEntries = 2 ** cursor.u8();
  const count = cursor.u64();
  const address = cursor.u64OrNone();
  if (address === undefined) return { entryBytes, find: () => undefined };
  const pages = count > pageEntries ? Math.ceil(count / pageEntries) : 0;
  const bitmap = file.at(address + BLOCK_HEAD_BYTES, Math.ceil(pages / 8)).take(Math.ceil(pages / 8));
  const headBytes = BLOCK_HEAD_BYTES + bitmap.byteLength;
  const isThere = (page: number) => bitIn(bitmap, page);
  return {
    entryBytes,
    find: (number) => entryOf(file, { address, headBytes, count, entryBytes, pageEntries, isThere }, number),
  };
}

/** Blocks of entries, later ones larger, after blocks of addresses. */
function extensibleArray(file: Hdf5Bytes, header: number): EntryArray {
  const cursor = file.checked(header, 72).expect('EAHD').skip(2);
  const [entryBytes, countBits, inIndex] = [cursor.u8(), cursor.u8(), cursor.u8()];
  const [leastEntries, leastPointers] = [cursor.u8(), cursor.u8()];
  const pageEntries = 2 ** cursor.u8();
  const index = cursor.skip(48).u64OrNone();
  if (index === undefined) return { entryBytes, find: () => undefined };
  const headBytes = BLOCK_HEAD_BYTES + Math.ceil(countBits / 8);
  const levels = 1 + countBits - Math.log2(leastEntries);
  const directLevels = 2 * Math.log2(leastPointers);
  const directBlocks = 2 * (leastPointers - 1);
  const entriesEnd = BLOCK_HEAD_BYTES + inIndex * entryBytes;
  const indexBytes = entriesEnd + 8 * (directBlocks + levels - directLevels) + CHECKSUM_BYTES;
  const inIndexAt = (at: number) => file.checked(index, indexBytes).skip(at);
  const find = (number: number) => {
    if (number < inIndex) return inIndexAt(BLOCK_HEAD_BYTES + number * entryBytes);
    let within = number - inIndex;
    for (let level = 0, before = 0; level < levels; level++) {
      const [blocks, count] = [2 ** Math.floor(level / 2), 2 ** Math.ceil(level / 2) * leastEntries];
      if (within >= blocks * count) {
        within -= blocks * count;
        before += blocks;
        continue;
      }
      const block = Math.floor(within / count);
      const ofBlock = { headBytes, count, entryBytes, pageEntries };
      const isDirect = level < directLevels;
      const leader = inIndexAt(entriesEnd + 8 * (isDirect ? before + block : directBlocks + level - directLevels));
      const address = leader.u64OrNone();
      if (address === undefined) return undefined;
      if (isDirect) return entryOf(file, { ...ofBlock, address, isThere: () => true }, within % count);
      const bitmapBytes = count > pageEntries ? Math.ceil(count / pageEntries / 8) : 0;
      const table = file.checked(address, headBytes + blocks * (bitmapBytes + 8) + CHECKSUM_BYTES).skip(headBytes);
      const bitmap = table.take(blocks * bitmapBytes);
      const data = table.skip(8 * block).u64OrNone();
      const isThere = (page: number) => bitIn(bitmap, 8 * bitmapBytes * block + page);
      return data === undefined ? undefined : entryOf(file, { ...ofBlock, address: data, isThere }, within % count);
    }
    return undefined;
  };
  return { entryBytes, find };
}
