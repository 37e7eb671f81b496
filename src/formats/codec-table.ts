/**
 * All codecs that inputs can have, recognised by magic bytes and never by name. To add one: a file that exports a
 * `Codec`, and its line in `codecs`.
 */
import type { Codec, CompressedSource } from './codec.js';
import { bgzf, gzip } from './codecs/gzip.js';
import { bzip2, lz4, namedProgram, xz } from './codecs/programs.js';
import { zstd } from './codecs/zstd.js';

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

export function detectCodec(head: Uint8Array, program?: DecompressProgram): Codec | undefined {
  if (program === undefined) return codecs.find((codec) => codec.matches(head));
  return program.length === 0 ? undefined : namedProgram(program);
}

/**
 * Reads the first bytes of a stream, of which a slow pipe may deliver one at a time, to find its codec. The returned
 * `next` gives these bytes again, then those of `next`.
 */
export async function detectCodecOfStream(
  next: () => Promise<Uint8Array>,
  program?: DecompressProgram,
): Promise<{ readonly codec: Codec | undefined; readonly next: CompressedSource['next'] }> {
  let first: Uint8Array = new Uint8Array();
  while (first.byteLength < CODEC_HEAD_BYTES) {
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
  if (program !== undefined) return namedProgram(program);
  const codec = codecs.find((candidate) => candidate.name === name);
  if (codec === undefined) throw new RangeError(`no codec is named ${name}`);
  return codec;
}
