/** Writes a B-tree of version 1 over chunks: the index that all libraries read. */
import { packFields } from './hdf5-bytes.js';

export interface TreeEntry {
  /** The place in the grid. */
  readonly place: readonly number[];
  readonly address: number;
  readonly byteLength: number;
  readonly mask: number;
}

interface ChunksToIndex {
  readonly count: number;
  readonly chunkLengths: readonly number[];
  readonly elementBytes: number;
  /** Returns an entry in row-major order. */
  entryAt(i: number): TreeEntry;
}

/** The number that libraries take for granted where a file does not say it. */
const MOST_ENTRIES = 64;
const HEAD_BYTES = 24;
const SIGNATURE = Buffer.from('TREE');

interface WrittenTree {
  /** The address of the root. Undefined: there are no chunks, and no tree. */
  readonly root: number | undefined;
  readonly byteLength: number;
  nodes(): Generator<Uint8Array, void>;
}

/** @param address of the tree in the file. */
export function chunkTree(chunks: ChunksToIndex, address: number): WrittenTree {
  const { count: chunkCount, chunkLengths, elementBytes } = chunks;
  const keyBytes = 8 + 8 * (chunkLengths.length + 1);
  const nodeBytes = HEAD_BYTES + MOST_ENTRIES * (keyBytes + 8) + keyBytes;
  /** Nodes of each level, from the leaves up. */
  const counts: number[] = [];
  for (let count = chunkCount; count > (counts.length === 0 ? 0 : 1); ) {
    count = Math.ceil(count / MOST_ENTRIES);
    counts.push(count);
  }
  const byteLength = nodeBytes * counts.reduce((sum, count) => sum + count, 0);
  const addressOf = (node: number) => address + node * nodeBytes;
  /** The last key is after all chunks. */
  const keyOf = (i: number) => {
    const isLast = i >= chunkCount;
    const entry = chunks.entryAt(isLast ? chunkCount - 1 : i);
    const start = entry.place.map((each, i) => (each + Number(isLast)) * (chunkLengths[i] ?? 1));
    const numbers = [...start, isLast ? elementBytes : 0].map((each) => [each, 8] as const);
    return packFields([isLast ? 0 : entry.byteLength, 4], [isLast ? 0 : entry.mask, 4], ...numbers);
  };
  /** @param before nodes of lower levels. */
  const nodeOf = (level: number, node: number, before: number) => {
    const [below, count] = [counts[level - 1] ?? chunkCount, counts[level] ?? 1];
    const first = node * MOST_ENTRIES;
    const end = Math.min(below, first + MOST_ENTRIES);
    const span = MOST_ENTRIES ** level;
    const left = node === 0 ? undefined : addressOf(before + node - 1);
    const right = node === count - 1 ? undefined : addressOf(before + node + 1);
    const parts = [packFields(SIGNATURE, [1, 1], [level, 1], [end - first, 2], [left, 8], [right, 8])];
    for (let i = first; i < end; i++) {
      const child = level === 0 ? chunks.entryAt(i).address : addressOf(before - below + i);
      parts.push(keyOf(i * span), packFields([child, 8]));
    }
    return Buffer.concat([...parts, keyOf(end * span)], nodeBytes);
  };
  return {
    root: chunkCount === 0 ? undefined : address + byteLength - nodeBytes,
    byteLength,
    *nodes() {
      let before = 0;
      for (const [level, count] of counts.entries()) {
        for (let node = 0; node < count; node++) yield nodeOf(level, node, before);
        before += count;
      }
    },
  };
}
