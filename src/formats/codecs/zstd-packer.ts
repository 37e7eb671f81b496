/**
 * Makes bytes in memory smaller, and again what they were, for data that only this program reads: its temp
 * data. Synchronous, with little memory at any level: the window is limited to 256 KiB, and with it the
 * tables of the compressor to some 5 MiB.
 */
import { freeBytes } from '../free-bytes.js';
import { noZstdToWrite, requireZstdLevel, ZSTD_LEVELS } from './zstd-encoder.js';
import {
  findZstdInNode,
  loadZstdAddon,
  ZSTD_C_COMPRESSION_LEVEL,
  ZSTD_C_WINDOW_LOG,
  type ZstdAddon,
  type ZstdInNode,
} from './zstd-native.js';

const WINDOW_LOG = 18;

export interface ZstdPacker {
  /** Fewer bytes that stand for these, good until the next call; undefined when zstd finds none. */
  compress(bytes: Uint8Array): Uint8Array | undefined;
}

export interface ZstdExpander {
  /**
   * Fills all of `target` with what was compressed to `bytes`.
   * @throws Error, of any kind, when that is another number of bytes, or `bytes` are damaged as far as can be seen.
   */
  expand(bytes: Uint8Array, target: Uint8Array): void;
}

/** A library that does both. */
export interface ZstdPackerKind extends ZstdExpander {
  open(level: number): ZstdPacker;
}

let chosen: ZstdPackerKind | undefined;

/**
 * @throws UsageError ERR_OPTION for a level that zstd does not have, and where nothing on this machine
 *   can write zstd.
 */
export function openZstdPacker(level: number): ZstdPacker {
  requireZstdLevel(level);
  return chooseKind().open(level);
}

export const zstdExpander: ZstdExpander = {
  expand: (bytes, target) => chooseKind().expand(bytes, target),
};

function chooseKind(): ZstdPackerKind {
  chosen ??= packersHere().find(isSound);
  if (chosen === undefined) throw noZstdToWrite();
  return chosen;
}

/** Those on this machine, the best one first. */
export function packersHere(): ZstdPackerKind[] {
  const addon = loadZstdAddon();
  const inNode = findZstdInNode();
  return [
    ...(addon === undefined ? [] : [addonPackers(addon)]),
    ...(inNode === undefined ? [] : [nodePackers(inNode)]),
  ];
}

function addonPackers(addon: ZstdAddon): ZstdPackerKind {
  const decompressor = new addon.DCtx();
  return {
    open: (level) => {
      const compressor = new addon.CCtx();
      compressor.setParameter(addon.CParameter.compressionLevel, level);
      compressor.setParameter(addon.CParameter.windowLog, WINDOW_LOG);
      let room = new Uint8Array();
      return {
        compress: (bytes) => {
          const boundBytes = addon.compressBound(bytes.byteLength);
          if (room.byteLength < boundBytes) room = new Uint8Array(boundBytes);
          return fewer(room.subarray(0, compressor.compress2(room, bytes)), bytes);
        },
      };
    },
    expand: (bytes, target) => requireLength(decompressor.decompress(target, bytes), target),
  };
}

function nodePackers(inNode: ZstdInNode): ZstdPackerKind {
  return {
    open: (level) => {
      const params = { [ZSTD_C_COMPRESSION_LEVEL]: level, [ZSTD_C_WINDOW_LOG]: WINDOW_LOG };
      let compressed = new Uint8Array();
      return {
        compress: (bytes) => {
          freeBytes(compressed);
          compressed = new Uint8Array(inNode.zstdCompressSync(bytes, { params }));
          return fewer(compressed, bytes);
        },
      };
    },
    expand: (bytes, target) => {
      const expanded = inNode.zstdDecompressSync(bytes, { params: {}, maxOutputLength: target.byteLength });
      requireLength(expanded.byteLength, target);
      target.set(expanded);
      freeBytes(expanded);
    },
  };
}

function fewer(compressed: Uint8Array, bytes: Uint8Array): Uint8Array | undefined {
  return compressed.byteLength < bytes.byteLength ? compressed : undefined;
}

function requireLength(byteLength: number, target: Uint8Array): void {
  if (byteLength !== target.byteLength) throw new Error(`${byteLength} bytes, expected ${target.byteLength}`);
}

const SAMPLE = Buffer.from('what was compressed is again what it was, '.repeat(30));

/** Whether it gives back what it took: no version number tells. */
function isSound(kind: ZstdPackerKind): boolean {
  try {
    const compressed = kind.open(ZSTD_LEVELS.usual).compress(SAMPLE);
    if (compressed === undefined) return false;
    const expanded = Buffer.alloc(SAMPLE.byteLength);
    kind.expand(compressed, expanded);
    return expanded.equals(SAMPLE);
  } catch {
    return false;
  }
}
