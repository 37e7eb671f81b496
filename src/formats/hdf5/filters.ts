/** The filters that chunks go through: what HDF5 itself has for every type, by zlib. */
import { deflateSync, inflateSync } from 'node:zlib';
import { freeBytes } from '../../machine/free-bytes.js';
import { fletcher32 } from './checksums.js';
import { Hdf5Problem } from './hdf5-bytes.js';
import type { Filter } from './messages.js';

const DEFLATE = 1;
const SHUFFLE = 2;
const FLETCHER32 = 3;
const KNOWN: ReadonlySet<number> = new Set([DEFLATE, SHUFFLE, FLETCHER32]);
const NAMES: Readonly<Record<number, string>> = { 4: 'szip', 5: 'nbit', 6: 'scaleoffset' };
const CHECKSUM_BYTES = 4;
/** zlib needs so much, and with some room left it knows that it is done. */
const LEAST_ROOM_BYTES = 64;

export function requireKnownFilters(filters: readonly Filter[]): void {
  const unknown = filters.find(({ id }) => !KNOWN.has(id));
  if (unknown === undefined) return;
  const { id, name } = unknown;
  throw new Hdf5Problem(
    `its chunks go through the filter ${name || (NAMES[id] ?? 'without a name')} (${id}); expected gzip, shuffle or fletcher32: h5repack writes it so`,
    false,
  );
}

/**
 * @param stored is left as it is.
 * @param mask of the filters that the chunk did not go through.
 * @param byteLength of the chunk without filters.
 */
export function decodeChunk(
  stored: Uint8Array,
  filters: readonly Filter[],
  mask: number,
  byteLength: number,
): Uint8Array {
  let bytes = stored;
  for (let i = filters.length - 1; i >= 0; i--) {
    const filter = filters[i];
    if (filter === undefined || (mask & (1 << i)) !== 0) continue;
    const before = bytes;
    if (filter.id === DEFLATE) bytes = inflated(bytes, byteLength + CHECKSUM_BYTES);
    else if (filter.id === SHUFFLE) bytes = reordered(bytes, filter.values[0] ?? 1, false);
    else bytes = withoutChecksum(bytes);
    freeOld(before, bytes, stored);
  }
  if (bytes.byteLength === byteLength) return bytes;
  throw new Hdf5Problem(`decodes to ${bytes.byteLength} bytes, expected ${byteLength}`);
}

/** Frees what a filter was given, unless it gave the same memory on or the caller needs it. */
function freeOld(before: Uint8Array, after: Uint8Array, kept: Uint8Array): void {
  if (before.buffer !== after.buffer && before.buffer !== kept.buffer) freeBytes(before);
}

function inflated(bytes: Uint8Array, most: number): Uint8Array {
  try {
    return inflateSync(bytes, { maxOutputLength: most, chunkSize: most + LEAST_ROOM_BYTES });
  } catch (error) {
    throw new Hdf5Problem(
      `is no zlib data of at most ${most} bytes (${error instanceof Error ? error.message : error})`,
    );
  }
}

function withoutChecksum(bytes: Uint8Array): Uint8Array {
  const body = bytes.subarray(0, -CHECKSUM_BYTES);
  const stored = Buffer.from(bytes.buffer, bytes.byteOffset + body.byteLength, bytes.byteLength - body.byteLength);
  const sum = fletcher32(body);
  // Old libraries of some machines stored the bytes of each half the other way round.
  const swapped = ((sum & 0xff00ff) << 8) | ((sum >>> 8) & 0xff00ff);
  if (stored.byteLength === CHECKSUM_BYTES && [sum, swapped >>> 0].includes(stored.readUInt32LE())) return body;
  throw new Hdf5Problem('does not have its fletcher32 checksum');
}

/** @param chunk is left as it is. */
export function encodeChunk(chunk: Uint8Array, filters: readonly Filter[]): Uint8Array {
  let bytes = chunk;
  for (const { id, values } of filters) {
    const before = bytes;
    if (id === DEFLATE) {
      const chunkSize = bytes.byteLength + LEAST_ROOM_BYTES;
      bytes = deflateSync(bytes, { level: values[0] ?? 6, chunkSize });
    } else if (id === SHUFFLE) bytes = reordered(bytes, values[0] ?? 1, true);
    else {
      const sum = Buffer.alloc(CHECKSUM_BYTES);
      sum.writeUInt32LE(fletcher32(bytes));
      bytes = Buffer.concat([bytes, sum]);
    }
    freeOld(before, bytes, chunk);
  }
  return bytes;
}

/** Puts the first bytes of all elements together, then the second ones, and so on; or back. */
function reordered(bytes: Uint8Array, elementBytes: number, isApart: boolean): Uint8Array {
  const count = Math.floor(bytes.byteLength / elementBytes);
  if (elementBytes < 2 || count < 2) return bytes;
  const result = Buffer.allocUnsafeSlow(bytes.byteLength);
  for (let byte = 0; byte < elementBytes; byte++) {
    const start = byte * count;
    if (isApart) for (let i = 0, at = byte; i < count; i++, at += elementBytes) result[start + i] = bytes[at] ?? 0;
    else for (let i = 0, at = byte; i < count; i++, at += elementBytes) result[at] = bytes[start + i] ?? 0;
  }
  result.set(bytes.subarray(count * elementBytes), count * elementBytes);
  return result;
}
