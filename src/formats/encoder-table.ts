/**
 * All codecs that outputs can be compressed with.
 *
 * To add one: a file that makes a `MemberEncoder`, and its line in `encoders`.
 */
import { UsageError } from '../errors.js';
import { checkedEncoder } from './checked-encoder.js';
import { GZIP_LEVELS, gzipContentBytes, openGzipEncoder } from './codecs/gzip-encoder.js';
import { storeZstdFrame } from './codecs/stored-zstd-frame.js';
import { openZstdEncoder, ZSTD_LEVELS, zstdContentBytes } from './codecs/zstd-encoder.js';
import type { MemberEncoder } from './member-encoder.js';
import { inOwnBuffer } from './own-buffer.js';

interface EncoderKind {
  /** Of file names; the first is given to shards. */
  readonly suffixes: readonly [string, ...string[]];
  readonly levels: { readonly least: number; readonly usual: number; readonly most: number };
  /** @throws UsageError where nothing on this machine can write it. */
  open(level: number): MemberEncoder;
  /** What a member says that it holds; undefined: it is not one member. */
  contentBytesOf(member: Uint8Array): number | undefined;
}

const encoders = {
  gzip: {
    suffixes: ['.gz', '.gzip'],
    levels: GZIP_LEVELS,
    open: openGzipEncoder,
    contentBytesOf: gzipContentBytes,
  },
  zstd: {
    suffixes: ['.zst', '.zstd'],
    levels: ZSTD_LEVELS,
    open: openZstdMemberEncoder,
    contentBytesOf: zstdContentBytes,
  },
} as const satisfies Record<string, EncoderKind>;

export type OutputCodec = keyof typeof encoders;

/** How an output is compressed. Plain data; crosses threads. */
export interface Compression {
  readonly codec: OutputCodec;
  readonly level: number;
}

export const OUTPUT_CODECS = Object.keys(encoders) as readonly OutputCodec[];

/** @param level default: the codec's usual one. @throws UsageError for a level that the codec does not have. */
export function compressionOf(codec: OutputCodec, level: number = encoders[codec].levels.usual): Compression {
  const { least, most } = encoders[codec].levels;
  if (Number.isInteger(level) && level >= least && level <= most) return { codec, level };
  throw new UsageError(`\`compress\` ${codec}:${level}: expected a level from ${least} to ${most}`);
}

/** The codec that a file name stands for. */
export function codecOfName(name: string): OutputCodec | undefined {
  return OUTPUT_CODECS.find((codec) => encoders[codec].suffixes.some((suffix) => name.endsWith(suffix)));
}

/** What the names of compressed shards end in. */
export function suffixOf(codec: OutputCodec): string {
  return encoders[codec].suffixes[0];
}

/** In one line, unlike that of any other: `gzip 6`. */
export function nameOfCompression({ codec, level }: Compression): string {
  return `${codec} ${level}`;
}

/** @throws UsageError where nothing on this machine can write it. */
export function openEncoder({ codec, level }: Compression): MemberEncoder {
  const { open, contentBytesOf } = encoders[codec];
  return checkedEncoder(open(level), codec, contentBytesOf);
}

function openZstdMemberEncoder(level: number): MemberEncoder {
  const encoder = openZstdEncoder(level);
  return { encode: (bytes) => inOwnBuffer(encoder.compressFrame(bytes)), store: storeZstdFrame };
}
