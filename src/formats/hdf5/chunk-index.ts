/**
 * Where the chunks of a dataset lie. The grid of chunks is numbered in row-major order. An index is read as far as a reader
 * asks for chunks: those of some rows at a time.
 */
import { recordsOfTree } from './btree2.js';
import { CHECKSUM_BYTES, Cursor, type Hdf5Bytes, Hdf5Problem } from './hdf5-bytes.js';
import type { ChunkLayout, Shape } from './messages.js';

export interface StoredChunk {
  readonly address: number;
  readonly byteLength: number;
  /** A bit for each filter of the dataset that it did not go through. */
  readonly mask: number;
}

export interface ChunkIndex {
  /** How many chunks there are in each dimension. */
  readonly grid: readonly number[];
  /** @param place in the grid. @returns undefined: it was never written. */
  find(place: readonly number[]): StoredChunk | undefined;
}

interface IndexedDataset {
  readonly file: Hdf5Bytes;
  readonly layout: ChunkLayout;
  readonly shape: Shape;
  readonly elementBytes: number;
  readonly isFiltered: boolean;
}

export function openChunkIndex(dataset: IndexedDataset): ChunkIndex {
  const { layout, shape } = dataset;
  const grid = shape.lengths.map((length, i) => Math.ceil(length / (layout.lengths[i] ?? 1)));
  const { address } = layout;
  if (address === undefined) return { grid, find: () => undefined };
  switch (layout.index) {
    case 'tree':
      return { grid, find: treeFinder(dataset, address) };
    case 'tree2':
      return { grid, find: tree2Finder(dataset, address) };
    case 'single': {
      const { byteLength = chunkBytesOf(dataset), mask = 0 } = layout.single ?? {};
      return { grid, find: () => ({ address, byteLength, mask }) };
    }
    default:
      return { grid, find: arrayFinder(dataset, address) };
  }
}

export function chunkBytesOf({ layout, elementBytes }: Pick<IndexedDataset, 'layout' | 'elementBytes'>): number {
  return layout.lengths.reduce((product, length) => product * length, elementBytes);
}

/** Nodes that are kept: readers go through neighbours. */
const KEPT_NODES = 64;
const MOST_LEVELS = 64;

interface TreeNode {
  readonly level: number;
  readonly keys: readonly { readonly byteLength: number; readonly mask: number; readonly start: readonly number[] }[];
  readonly children: readonly number[];
}

/** A B-tree of version 1, sorted by the first element of a chunk. */
function treeFinder({ file, layout, shape }: IndexedDataset, root: number): ChunkIndex['find'] {
  const nodes = new Map<number, TreeNode>();
  const rank = shape.lengths.length;
  const nodeAt = (address: number): TreeNode => {
    const known = nodes.get(address);
    if (known !== undefined) return known;
    const head = file.at(address, 24).expect('TREE');
    if (head.u8() !== 1) throw new Hdf5Problem(`byte ${address} does not begin a node of chunks`);
    const [level, count] = [head.u8(), head.u16()];
    const keyBytes = 8 + 8 * (rank + 1);
    const entries = file.at(address + 24, count * (keyBytes + 8));
    const keys: TreeNode['keys'][number][] = [];
    const children: number[] = [];
    for (let i = 0; i < count; i++) {
      const [byteLength, mask] = [entries.u32(), entries.u32()];
      keys.push({ byteLength, mask, start: Array.from({ length: rank }, () => entries.u64()) });
      children.push(entries.skip(8).u64());
    }
    const node = { level, keys, children };
    if (nodes.size >= KEPT_NODES) nodes.clear();
    nodes.set(address, node);
    return node;
  };
  return (place) => {
    const start = place.map((each, i) => each * (layout.lengths[i] ?? 1));
    let address = root;
    for (let depth = 0; depth < MOST_LEVELS; depth++) {
      const { level, keys, children } = nodeAt(address);
      let [low, high] = [0, keys.length];
      while (low < high) {
        const middle = (low + high) >> 1;
        if (comparePlaces(keys[middle]?.start ?? [], start) <= 0) low = middle + 1;
        else high = middle;
      }
      const [key, child] = [keys[low - 1], children[low - 1]];
      if (key === undefined || child === undefined) return undefined;
      if (level === 0) {
        const { byteLength, mask } = key;
        return comparePlaces(key.start, start) === 0 ? { address: child, byteLength, mask } : undefined;
      }
      address = child;
    }
    throw new Hdf5Problem(`the B-tree at byte ${root} has no end`);
  };
}

