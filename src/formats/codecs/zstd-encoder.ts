/**
 * Compresses bytes as one zstd frame that declares their number and carries a checksum, so that whoever
 * reads it can split a file of such frames and sees damage. Synchronous: the caller is a worker thread
 * that has nothing else to do.
 */
import { UsageError } from '../../errors.js';
import { listZstdFrames } from './zstd-frames.js';
import {
  findZstdInNode,
  loadZstdAddon,
  ZSTD_C_CHECKSUM_FLAG,
  ZSTD_C_COMPRESSION_LEVEL,
  type ZstdAddon,
  type ZstdInNode,
} from './zstd-native.js';

export const ZSTD_LEVELS = { least: 1, usual: 3, most: 22 } as const;

export interface ZstdEncoder {
  /** One frame, in a buffer that nobody else uses and that may be larger, maybe as a Buffer. */
  compressFrame(bytes: Uint8Array): Uint8Array;
}

/** Makes encoders for one level; what `openZstdEncoder` chooses from. */
export type ZstdEncoderOpener = (level: number) => ZstdEncoder;

let chosen: ZstdEncoderOpener | undefined;

/**
 * @throws UsageError ERR_OPTION for a level that zstd does not have, and where nothing on this machine
 *   can write zstd.
 */
export function openZstdEncoder(level: number): ZstdEncoder {
  requireZstdLevel(level);
  chosen ??= encodersHere().find(isSound);
  if (chosen === undefined) throw noZstdToWrite();
  return chosen(level);
}

/** @throws UsageError ERR_OPTION */
export function requireZstdLevel(level: number): void {
  const { least, most } = ZSTD_LEVELS;
  if (Number.isInteger(level) && level >= least && level <= most) return;
  throw new UsageError(`the zstd level must be a whole number from ${least} to ${most}, not ${level}`);
}

export function noZstdToWrite(): UsageError {
  return new UsageError(
    'nothing on this machine can write zstd: install the package zstd-napi beside pileshuf, use Node 22.15 or later, or do without (outputs can be gzip)',
  );
}

/** Those on this machine, the best one first. */
export function encodersHere(): ZstdEncoderOpener[] {
  const addon = loadZstdAddon();
  const inNode = findZstdInNode();
  return [
    ...(addon === undefined ? [] : [(level: number) => addonEncoder(addon, level)]),
    ...(inNode === undefined ? [] : [(level: number) => nodeEncoder(inNode, level)]),
  ];
}

function addonEncoder(addon: ZstdAddon, level: number): ZstdEncoder {
  const compressor = new addon.CCtx();
  compressor.setParameter(addon.CParameter.compressionLevel, level);
  compressor.setParameter(addon.CParameter.checksumFlag, 1);
  return {
    compressFrame: (bytes) => {
      const room = new Uint8Array(addon.compressBound(bytes.byteLength));
      return room.subarray(0, compressor.compress2(room, bytes));
    },
  };
}

function nodeEncoder(inNode: ZstdInNode, level: number): ZstdEncoder {
  const params = { [ZSTD_C_COMPRESSION_LEVEL]: level, [ZSTD_C_CHECKSUM_FLAG]: 1 };
  return { compressFrame: (bytes) => inNode.zstdCompressSync(bytes, { params }) };
}

const SAMPLE = new Uint8Array(1000).fill(0x61);

/** Whether what it makes of a sample is one frame, as it should be: no version number tells. */
function isSound(open: ZstdEncoderOpener): boolean {
  try {
    return zstdContentBytes(open(ZSTD_LEVELS.usual).compressFrame(SAMPLE)) === SAMPLE.byteLength;
  } catch {
    return false;
  }
}

/** What a frame says that it holds; undefined: it does not say, or it is not one frame. */
export function zstdContentBytes(frame: Uint8Array): number | undefined {
  try {
    const [first, ...others] = listZstdFrames('', {
      byteLength: frame.byteLength,
      read: (position, byteLength) => frame.subarray(position, position + byteLength),
    });
    return others.length === 0 ? first?.contentBytes : undefined;
  } catch {
    return undefined;
  }
}
