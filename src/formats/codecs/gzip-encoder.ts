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
