/**
 * All codecs that inputs can have, recognised by magic bytes and never by name. To add one: a file that exports a
 * `Codec`, and its line in `codecs`; and the bytes of an empty file, if its programs write one, in recognition.ts.
 */
import type { Codec, CompressedSource } from './codec.js';
import { bgzf, gzip } from './codecs/gzip.js';
import { bzip2, lz4, userProgram, xz } from './codecs/programs.js';
import { zstd } from './codecs/zstd.js';
import { firstFrameIn } from './codecs/zstd-frames.js';

/** A special case of a codec stands before that codec. */
const codecs: readonly Codec[] = [bgzf, gzip, zstd, bzip2, xz, lz4];

/**
 * Bytes at the beginning of an input that `detectCodec` needs. BGZF with other subfields before its own needs more; with
 * fewer it is gzip, which decodes to the same bytes.
 */
export const CODEC_HEAD_BYTES = 18;

/**
 * A program with its arguments that decodes all inputs of a job. Empty: all are taken as they are stored. Undefined:
 * their first bytes decide.
 */
export type DecompressProgram = readonly string[] | undefined;

/**
 * @param readAt reads more of the input than its head: a skippable frame, which a file of zstd or lz4 may begin with, may
 *   have any length.
 */
export function detectCodec(
  head: Uint8Array,
  program?: DecompressProgram,
  readAt?: (position: number) => Uint8Array,
): Codec | undefined {
  if (program === undefined) {
    const codec = codecs.find((each) => each.matches(head));
    return codec === zstd && lz4.matches(firstFrameOf(head, readAt)) ? lz4 : codec;
  }
  return program.length === 0 ? undefined : userProgram(program);
}

/** Begins with the first frame that is not skippable; empty at the end of the input. */
function firstFrameOf(
  head: Uint8Array,
  readAt: (position: number) => Uint8Array = (at) => head.subarray(at),
): Uint8Array {
  let bytes = head;
  for (let at = 0; ; ) {
    const step = firstFrameIn(bytes);
    if (step === 0) return bytes;
    at += step;
    bytes = readAt(at);
  }
}

/** A stream that begins with longer skippable frames is taken for zstd. */
const MOST_SKIPPED_BYTES = 2 ** 20;

/**
 * Reads the first bytes of a stream, of which a slow pipe may deliver one at a time, to find its codec. The returned
 * `next` gives these bytes again, then those of `next`.
 */
export async function detectCodecOfStream(
  next: () => Promise<Uint8Array>,
  program?: DecompressProgram,
): Promise<{ readonly codec: Codec | undefined; readonly next: CompressedSource['next'] }> {
  let first: Uint8Array = new Uint8Array();
  const wantedBytes = () => Math.max(CODEC_HEAD_BYTES, Math.min(firstFrameIn(first) + 8, MOST_SKIPPED_BYTES));
  while (first.byteLength < wantedBytes()) {
    const piece = await next();
    if (piece.byteLength === 0) break;
    // `Buffer.concat` may take memory from a shared pool.
    const joined = new Uint8Array(first.byteLength + piece.byteLength);
    joined.set(first);
    joined.set(piece, first.byteLength);
    first = joined;
  }
  let held: Uint8Array | undefined = first.byteLength > 0 ? first : undefined;
  const nextOfAll = () => {
    const bytes = held;
    held = undefined;
    return bytes ?? next();
  };
  return { codec: detectCodec(first, program), next: nextOfAll };
}

export function withoutCodecSuffix(name: string): string {
  for (const { suffixes } of codecs) {
    for (const suffix of suffixes) {
      if (name.endsWith(suffix)) return name.slice(0, -suffix.length);
    }
  }
  return name;
}

export function codecNamed(name: string, program?: DecompressProgram): Codec {
  if (program !== undefined) return userProgram(program);
  const codec = codecs.find((candidate) => candidate.name === name);
  if (codec === undefined) throw new RangeError(`no codec is named ${name}`);
  return codec;
}
