/**
 * The zstd libraries that may be on this machine: the optional addon `zstd-napi`, and `node:zlib` of newer Nodes. This
 * project must compile without their types, so what it uses of them is declared here.
 */
import { createRequire } from 'node:module';
import type { Transform } from 'node:stream';
import * as zlib from 'node:zlib';

/** `zstd-napi/binding`, a thin layer over libzstd. */
export interface ZstdAddon {
  readonly CCtx: new () => AddonCompressor;
  readonly DCtx: new () => AddonDecompressor;
  readonly CParameter: {
    readonly compressionLevel: number;
    readonly checksumFlag: number;
    readonly windowLog: number;
  };
  readonly DParameter: { readonly windowLogMax: number };
  readonly ResetDirective: { readonly sessionOnly: number; readonly sessionAndParameters: number };
  compressBound(byteLength: number): number;
}

export interface AddonCompressor {
  reset(directive: number): void;
  setParameter(parameter: number, value: number): void;
  compress2(room: Uint8Array, bytes: Uint8Array): number;
}

export interface AddonDecompressor {
  setParameter(parameter: number, value: number): void;
  decompress(room: Uint8Array, frame: Uint8Array): number;
  reset(directive: number): void;
  /** Returns 0 at the end of a frame, else a guess of the missing bytes; bytes produced; bytes consumed. */
  decompressStream(room: Uint8Array, bytes: Uint8Array): [missing: number, produced: number, consumed: number];
}

export interface ZstdInNode {
  createZstdDecompress(options: ZstdOptions): Transform;
  zstdCompressSync(bytes: Uint8Array, options: ZstdOptions): Uint8Array;
  zstdDecompressSync(frame: Uint8Array, options: ZstdOptions & { readonly maxOutputLength: number }): Uint8Array;
}

interface ZstdOptions {
  readonly chunkSize?: number;
  readonly params: Readonly<Record<number, number>>;
}

/** Numbers of the parameters of libzstd, which its version 1 keeps. */
export const ZSTD_C_COMPRESSION_LEVEL = 100;
export const ZSTD_C_WINDOW_LOG = 101;
export const ZSTD_C_CHECKSUM_FLAG = 201;
export const ZSTD_D_WINDOW_LOG_MAX = 100;

/** The largest window that libzstd accepts if the limit is raised: 2 GiB, as `zstd --long=31`. */
export const MOST_WINDOW_LOG = 31;

export function loadZstdAddon(): ZstdAddon | undefined {
  try {
    return createRequire(import.meta.url)('zstd-napi/binding');
  } catch {
    return undefined;
  }
}

/** Undefined before Node 22.15. */
export function findZstdInNode(): ZstdInNode | undefined {
  return hasZstd(zlib) ? zlib : undefined;
}

function hasZstd(module: object): module is ZstdInNode {
  return ['createZstdDecompress', 'zstdCompressSync', 'zstdDecompressSync'].every((name) => name in module);
}
