/** B-trees of version 2: records of one length, sorted. */
import { bytesFor } from './datatype.js';
import { Cursor, type Hdf5Bytes, Hdf5Problem } from './hdf5-bytes.js';

const HEADER_BYTES = 38;
/** Of a node: signature, version, type, checksum. */
const AROUND_BYTES = 10;
const ADDRESS_BYTES = 8;

/** All records, in their order. */
export function* recordsOfTree(file: Hdf5Bytes, address: number): Generator<Cursor> {
  const header = file.checked(address, HEADER_BYTES).expect('BTHD').skip(2);
  const nodeBytes = header.u32();
  const recordBytes = header.u16();
  const depth = header.u16();
  const root = header.skip(2).u64OrNone();
  const rootRecords = header.u16();
  if (root === undefined) return;
  if (depth > 32 || recordBytes === 0) throw new Hdf5Problem(`the B-tree at byte ${address} is damaged`);
  // The numbers of records in a node, and below it, have as many bytes as the largest need.
  const most = [Math.floor((nodeBytes - AROUND_BYTES) / recordBytes)];
  const below = [most[0] ?? 0];
  const countBytes = bytesFor(most[0] ?? 0);
  const pointerBytes = (level: number) =>
    ADDRESS_BYTES + countBytes + (level > 1 ? bytesFor(below[level - 1] ?? 0) : 0);
  for (let level = 1; level <= depth; level++) {
    const pointer = pointerBytes(level);
    const count = Math.floor((nodeBytes - AROUND_BYTES - pointer) / (recordBytes + pointer));
    most.push(count);
    below.push((count + 1) * (below[level - 1] ?? 0) + count);
  }
  function* walk(position: number, count: number, level: number): Generator<Cursor> {
    const usedBytes =
      level === 0
        ? AROUND_BYTES + count * recordBytes
        : AROUND_BYTES + count * recordBytes + (count + 1) * pointerBytes(level);
    const node = file
      .checked(position, usedBytes)
      .expect(level === 0 ? 'BTLF' : 'BTIN')
      .skip(2);
    const records = Array.from({ length: count }, () => new Cursor(node.take(recordBytes), position));
    for (let i = 0; i <= count; i++) {
      if (level > 0) {
        const [child, children] = [node.u64(), node.uint(countBytes)];
        node.skip(pointerBytes(level) - ADDRESS_BYTES - countBytes);
        yield* walk(child, children, level - 1);
      }
      const record = records[i];
      if (record !== undefined) yield record;
    }
  }
  yield* walk(root, rootRecords, depth);
}
