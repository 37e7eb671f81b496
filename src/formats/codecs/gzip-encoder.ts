/** Compresses bytes as one gzip member (RFC 1952). Synchronous: a worker thread has nothing else to do meanwhile. */
import { gzipSync } from 'node:zlib';
import type { MemberEncoder } from '../member-encoder.js';
import { inOwnBuffer } from '../own-buffer.js';

export const GZIP_LEVELS = { least: 1, usual: 6, most: 9 } as const;

/** Compressed bytes that zlib hands over at a time; the default is 16 KiB. */
const PIECE_BYTES = 128 * 1024;

export function openGzipEncoder(level: number): MemberEncoder {
  return {
    // What is shorter than a piece lies in one.
    encode: (bytes) => inOwnBuffer(gzipSync(bytes, { level, chunkSize: PIECE_BYTES })),
    store: (bytes) => gzipSync(bytes, { level: 0, chunkSize: PIECE_BYTES }),
  };
}

/** Magic bytes and the other fields that each member has, an empty block, checksum and length. */
const LEAST_MEMBER_BYTES = 10 + 2 + 8;

/** What a member of less than 4 GiB says that it holds; undefined: it is none. */
export function gzipContentBytes(member: Uint8Array): number | undefined {
  if (member.byteLength < LEAST_MEMBER_BYTES || member[0] !== 0x1f || member[1] !== 0x8b) return undefined;
  return new DataView(member.buffer, member.byteOffset, member.byteLength).getUint32(member.byteLength - 4, true);
}
