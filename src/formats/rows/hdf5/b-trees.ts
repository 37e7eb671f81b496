/** B-trees of both versions. */
import { bytesFor, CHECKSUM_BYTES, Cursor, type Hdf5Bytes, Hdf5Problem } from './hdf5-bytes.js';

export const MOST_LEVELS = 64;
const HEAD_BYTES = 24;
const ADDRESS_BYTES = 8;

/** A node of a tree of version 1. Its entries are a key and an address each; another key follows the last one. */
interface TreeNode {
  readonly level: number;
  readonly count: number;
  readonly entries: Cursor;
}

/** @param kind 0: of links, 1: of chunks. */
export function treeNode(file: Hdf5Bytes, address: number, kind: 0 | 1, keyBytes: number): TreeNode {
  const head = file.cached(address, HEAD_BYTES).expect('TREE');
  if (head.u8() !== kind) throw new Hdf5Problem(`the B-tree at byte ${address} is of another kind`);
  const [level, count] = [head.u8(), head.u16()];
  if (level > MOST_LEVELS) throw new Hdf5Problem(`the B-tree at byte ${address} has no end`);
  return { level, count, entries: file.cached(address + HEAD_BYTES, count * (keyBytes + ADDRESS_BYTES)) };
}

const HEADER_BYTES = 38;
/** The bytes of a node of version 2 around its content: signature, version, type, checksum. */
const AROUND_BYTES = 6 + CHECKSUM_BYTES;

/** All records of a tree of version 2, of one length, in their order. */
export function* recordsOfTree(file: Hdf5Bytes, address: number): Generator<Cursor> {
  const header = file.checked(address, HEADER_BYTES).expect('BTHD').skip(2);
  const [nodeBytes, recordBytes, depth] = [header.u32(), header.u16(), header.u16()];
  const root = header.skip(2).u64OrNone();
  if (depth > MOST_LEVELS || recordBytes === 0) throw new Hdf5Problem(`the B-tree at byte ${address} is damaged`);
  // The numbers of records in a node, and below it, have as many bytes as the largest need.
  let below = Math.floor((nodeBytes - AROUND_BYTES) / recordBytes);
  const countBytes = bytesFor(below);
  const pointerBytes = [0];
  for (let level = 1; level <= depth; level++) {
    const pointer = ADDRESS_BYTES + countBytes + (level > 1 ? bytesFor(below) : 0);
    pointerBytes.push(pointer);
    const most = Math.floor((nodeBytes - AROUND_BYTES - pointer) / (recordBytes + pointer));
    below = (most + 1) * below + most;
  }
  function* walk(position: number, count: number, level: number): Generator<Cursor> {
    const pointer = pointerBytes[level] ?? 0;
    const node = file.checked(position, AROUND_BYTES + count * recordBytes + (count + 1) * pointer);
    const records = node
      .expect(level === 0 ? 'BTLF' : 'BTIN')
      .skip(2)
      .take(count * recordBytes);
    for (let i = 0; i <= count; i++) {
      if (level > 0) {
        const child = new Cursor(node.take(pointer), position);
        yield* walk(child.u64(), child.uint(countBytes), level - 1);
      }
      if (i < count) yield new Cursor(records.subarray(i * recordBytes, (i + 1) * recordBytes), position);
    }
  }
  if (root !== undefined) yield* walk(root, header.u16(), depth);
}
