import type { ColumnMemory } from './column-memory.js';

export type PageCodec = 'UNCOMPRESSED' | 'SNAPPY' | 'GZIP' | 'BROTLI' | 'LZ4' | 'ZSTD' | 'LZ4_RAW';

/** Call it, once a thread, before pages are decompressed. */
export declare function loadPageCodecs(): Promise<void>;

/** @throws PageError unless `bytes` decode to exactly `byteLength` bytes, which lie at `address` then. */
export declare function decompressPage(
  memory: ColumnMemory,
  codec: PageCodec,
  bytes: Uint8Array,
  address: number,
  byteLength: number,
): void;
