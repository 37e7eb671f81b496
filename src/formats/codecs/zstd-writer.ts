/**
 * Writes zstd: frames of outputs, and temp data, which only this program reads back.
 *
 * A frame of an output declares its length and carries a checksum, so that a reader can divide a file of such frames
 * and sees damage. Temp data is compressed with little memory at any level: a window of 256 KiB limits the tables of
 * the compressor to some 5 MiB. Both are synchronous: the caller is a worker thread that has nothing else to do.
 */
import { UsageError } from '../../errors.js';
import { freeBytes, inOwnBuffer } from '../../machine/free-bytes.js';
import type { SegmentCompressor, SegmentExpander } from '../../piles/segments.js';
import type { MemberEncoder } from '../codec.js';
import {
  type AddonCompressor,
  type AddonDecompressor,
  findZstdInNode,
  loadZstdAddon,
  ZSTD_C_CHAIN_LOG,
  ZSTD_C_CHECKSUM_FLAG,
  ZSTD_C_COMPRESSION_LEVEL,
  ZSTD_C_HASH_LOG,
  ZSTD_C_WINDOW_LOG,
  type ZstdAddon,
  type ZstdInNode,
} from './zstd-decoders.js';
import { storeZstdFrame, zstdContentBytes } from './zstd-frames.js';

export const ZSTD_LEVELS = { least: 1, usual: 3, most: 22 } as const;

const PACKER_WINDOW_LOG = 18;

/** Smaller tables stay in the core's cache: a seventh less time for 1 % more bytes of text, measured with pages of 1 MiB. */
const PAGE_TABLES: Parameters = [
  [ZSTD_C_HASH_LOG, 16],
  [ZSTD_C_CHAIN_LOG, 15],
];
const LEVEL_OF_PAGE_TABLES = 3;

/** Few pages are longer than 1 MiB. */
const MOST_KEPT_ROOM_BYTES = 2 * 1024 * 1024;

type Parameters = readonly (readonly [parameter: number, value: number])[];

export interface ZstdWriter extends SegmentExpander {
  /** Compresses bytes to one frame, in a buffer of its own that may be larger. */
  openEncoder(level: number): (bytes: Uint8Array) => Uint8Array;
  openPacker(level: number): SegmentCompressor;
  /** As `openEncoder`, without a checksum; the bytes are good until the next call. */
  openPages(level: number): (bytes: Uint8Array) => Uint8Array;
}

let chosen: ZstdWriter | undefined;

export function openZstdEncoder(level: number): MemberEncoder {
  requireZstdLevel(level);
  const compress = chooseWriter().openEncoder(level);
  return { encode: (bytes) => inOwnBuffer(compress(bytes)), store: storeZstdFrame };
}

export function openZstdPacker(level: number): SegmentCompressor {
  requireZstdLevel(level);
  return chooseWriter().openPacker(level);
}

/** For pages of Parquet, which have checksums of their own. */
export function openZstdPages(level: number): (bytes: Uint8Array) => Uint8Array {
  requireZstdLevel(level);
  return chooseWriter().openPages(level);
}

export const zstdExpander: SegmentExpander = {
  expand: (bytes, target) => chooseWriter().expand(bytes, target),
};

function requireZstdLevel(level: number): void {
  const { least, most } = ZSTD_LEVELS;
  if (Number.isInteger(level) && level >= least && level <= most) return;
  throw new UsageError(`the zstd level must be a whole number from ${least} to ${most}, not ${level}`);
}

function chooseWriter(): ZstdWriter {
  chosen ??= writersHere().find(isSound);
  if (chosen !== undefined) return chosen;
  throw new UsageError(
    'nothing on this machine can write zstd: install the package zstd-napi beside pileshuf, use Node 22.15 or later, or use gzip for outputs, and another `parquetCodec` for those of Parquet',
  );
}

/** The best one first. */
export function writersHere(): ZstdWriter[] {
  const addon = loadZstdAddon();
  const inNode = findZstdInNode();
  return [...(addon === undefined ? [] : [addonWriter(addon)]), ...(inNode === undefined ? [] : [nodeWriter(inNode)])];
}

