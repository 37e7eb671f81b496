/** The filters that chunks go through: those that HDF5 itself has. */
import { deflateSync, inflateSync } from 'node:zlib';
import { freeBytes } from '../../../../machine/free-bytes.js';
import { fletcher32 } from '../checksums.js';
import { Hdf5Problem } from '../hdf5-bytes.js';
import type { Filter } from '../object-messages.js';
import { reordered } from './byte-shuffle.js';
import { unpackNbit } from './nbit.js';
import { unpackScaleOffset } from './scale-offset.js';
import { unpackSzip } from './szip.js';

const DEFLATE = 1;
const SHUFFLE = 2;
const FLETCHER32 = 3;
/** Filters that are read alone: chunks are written without them, and say so. */
const UNPACKED = new Map([
  [4, { name: 'szip', unpack: unpackSzip }],
  [5, { name: 'nbit', unpack: unpackNbit }],
  [6, { name: 'scaleoffset', unpack: unpackScaleOffset }],
]);
const CHECKSUM_BYTES = 4;
/** The most that a filter adds to a chunk: a checksum, and the head of scaleoffset. */
const MOST_ADDED_BYTES = 32;
/** zlib needs so much, and with some room left it knows that it is done. */
const LEAST_ROOM_BYTES = 64;

export function requireKnownFilters(filters: readonly Filter[]): void {
  const unknown = filters.find(({ id }) => id < DEFLATE || (id > FLETCHER32 && !UNPACKED.has(id)));
  if (unknown === undefined) return;
  throw new Hdf5Problem(
    `its chunks go through the filter ${unknown.name || 'without a name'} (${unknown.id}); expected gzip, shuffle, fletcher32, szip, nbit or scaleoffset: h5repack writes it so`,
    false,
  );
}

/** @returns the names of filters that chunks are written without. */
export function lostFilters(filters: readonly Filter[]): readonly string[] {
  return filters.flatMap(({ id }) => UNPACKED.get(id)?.name ?? []);
}

/** A bit for each filter that chunks are written without. */
export function writtenMask(filters: readonly Filter[]): number {
  return filters.reduce((mask, { id }, i) => mask + (UNPACKED.has(id) ? 2 ** i : 0), 0);
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
    const { id, values } = filter;
    if (id === DEFLATE) bytes = inflated(bytes, byteLength + MOST_ADDED_BYTES);
    else if (id === SHUFFLE) bytes = reordered(bytes, values[0] ?? 1, false);
    else if (id === FLETCHER32) bytes = withoutChecksum(bytes);
    else bytes = UNPACKED.get(id)?.unpack(bytes, values, byteLength) ?? bytes;
    freeOld(before, bytes, stored);
  }
  if (bytes.byteLength === byteLength) return bytes;
  throw new Hdf5Problem(`decodes to ${bytes.byteLength} bytes, expected ${byteLength}`);
}

/** Frees what a filter was given, unless it gave the same memory on or the caller needs it. */
function freeOld(before: Uint8Array, after: Uint8Array, needed: Uint8Array): void {
  if (before.buffer !== after.buffer && before.buffer !== needed.buffer) freeBytes(before);
}

function inflated(bytes: Uint8Array, most: number): Uint8Array {
  try {
    return inflateSync(bytes, { maxOutputLength: most, chunkSize: most + LEAST_ROOM_BYTES });
  } catch (error) {
    throw new Hdf5Problem(
      `is not zlib data of at most ${most} bytes (${error instanceof Error ? error.message : error})`,
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

/** Sends a chunk through the filters that are written. @param chunk is not changed. */
export function encodeChunk(chunk: Uint8Array, filters: readonly Filter[]): Uint8Array {
  let bytes = chunk;
  for (const { id, values } of filters) {
    const before = bytes;
    if (id === DEFLATE) {
      const chunkSize = bytes.byteLength + LEAST_ROOM_BYTES;
      bytes = deflateSync(bytes, { level: values[0] ?? 6, chunkSize });
    } else if (id === SHUFFLE) bytes = reordered(bytes, values[0] ?? 1, true);
    else if (id === FLETCHER32) {
      const sum = Buffer.alloc(CHECKSUM_BYTES);
      sum.writeUInt32LE(fletcher32(bytes));
      bytes = Buffer.concat([bytes, sum]);
    }
    freeOld(before, bytes, chunk);
  }
  return bytes;
}