function comparePlaces(a: readonly number[], b: readonly number[]): number {
  for (const [i, value] of a.entries()) if (value !== b[i]) return value - (b[i] ?? 0);
  return 0;
}

/** A B-tree of version 2, of datasets without a limit in several dimensions. It is read whole. */
function tree2Finder(dataset: IndexedDataset, address: number): ChunkIndex['find'] {
  const { file, shape, isFiltered } = dataset;
  const rank = shape.lengths.length;
  const chunkBytes = chunkBytesOf(dataset);
  const chunks = new Map<string, StoredChunk>();
  for (const record of recordsOfTree(file, address)) {
    const at = record.u64();
    const sizeBytes = record.left - 8 * rank - 4;
    const [byteLength, mask] = isFiltered ? [record.uint(sizeBytes), record.u32()] : [chunkBytes, 0];
    chunks.set(Array.from({ length: rank }, () => record.u64()).join(), { address: at, byteLength, mask });
  }
  return (place) => chunks.get(place.join());
}

/** Indexes whose entries are numbered as the chunks of the largest grid that the dataset may have. */
function arrayFinder(dataset: IndexedDataset, address: number): ChunkIndex['find'] {
  const { layout, shape } = dataset;
  const chunkBytes = chunkBytesOf(dataset);
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
  const entryAt = layout.index === 'fixed' ? fixedArray(dataset, address) : extensibleArray(dataset, address);
  return (place) => {
    const entry = entryAt(numberOf(place));
    const at = entry?.u64OrNone();
    if (entry === undefined || at === undefined) return undefined;
    if (entry.left === 0) return { address: at, byteLength: chunkBytes, mask: 0 };
    return { address: at, byteLength: entry.uint(entry.left - 4), mask: entry.u32() };
  };
}

type EntryAt = (number: number) => Cursor | undefined;

/** Of a block: signature, version, kind, address of the header. */
const BLOCK_HEAD_BYTES = 14;

function fixedArray({ file }: IndexedDataset, address: number): EntryAt {
  const header = file.checked(address, 28).expect('FAHD').skip(2);
  const entryBytes = header.u8();
  const pageEntries = 2 ** header.u8();
  const count = header.u64();
  const block = header.u64OrNone();
  if (block === undefined) return () => undefined;
  if (count <= pageEntries) return entriesOf(file, block, BLOCK_HEAD_BYTES, count, entryBytes);
  const pages = Math.ceil(count / pageEntries);
  const bitmap = file.at(block + BLOCK_HEAD_BYTES, Math.ceil(pages / 8)).take(Math.ceil(pages / 8));
  const first = block + BLOCK_HEAD_BYTES + bitmap.byteLength + CHECKSUM_BYTES;
  return pagedEntries({ file, first, count, pageEntries, entryBytes, isThere: bitIn(bitmap, 0) });
}

function bitIn(bitmap: Buffer, first: number): (number: number) => boolean {
  return (number) => (((bitmap[(first + number) >> 3] ?? 0) << ((first + number) & 7)) & 0x80) !== 0;
}

interface Pages {
  readonly file: Hdf5Bytes;
  readonly first: number;
  readonly count: number;
  readonly pageEntries: number;
  readonly entryBytes: number;
  isThere(page: number): boolean;
}

function pagedEntries({ file, first, count, pageEntries, entryBytes, isThere }: Pages): EntryAt {
  let known: { readonly page: number; readonly entryAt: EntryAt } | undefined;
  return (number) => {
    const page = Math.floor(number / pageEntries);
    if (!isThere(page)) return undefined;
    if (known?.page !== page) {
      const at = first + page * (pageEntries * entryBytes + CHECKSUM_BYTES);
      const ofPage = Math.min(pageEntries, count - page * pageEntries);
      known = { page, entryAt: entriesOf(file, at, 0, ofPage, entryBytes) };
    }
    return known.entryAt(number % pageEntries);
  };
}

