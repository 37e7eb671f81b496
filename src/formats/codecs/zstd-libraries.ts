/**
 * The zstd libraries that may be on this machine: the optional addon `zstd-napi`, and what newer Nodes
 * have in `node:zlib`. Neither is in the types that this project is compiled with, so that it can be
 * built without them: what is used is written down here.
 */
import { createRequire } from 'node:module';
import type { Transform } from 'node:stream';
import * as zlib from 'node:zlib';

/** Of `zstd-napi/binding`, a thin layer over libzstd. */
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
  /** One frame of all of `bytes`; returns its length. */
  compress2(room: Uint8Array, bytes: Uint8Array): number;
}

export interface AddonDecompressor {
  setParameter(parameter: number, value: number): void;
  /** All of a frame, to room for its content; returns the length of that. */
  decompress(room: Uint8Array, frame: Uint8Array): number;
  reset(directive: number): void;
  /** Returns 0 at the end of a frame or else a guess of what is missing; bytes produced; bytes consumed. */
  decompressStream(room: Uint8Array, bytes: Uint8Array): [missing: number, produced: number, consumed: number];
}

/** Of `node:zlib`. */
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

/** `zstd-napi`; undefined where it is not installed, or not for this Node. */
export function loadZstdAddon(): ZstdAddon | undefined {
  try {
    return createRequire(import.meta.url)('zstd-napi/binding');
  } catch {
    return undefined;
  }
}

/** The zstd of `node:zlib`; undefined in Nodes before 22.15. */
export function findZstdInNode(): ZstdInNode | undefined {
  return hasZstd(zlib) ? zlib : undefined;
}

function hasZstd(module: object): module is ZstdInNode {
  return ['createZstdDecompress', 'zstdCompressSync', 'zstdDecompressSync'].every((name) => name in module);
}
