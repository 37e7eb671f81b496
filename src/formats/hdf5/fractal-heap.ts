/** Fractal heaps: where groups with many links, and objects with many attributes, keep their messages. */
import { recordsOfTree } from './btree2.js';
import { bytesFor } from './datatype.js';
import { CHECKSUM_BYTES, Cursor, type Hdf5Bytes, Hdf5Problem } from './hdf5-bytes.js';

const HEADER_BYTES = 142;
const ADDRESS_BYTES = 8;
const LENGTH_BYTES = 8;
const MOST_FILTERED = 'a group or an object with filtered links or attributes cannot be read';

interface Heap {
  readonly file: Hdf5Bytes;
  readonly offsetBytes: number;
  readonly lengthBytes: number;
  readonly width: number;
  readonly startBytes: number;
  readonly mostDirectBytes: number;
  readonly root: number | undefined;
  readonly rootRows: number;
  readonly blockHeadBytes: number;
  readonly hugeTree: number | undefined;
  readonly idBytes: number;
}

function readHeap(file: Hdf5Bytes, address: number): Heap {
  const cursor = file
    .checked(address, HEADER_BYTES + CHECKSUM_BYTES)
    .expect('FRHP')
    .skip(1);
  const idBytes = cursor.u16();
  if (cursor.u16() !== 0) throw new Hdf5Problem(MOST_FILTERED, false);
  cursor.skip(1);
  const mostManagedBytes = cursor.u32();
  cursor.skip(8);
  const hugeTree = cursor.u64OrNone();
  cursor.skip(10 * 8);
  const width = cursor.u16();
  const startBytes = cursor.u64();
  const mostDirectBytes = cursor.u64();
  const offsetBytes = Math.ceil(cursor.u16() / 8);
  cursor.skip(2);
  const root = cursor.u64OrNone();
  const rootRows = cursor.u16();
  const lengthBytes = Math.min(Math.ceil(Math.log2(mostDirectBytes) / 8), bytesFor(mostManagedBytes));
  const blockHeadBytes = 5 + ADDRESS_BYTES + offsetBytes;
  if (width === 0 || startBytes === 0) throw new Hdf5Problem(`the heap at byte ${address} is damaged`);
  return {
    file,
    offsetBytes,
    lengthBytes,
    width,
    startBytes,
    mostDirectBytes,
    root,
    rootRows,
    blockHeadBytes,
    hugeTree,
    idBytes,
  };
}

interface MessageInHeap {
  readonly body: Buffer;
  /** The rest of its record in the tree. */
  readonly record: Cursor;
}

/**
 * All messages in a heap, in the order of a tree.
 * @param idAt where records of the tree have the id of a message in the heap.
 */
export function* messagesInHeap(
  file: Hdf5Bytes,
  heapAt: number,
  treeAt: number,
  idAt: number,
): Generator<MessageInHeap> {
  const heap = readHeap(file, heapAt);
  for (const record of recordsOfTree(file, treeAt))
    yield { body: objectOf(heap, record.skip(idAt).take(heap.idBytes)), record };
}

function objectOf(heap: Heap, id: Buffer): Buffer {
  const cursor = new Cursor(id);
  const kind = (cursor.u8() >> 4) & 3;
  if (kind === 0) {
    const offset = cursor.uint(heap.offsetBytes);
    return managed(heap, offset, cursor.uint(heap.lengthBytes));
  }
  if (kind === 1) return huge(heap, cursor);
  const byteLength = (id[0] ?? 0) & 15;
  return cursor.take(byteLength + 1);
}

function huge({ file, hugeTree, idBytes }: Heap, cursor: Cursor): Buffer {
  const isDirect = idBytes >= 1 + ADDRESS_BYTES + LENGTH_BYTES;
  if (isDirect) {
    const [address, byteLength] = [cursor.u64(), cursor.u64()];
    return file.at(address, byteLength).take(byteLength);
  }
  const key = cursor.uint(Math.min(8, cursor.left));
  for (const record of hugeTree === undefined ? [] : recordsOfTree(file, hugeTree)) {
    const [address, byteLength, number] = [record.u64(), record.u64(), record.u64()];
    if (number === key) return file.at(address, byteLength).take(byteLength);
  }
  throw new Hdf5Problem('a message of a heap is missing');
}

function rowBytes({ startBytes }: Heap, row: number): number {
  return row === 0 ? startBytes : startBytes * 2 ** (row - 1);
}

function managed(heap: Heap, offset: number, byteLength: number): Buffer {
  let { root: address, rootRows: rows } = heap;
  let within = offset;
  // An indirect block leads to rows of blocks, each row after the second with blocks twice as large.
  while (rows > 0) {
    if (address === undefined) break;
    let [row, start] = [0, 0];
    while (row < rows && within >= start + heap.width * rowBytes(heap, row)) {
      start += heap.width * rowBytes(heap, row);
      row += 1;
    }
    const column = Math.floor((within - start) / rowBytes(heap, row));
    within -= start + column * rowBytes(heap, row);
    const entry = row * heap.width + column;
    address = heap.file.at(address + heap.blockHeadBytes + entry * ADDRESS_BYTES, ADDRESS_BYTES).u64OrNone();
    // A block that is too large for a direct one has as many rows as fill it.
    rows = rowBytes(heap, row) <= heap.mostDirectBytes ? 0 : rowsIn(heap, rowBytes(heap, row));
  }
  if (address === undefined) throw new Hdf5Problem('a heap lacks a block that its index names');
  return heap.file.at(address + within, byteLength).take(byteLength);
}

function rowsIn(heap: Heap, blockBytes: number): number {
  return Math.log2(blockBytes) - Math.log2(heap.startBytes * heap.width) + 1;
}