/** @param before bytes of the block before its entries. */
function entriesOf(file: Hdf5Bytes, address: number, before: number, count: number, entryBytes: number): EntryAt {
  const entries = file
    .checked(address, before + count * entryBytes + CHECKSUM_BYTES)
    .skip(before)
    .take(count * entryBytes);
  return (number) =>
    number < count ? new Cursor(entries.subarray(number * entryBytes, (number + 1) * entryBytes), address) : undefined;
}

/** Blocks of entries, later ones larger, behind blocks of addresses. */
function extensibleArray({ file }: IndexedDataset, address: number): EntryAt {
  const header = file.checked(address, 72).expect('EAHD').skip(2);
  const entryBytes = header.u8();
  const countBits = header.u8();
  const inIndex = header.u8();
  const leastEntries = header.u8();
  const leastPointers = header.u8();
  const pageEntries = 2 ** header.u8();
  const index = header.skip(48).u64OrNone();
  if (index === undefined) return () => undefined;
  const offsetBytes = Math.ceil(countBits / 8);
  const levels = Array.from({ length: 1 + countBits - Math.log2(leastEntries) }, (_, level) => ({
    blocks: 2 ** Math.floor(level / 2),
    entries: 2 ** Math.ceil(level / 2) * leastEntries,
  }));
  const directLevels = 2 * Math.log2(leastPointers);
  const directBlocks = 2 * (leastPointers - 1);
  const body = file
    .checked(
      index,
      BLOCK_HEAD_BYTES + inIndex * entryBytes + 8 * (directBlocks + levels.length - directLevels) + CHECKSUM_BYTES,
    )
    .expect('EAIB')
    .skip(BLOCK_HEAD_BYTES - 4);
  const first = body.take(inIndex * entryBytes);
  const addresses = Array.from({ length: body.left / 8 }, () => body.u64OrNone());
  const blocks = new Map<number, EntryAt>();
  const blockAt = (at: number, entries: number, isThere: (page: number) => boolean): EntryAt => {
    const known = blocks.get(at);
    if (known !== undefined) return known;
    const before = BLOCK_HEAD_BYTES + offsetBytes;
    const entryAt =
      entries <= pageEntries
        ? entriesOf(file, at, before, entries, entryBytes)
        : pagedEntries({ file, first: at + before + CHECKSUM_BYTES, count: entries, pageEntries, entryBytes, isThere });
    if (blocks.size >= KEPT_NODES) blocks.clear();
    blocks.set(at, entryAt);
    return entryAt;
  };
  return (number) => {
    if (number < inIndex) return new Cursor(first.subarray(number * entryBytes, (number + 1) * entryBytes), index);
    let within = number - inIndex;
    let direct = 0;
    for (const [level, { blocks: blockCount, entries }] of levels.entries()) {
      if (within >= blockCount * entries) {
        within -= blockCount * entries;
        direct += blockCount;
        continue;
      }
      const block = Math.floor(within / entries);
      const isDirect = level < directLevels;
      const leader = isDirect ? addresses[direct + block] : addresses[directBlocks + level - directLevels];
      if (leader === undefined) return undefined;
      if (isDirect) return blockAt(leader, entries, () => true)(within % entries);
      const pageCount = entries > pageEntries ? entries / pageEntries : 0;
      const bitmapBytes = Math.ceil(pageCount / 8);
      const head = BLOCK_HEAD_BYTES + offsetBytes;
      const table = file.checked(leader, head + blockCount * (bitmapBytes + 8) + CHECKSUM_BYTES).expect('EASB');
      const bitmap = table.skip(head - 4).take(blockCount * bitmapBytes);
      const at = table.skip(8 * block).u64OrNone();
      return at === undefined
        ? undefined
        : blockAt(at, entries, bitIn(bitmap, 8 * bitmapBytes * block))(within % entries);
    }
    return undefined;
  };
}
