/**
 * All codecs, recognised by magic bytes and never by name.
 *
 * To add one: a file that exports a `Codec`, and its line in `codecs`.
 */
import type { Codec } from './codec.js';
import { bgzf } from './codecs/bgzf.js';
import { gzip } from './codecs/gzip.js';
import { zstd } from './codecs/zstd.js';

/** What is a special case of another one stands before it. */
const codecs: readonly Codec[] = [bgzf, gzip, zstd];

/** Bytes at the beginning of an input that `detectCodec` wants to see. */
export const CODEC_HEAD_BYTES = 16;

/** The codec of an input that begins with `head`; undefined: plain bytes. */
export function detectCodec(head: Uint8Array): Codec | undefined {
  return codecs.find((codec) => codec.matches(head));
}

/** `name` without its codec's ending, whichever codec that is. */
export function withoutCodecSuffix(name: string): string {
  for (const { suffixes } of codecs) {
    for (const suffix of suffixes) {
      if (name.endsWith(suffix)) return name.slice(0, -suffix.length);
    }
  }
  return name;
}

/** The codec that a plan chose by name. */
export function codecNamed(name: string): Codec {
  const codec = codecs.find((candidate) => candidate.name === name);
  if (codec === undefined) throw new RangeError(`no codec is named ${name}`);
  return codec;
}
