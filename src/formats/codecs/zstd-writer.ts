/**
 * Writes zstd: frames of outputs, and temp data, which only this program reads back.
 *
 * A frame of an output declares its length and carries a checksum, so that a reader can divide a file of such frames
 * and sees damage. Temp data is compressed with little memory at any level: a window of 256 KiB limits the tables of
 * the compressor to some 5 MiB. Both are synchronous: the caller is a worker thread that has nothing else to do.
 */
import { UsageError } from '../../errors.js';
import { freeBytes, shrinkToFit } from '../../machine/free-bytes.js';
import type { SegmentCompressor, SegmentExpander } from '../../piles/segments.js';
import type { MemberEncoder } from '../codec.js';
import { type Libzstd, openLibzstd, requireAllocated, requireSuccess } from './libzstd.js';
import {
  expandZstd,
  findZstdInNode,
  ZSTD_C_CHAIN_LOG,
  ZSTD_C_CHECKSUM_FLAG,
  ZSTD_C_COMPRESSION_LEVEL,
  ZSTD_C_HASH_LOG,
  ZSTD_C_WINDOW_LOG,
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

type Parameters = readonly (readonly [parameter: number, value: number])[];

/** Compresses bytes to one frame, which is good until the next call. */
type Compress = (bytes: Uint8Array, parameters: Parameters) => Uint8Array;

export interface ZstdWriter {
  readonly compress: Compress;
  readonly isSlow: boolean;
}

let chosen: ZstdWriter | undefined;

export function openZstdEncoder(level: number, writer = chooseWriter()): MemberEncoder {
  const parameters = [...levelOf(level), [ZSTD_C_CHECKSUM_FLAG, 1]] as const;
  return { encode: (bytes) => shrinkToFit(writer.compress(bytes, parameters)), store: storeZstdFrame };
}

export function openZstdPacker(level: number, writer = chooseWriter()): SegmentCompressor {
  const parameters = [...levelOf(level), [ZSTD_C_WINDOW_LOG, PACKER_WINDOW_LOG]] as const;
  let compressed: Uint8Array = new Uint8Array();
  return {
    compress: (bytes) => {
      freeBytes(compressed);
      compressed = shrinkToFit(writer.compress(bytes, parameters));
      return compressed.byteLength < bytes.byteLength ? compressed : undefined;
    },
  };
}

/** Compresses pages of Parquet, which have checksums of their own. A page is good until the next call. */
export function openZstdPages(level: number, writer = chooseWriter()): (bytes: Uint8Array) => Uint8Array {
  const parameters = [...levelOf(level), ...(level === LEVEL_OF_PAGE_TABLES ? PAGE_TABLES : [])];
  return (bytes) => writer.compress(bytes, parameters);
}

export const zstdExpander: SegmentExpander = { expand: expandZstd };

function levelOf(level: number): Parameters {
  const { least, most } = ZSTD_LEVELS;
  if (Number.isInteger(level) && level >= least && level <= most) return [[ZSTD_C_COMPRESSION_LEVEL, level]];
  throw new UsageError(`the zstd level must be a whole number from ${least} to ${most}, not ${level}`);
}

/** Says what would be faster; undefined where nothing is. */
export function zstdAdvice(): string | undefined {
  if (!chooseWriter().isSlow) return undefined;
  return 'this Node compresses zstd with WebAssembly; Node 22.15 and later are faster';
}

function chooseWriter(): ZstdWriter {
  chosen ??= usableWriters().find(isSound) ?? wasmWriter;
  return chosen;
}

/** Returns the writers that this process has, the fastest first. */
export function usableWriters(): ZstdWriter[] {
  const inNode = findZstdInNode();
  if (inNode === undefined) return [wasmWriter];
  const compress: Compress = (bytes, parameters) =>
    inNode.zstdCompressSync(bytes, {
      chunkSize: mostFrameBytes(bytes.byteLength),
      params: Object.fromEntries(parameters),
    });
  return [{ compress, isSlow: false }, wasmWriter];
}

const BLOCK_BYTES = 128 * 1024;

/** Returns `ZSTD_compressBound`. With this room libzstd needs one call, and then its bytes depend on its version alone. */
function mostFrameBytes(byteLength: number): number {
  return byteLength + (byteLength >>> 8) + (Math.max(0, BLOCK_BYTES - byteLength) >>> 11);
}

/** `ZSTD_reset_session_and_parameters`. */
const RESET_ALL = 3;
/** Frames and pages are rarely longer. */
const USUAL_BYTES = 16 * 1024 * 1024;
/** The longest page: beside twice as much, tables have room in a memory of 4 GiB. */
const MOST_SPARED_BYTES = 2 ** 30;

/** All encoders of a thread share one context. */
let opened: OpenedContext | undefined;

interface OpenedContext {
  readonly libzstd: Libzstd;
  readonly context: number;
  /** The address of what was compressed last, and of its frame after it. */
  region: number;
  /** The bytes that it has room for. */
  roomBytes: number;
}

/**
 * The memory of libzstd never shrinks, and only the garbage collector frees an instance. So one is cached, with room for
 * the next power of two: what is not written to takes no memory. A longer page gets a new instance, because the first
 * one would hold what it has beside larger tables.
 */
function contextFor(byteLength: number): OpenedContext {
  if (opened !== undefined && opened.region !== 0 && byteLength <= opened.roomBytes) return opened;
  const isLong = byteLength > USUAL_BYTES;
  const spared = isLong ? Math.min(2 ** Math.ceil(Math.log2(byteLength)), MOST_SPARED_BYTES) : 0;
  const roomBytes = Math.max(byteLength, spared);
  if (opened === undefined || isLong) opened = openContext();
  const { libzstd } = opened;
  libzstd.free(opened.region);
  opened.region = 0;
  opened.roomBytes = 0;
  opened.region = requireAllocated(libzstd.malloc(roomBytes + libzstd.ZSTD_compressBound(roomBytes)));
  opened.roomBytes = roomBytes;
  return opened;
}

function openContext(): OpenedContext {
  const libzstd = openLibzstd();
  return { libzstd, context: requireAllocated(libzstd.ZSTD_createCCtx()), region: 0, roomBytes: 0 };
}

const wasmWriter: ZstdWriter = {
  isSlow: true,
  compress: (bytes, parameters) => {
    const { libzstd, context, region: input } = contextFor(bytes.byteLength);
    const boundBytes = libzstd.ZSTD_compressBound(bytes.byteLength);
    const room = input + bytes.byteLength;
    new Uint8Array(libzstd.memory.buffer, input).set(bytes);
    libzstd.ZSTD_CCtx_reset(context, RESET_ALL);
    for (const [parameter, value] of parameters) libzstd.ZSTD_CCtx_setParameter(context, parameter, value);
    const result = libzstd.ZSTD_compress2(context, room, boundBytes, input, bytes.byteLength);
    return new Uint8Array(libzstd.memory.buffer, room, requireSuccess(libzstd, result));
  },
};

const SAMPLE = Buffer.from('what was compressed is again what it was, '.repeat(30));

/** Returns whether frames say how long they are: no version number tells. */
function isSound(writer: ZstdWriter): boolean {
  try {
    return zstdContentBytes(openZstdEncoder(ZSTD_LEVELS.usual, writer).encode(SAMPLE)) === SAMPLE.byteLength;
  } catch {
    return false;
  }
}

/** The entries, as log2, of the two large tables of each level (`ZSTD_defaultCParameters`, for more than 256 KiB). */
const TABLE_LOGS: readonly (readonly [chain: number, hash: number])[] = [
  [13, 14],
  [15, 16],
  [16, 17],
  [18, 18],
  [18, 19],
  [18, 19],
  [19, 20],
  [19, 20],
  [20, 21],
  [21, 22],
  [21, 22],
  [22, 23],
  [22, 22],
  [22, 23],
  [23, 23],
  [22, 22],
  [23, 22],
  [23, 22],
  [24, 22],
  [25, 23],
  [26, 24],
  [27, 25],
];

/** Returns log2 of the entries of each table, of 4 bytes. Short bytes have smaller ones. */
export function zstdTableLogs(level: number): readonly number[] {
  return TABLE_LOGS[level - 1] ?? [];
}