function addonWriter(addon: ZstdAddon): ZstdWriter {
  // Only the garbage collector frees a context, with tables of many MiB: all encoders of a thread share one.
  let compressor: AddonCompressor | undefined;
  let decompressor: AddonDecompressor | undefined;
  const open = (level: number, parameters: Parameters) => (bytes: Uint8Array, room: Uint8Array) => {
    compressor ??= new addon.CCtx();
    compressor.reset(addon.ResetDirective.sessionAndParameters);
    compressor.setParameter(ZSTD_C_COMPRESSION_LEVEL, level);
    for (const [parameter, value] of parameters) compressor.setParameter(parameter, value);
    return room.subarray(0, compressor.compress2(room, bytes));
  };
  return {
    openEncoder: (level) => {
      const compress = open(level, [[ZSTD_C_CHECKSUM_FLAG, 1]]);
      return (bytes) => compress(bytes, new Uint8Array(addon.compressBound(bytes.byteLength)));
    },
    openPacker: (level) => {
      const compress = open(level, [[ZSTD_C_WINDOW_LOG, PACKER_WINDOW_LOG]]);
      let room = new Uint8Array();
      return {
        compress: (bytes) => {
          const boundBytes = addon.compressBound(bytes.byteLength);
          if (room.byteLength < boundBytes) room = new Uint8Array(boundBytes);
          return fewer(compress(bytes, room), bytes);
        },
      };
    },
    openPages: (level) => {
      const compress = open(level, tablesOf(level));
      let room = new Uint8Array();
      return (bytes) => {
        const boundBytes = addon.compressBound(bytes.byteLength);
        if (boundBytes > MOST_KEPT_ROOM_BYTES) return compress(bytes, new Uint8Array(boundBytes));
        if (room.byteLength < boundBytes) room = new Uint8Array(boundBytes);
        return compress(bytes, room);
      };
    },
    expand: (bytes, target) => {
      decompressor ??= new addon.DCtx();
      requireLength(decompressor.decompress(target, bytes), target);
    },
  };
}

function nodeWriter(inNode: ZstdInNode): ZstdWriter {
  const open = (level: number, parameters: Parameters) => {
    const params = Object.fromEntries([[ZSTD_C_COMPRESSION_LEVEL, level], ...parameters]);
    return (bytes: Uint8Array) => inNode.zstdCompressSync(bytes, { params });
  };
  return {
    openEncoder: (level) => open(level, [[ZSTD_C_CHECKSUM_FLAG, 1]]),
    openPages: (level) => open(level, tablesOf(level)),
    openPacker: (level) => {
      const compress = open(level, [[ZSTD_C_WINDOW_LOG, PACKER_WINDOW_LOG]]);
      let compressed: Uint8Array = new Uint8Array();
      return {
        compress: (bytes) => {
          freeBytes(compressed);
          compressed = inOwnBuffer(compress(bytes));
          return fewer(compressed, bytes);
        },
      };
    },
    expand: (bytes, target) => {
      const expanded = inNode.zstdDecompressSync(bytes, {
        params: {},
        maxOutputLength: Math.max(1, target.byteLength),
      });
      requireLength(expanded.byteLength, target);
      target.set(expanded);
      freeBytes(expanded);
    },
  };
}

function tablesOf(level: number): Parameters {
  return level === LEVEL_OF_PAGE_TABLES ? PAGE_TABLES : [];
}

function fewer(compressed: Uint8Array, bytes: Uint8Array): Uint8Array | undefined {
  return compressed.byteLength < bytes.byteLength ? compressed : undefined;
}

function requireLength(byteLength: number, target: Uint8Array): void {
  if (byteLength !== target.byteLength) throw new Error(`${byteLength} bytes, expected ${target.byteLength}`);
}

const SAMPLE = Buffer.from('what was compressed is again what it was, '.repeat(30));

/** Tries the library on a sample: no version number tells whether it works. */
function isSound(writer: ZstdWriter): boolean {
  const level = ZSTD_LEVELS.usual;
  try {
    if (zstdContentBytes(writer.openEncoder(level)(SAMPLE)) !== SAMPLE.byteLength) return false;
    const packed = writer.openPacker(level).compress(SAMPLE);
    if (packed === undefined) return false;
    const expanded = Buffer.alloc(SAMPLE.byteLength);
    writer.expand(packed, expanded);
    return expanded.equals(SAMPLE);
  } catch {
    return false;
  }
}
