/**
 * A reader of pages as pileshuf writes them, as short as it can be: what a column chunk holds, and the rows of all of them.
 */
import { crc32, gunzipSync } from 'node:zlib';
import { type Leaf, PHYSICAL_TYPES, valueBytesOf } from '#src/formats/parquet/leaf.js';
import { readPageHeader } from '#src/formats/parquet/page-header.js';

export interface Column {
  readonly repetitions: number[];
  readonly definitions: number[];
  /** As rows have them. */
  readonly values: Buffer[];
}

type Decompress = (bytes: Uint8Array, byteLength: number) => Uint8Array;

export const plainly: Decompress = (bytes) => bytes;
export const gunzip: Decompress = (bytes) => gunzipSync(bytes);

const widthOf = (most: number) => 32 - Math.clz32(most);

function readVarint(bytes: Buffer, at: number): { value: number; end: number } {
  let [value, scale, end] = [0, 1, at];
  for (;;) {
    const byte = bytes[end++] ?? 0;
    value += (byte & 127) * scale;
    scale *= 128;
    if (byte < 128) return { value, end };
  }
}

function unpack(bytes: Buffer, at: number, count: number, width: number): bigint[] {
  const all = BigInt(`0x0${Buffer.from(bytes.subarray(at, at + Math.ceil((count * width) / 8))).reverse().toString('hex')}`);
  return Array.from({ length: count }, (_, i) => BigInt.asUintN(width, all >> BigInt(i * width)));
}

function readHybrid(bytes: Buffer, width: number, count: number): number[] {
  const numbers: number[] = [];
  for (let at = 0; numbers.length < count; ) {
    const { value: head, end } = readVarint(bytes, at);
    if (head % 2 === 1) {
      const length = (head >> 1) * 8;
      numbers.push(...unpack(bytes, end, length, width).map(Number));
      at = end + (length / 8) * width;
    } else {
      const valueBytes = Math.ceil(width / 8);
      const value = valueBytes === 0 ? 0 : bytes.readUIntLE(end, valueBytes);
      for (let i = 0; i < head >> 1; i++) numbers.push(value);
      at = end + valueBytes;
    }
  }
  return numbers.slice(0, count);
}

function readDelta(bytes: Buffer, width: number): Buffer[] {
  let at = 0;
  const next = () => {
    let [value, shift] = [0n, 0n];
    for (;;) {
      const byte = BigInt(bytes[at++] ?? 0);
      value |= (byte & 127n) << shift;
      shift += 7n;
      if (byte < 128n) return value;
    }
  };
  const signed = () => {
    const code = next();
    return code & 1n ? -(code >> 1n) - 1n : code >> 1n;
  };
  const [blockValues, miniblocks, count] = [Number(next()), Number(next()), Number(next())];
  const values = [signed()];
  while (values.length < count) {
    const least = signed();
    const widths = bytes.subarray(at, at + miniblocks);
    at += miniblocks;
    for (const bits of widths) {
      if (values.length >= count) break;
      const length = blockValues / miniblocks;
      for (const rest of unpack(bytes, at, length, bits)) values.push((values.at(-1) ?? 0n) + least + rest);
      at += (length * bits) / 8;
    }
  }
  return values.slice(0, count).map((value) => {
    const each = Buffer.alloc(8);
    each.writeBigUInt64LE(BigInt.asUintN(64, value));
    return each.subarray(0, width);
  });
}

function splitPlain(leaf: Leaf, bytes: Buffer, count: number): Buffer[] {
  const width = valueBytesOf(leaf);
  if (leaf.type === 'BOOLEAN') return unpack(bytes, 0, count, 1).map((bit) => Buffer.of(Number(bit)));
  let at = 0;
  return Array.from({ length: count }, () => {
    const start = at;
    at += width > 0 ? width : 4 + bytes.readUInt32LE(at);
    return bytes.subarray(start, at);
  });
}

/** @param bytes the pages of a column chunk, and nothing else. */
export function readChunk(leaf: Leaf, bytes: Buffer, decompress: Decompress): Column {
  const column: Column = { repetitions: [], definitions: [], values: [] };
  let dictionary: Buffer[] = [];
  for (let at = 0; at < bytes.byteLength; ) {
    const page = readPageHeader(bytes, at);
    if (page === undefined) throw new Error('a header is cut off');
    const { header, headerBytes } = page;
    const stored = bytes.subarray(at + headerBytes, at + headerBytes + header.compressedBytes);
    at += headerBytes + header.compressedBytes;
    if (header.crc !== undefined && header.crc !== crc32(stored)) throw new Error('CRC');
    const body = Buffer.from(decompress(stored, header.uncompressedBytes));
    if (body.byteLength !== header.uncompressedBytes) throw new Error('a page has another size');
    if (header.kind === 'dictionary') {
      dictionary = splitPlain(leaf, body, header.valueCount);
      continue;
    }
    let from = 0;
    const readLevels = (most: number) => {
      if (most === 0) return Array.from({ length: header.valueCount }, () => 0);
      const byteLength = body.readUInt32LE(from);
      from += 4 + byteLength;
      return readHybrid(body.subarray(from - byteLength, from), widthOf(most), header.valueCount);
    };
    column.repetitions.push(...readLevels(leaf.maxRepetition));
    const definitions = readLevels(leaf.maxDefinition);
    column.definitions.push(...definitions);
    const count = definitions.filter((level) => level === leaf.maxDefinition).length;
    const rest = body.subarray(from);
    if (header.encoding === 'PLAIN') column.values.push(...splitPlain(leaf, rest, count));
    else if (header.encoding === 'DELTA_BINARY_PACKED') column.values.push(...readDelta(rest, valueBytesOf(leaf)));
    else
      for (const i of readHybrid(rest.subarray(1), rest[0] ?? 0, count))
        column.values.push(dictionary[i] ?? Buffer.from('not in the dictionary'));
  }
  return column;
}

/** The rows as `leaf.ts` lays them out. */
export function joinRows(leaves: readonly Leaf[], columns: readonly Column[], rows: number): Buffer {
  const next = leaves.map(() => ({ entry: 0, value: 0 }));
  const parts: Buffer[] = [];
  for (let row = 0; row < rows; row++) {
    for (const [i, leaf] of leaves.entries()) {
      const [column, place] = [columns[i], next[i]];
      if (column === undefined || place === undefined) throw new Error('no column');
      const start = place.entry++;
      while (column.repetitions[place.entry] ?? 0) place.entry++;
      const definitions = column.definitions.slice(start, place.entry);
      const count = definitions.filter((level) => level === leaf.maxDefinition).length;
      if (leaf.maxRepetition > 0) {
        const head = Buffer.alloc(4);
        const areAll = count === definitions.length;
        head.writeUInt32LE(definitions.length + (areAll ? 2 ** 31 : 0));
        parts.push(head);
        if (leaf.maxRepetition > 1) parts.push(Buffer.from(column.repetitions.slice(start, place.entry)));
        if (!areAll) parts.push(Buffer.from(definitions));
      } else if (leaf.maxDefinition > 0) parts.push(Buffer.from(definitions));
      parts.push(...column.values.slice(place.value, place.value + count));
      place.value += count;
    }
  }
  return Buffer.concat(parts);
}

/** A schema of leaves that follow each other below the root: lists and groups are named by their levels alone. */
export const numberOfType = (leaf: Leaf) => PHYSICAL_TYPES[leaf.type];
