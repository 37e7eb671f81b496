/**
 * The codecs that compress outputs. To add one: a file that makes a `MemberEncoder`, and its line in `encoders`.
 */
import { UsageError, VerificationError } from '../errors.js';
import type { MemberEncoder } from './codec.js';
import { GZIP_LEVELS, gzipContentBytes, openGzipEncoder } from './codecs/gzip.js';
import { zstdContentBytes } from './codecs/zstd-frames.js';
import { openZstdEncoder, ZSTD_LEVELS, zstdAdvice } from './codecs/zstd-writer.js';

interface EncoderKind {
  /** Endings of file names. Shards get the first. */
  readonly suffixes: readonly [string, ...string[]];
  readonly levels: { readonly least: number; readonly usual: number; readonly most: number };
  open(level: number): MemberEncoder;
  contentBytesOf(member: Uint8Array): number | undefined;
  /** Says what would be faster; undefined where nothing is. */
  advice?(): string | undefined;
}

const encoders = {
  gzip: { suffixes: ['.gz', '.gzip'], levels: GZIP_LEVELS, open: openGzipEncoder, contentBytesOf: gzipContentBytes },
  zstd: {
    suffixes: ['.zst', '.zstd'],
    levels: ZSTD_LEVELS,
    open: openZstdEncoder,
    contentBytesOf: zstdContentBytes,
    advice: zstdAdvice,
  },
} as const satisfies Record<string, EncoderKind>;

export type OutputCodec = keyof typeof encoders;

/** Plain data that crosses threads. */
export interface Compression {
  readonly codec: OutputCodec;
  readonly level: number;
}

export const OUTPUT_CODECS = Object.keys(encoders) as readonly OutputCodec[];

export function compressionOf(
  codec: OutputCodec,
  level: number = encoders[codec].levels.usual,
  option = '`compress`',
): Compression {
  const { least, most } = encoders[codec].levels;
  if (Number.isInteger(level) && level >= least && level <= most) return { codec, level };
  throw new UsageError(`${option} ${codec}:${level}: expected a level from ${least} to ${most}`);
}

export function codecOfName(name: string): OutputCodec | undefined {
  return OUTPUT_CODECS.find((codec) => encoders[codec].suffixes.some((suffix) => name.endsWith(suffix)));
}

export function suffixOf(codec: OutputCodec): string {
  return encoders[codec].suffixes[0];
}

/** One line, different for each compression: `gzip 6`. */
export function nameOfCompression({ codec, level }: Compression): string {
  return `${codec} ${level}`;
}

export function encoderAdvice({ codec }: Compression): string | undefined {
  const encoder: EncoderKind = encoders[codec];
  return encoder.advice?.();
}

export function openEncoder({ codec, level }: Compression): MemberEncoder {
  const { open, contentBytesOf } = encoders[codec];
  return checkedEncoder(open(level), codec, contentBytesOf);
}

/**
 * Compares the content length that each member declares with the number of compressed bytes before the member is
 * written: nobody reads a compressed output back, so nothing else would notice a difference.
 */
export function checkedEncoder(
  encoder: MemberEncoder,
  name: string,
  contentBytesOf: EncoderKind['contentBytesOf'],
): MemberEncoder {
  const checked = (member: Uint8Array, { byteLength }: Uint8Array) => {
    if (contentBytesOf(member) === byteLength) return member;
    throw new VerificationError(
      `${name} compressed ${byteLength} bytes to ${member.byteLength} bytes that declare another length; use another codec, or another version of Node`,
    );
  };
  return {
    encode: (bytes) => checked(encoder.encode(bytes), bytes),
    store: (bytes) => checked(encoder.store(bytes), bytes),
  };
}
