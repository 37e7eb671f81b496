/**
 * Samples what compressed inputs decode to. Each file gets samples by its share of all compressed bytes, so that the
 * mean of the samples is that of the inputs. A large file is sampled in several places if its members can be found from
 * anywhere, else further from its beginning. What files declare is taken where a sample agrees.
 *
 * Of all inputs together, at most 16 MiB are read and 2 MiB decoded, besides some bytes of at most `MOST_CLAIMS` files.
 */

import type { Codec } from '../formats/codec.js';
import { FileWindow } from '../io/file-window.js';
import { type OpenFile, openForRead, readAt, withFile } from '../io/files.js';
import type { FileInput } from './list-inputs.js';

const SAMPLES = 32;
const SAMPLE_BYTES = 64 * 1024;
const MOST_HEAD_BYTES = 8 * SAMPLE_BYTES;
/** A head that decodes to far more than text does is decoded only so far. */
const SHORT_HEAD_BYTES = 4096;
/** So much of a decoded head tells how long records are. */
const KEPT_HEAD_BYTES = 4 * SAMPLE_BYTES;
/** A walk from member to member goes no further from its start. */
const MOST_WALK_BYTES = 4 * SAMPLE_BYTES;
const MOST_CLAIMS = 256;
const CLAIM_BYTES = 18;
/** A claim below this part of what the samples say may be that of one member among several. */
const LEAST_CLAIM = 0.8;
/** Limits of twice the standard error of a mean: the least, and the one that is assumed with few samples. */
const LEAST_ERROR = 0.05;
const USUAL_ERROR = 0.5;
const FEW_SAMPLES = 4;

export interface CompressedInput extends FileInput {
  readonly codec: Codec;
}

interface Expanded {
  readonly storedBytes: number;
  readonly decodedBytes: number;
}

interface Expansion {
  readonly decodedBytes: readonly number[];
  /** Bounds of their sum, with a probability of about 95 %. */
  readonly least: number;
  readonly most: number;
  readonly heads: readonly Uint8Array[];
}

export function sampleExpansion(inputs: readonly CompressedInput[], draw: () => number): Expansion {
  const heads: Uint8Array[] = [];
  const places = drawPlaces(inputs, draw);
  const ratios = new Map<CompressedInput, number>();
  const samples: number[] = [];
  for (const [input, positions] of places) {
    const expanded = withFile(openForRead(input.path, 'input'), (file) => expand(file, input, positions, heads));
    const ratio = ratioOf(expanded);
    if (ratio === undefined) continue;
    ratios.set(input, ratio);
    samples.push(...expanded.map((place) => place.decodedBytes / place.storedBytes));
  }
  const meanOf = (codec: Codec) =>
    mean(
      [...places].flatMap(([input, positions]) => {
        const ratio = input.codec === codec ? ratios.get(input) : undefined;
        return ratio === undefined ? [] : positions.map(() => ratio);
      }),
    ) ?? mean(samples);
  const means = new Map([...new Set(inputs.map(({ codec }) => codec))].map((codec) => [codec, meanOf(codec)]));
  const error = errorOf(samples);
  let [least, most] = [0, 0];
  const decodedBytes = inputs.map((input, i) => {
    const { byteLength } = input.version;
    const ratio = ratios.get(input) ?? means.get(input.codec);
    const guess = Math.ceil(byteLength * (ratio ?? input.codec.usualExpansion));
    const asksClaim = ratio !== undefined && (inputs.length <= MOST_CLAIMS || ratios.has(input) || i < MOST_CLAIMS);
    const claim = asksClaim ? claimOf(input, guess) : undefined;
    const isTaken = claim !== undefined && claim >= LEAST_CLAIM * guess;
    // No file holds less than one of its members.
    least += Math.max(claim ?? 0, isTaken ? 0 : guess * (1 - error));
    most += isTaken ? Math.max(claim, guess) : guess * (1 + error);
    return isTaken ? claim : guess;
  });
  return { decodedBytes, least: Math.floor(least), most: Math.ceil(most), heads };
}

function drawPlaces(inputs: readonly CompressedInput[], draw: () => number): Map<CompressedInput, number[]> {
  const totalBytes = inputs.reduce((sum, { version }) => sum + version.byteLength, 0);
  const places = new Map<CompressedInput, number[]>();
  const first = draw();
  let start = 0;
  let taken = 0;
  for (const input of inputs) {
    const end = start + input.version.byteLength;
    const at = () => ((taken + first) / SAMPLES) * totalBytes;
    for (; taken < SAMPLES && at() < end; taken++) places.set(input, [...(places.get(input) ?? []), at() - start]);
    start = end;
  }
  return places;
}

function expand(file: OpenFile, input: CompressedInput, positions: readonly number[], heads: Uint8Array[]): Expanded[] {
  const { codec, version } = input;
  const { findMember } = codec;
  const stored = new Uint8Array(Math.min(version.byteLength, positions.length * SAMPLE_BYTES, MOST_HEAD_BYTES));
  const head = stored.subarray(0, readAt(file, stored, 0, stored.byteLength, 0));
  const expanded: Expanded[] = [];
  for (const storedBytes of [head.byteLength, Math.min(SHORT_HEAD_BYTES, head.byteLength)]) {
    // The task that reads a corrupt input reports it, with the position.
    const { kept, byteLength: decodedBytes } = codec.decodeHead(head.subarray(0, storedBytes), KEPT_HEAD_BYTES);
    if (decodedBytes === 0) continue;
    heads.push(kept);
    const wholeBytes = codec.wholeBytes?.(head.subarray(0, storedBytes), decodedBytes) ?? storedBytes;
    expanded.push({ storedBytes: Math.max(1, wholeBytes), decodedBytes });
    break;
  }
  if (findMember === undefined) return expanded;
  const inMembers = [0, ...positions.slice(1)].flatMap((position) =>
    expandMembers(file, input, Math.floor(position), findMember),
  );
  // What members declare is exact; a decoded head lacks its last block.
  return inMembers.length > 0 ? inMembers : expanded;
}

/** Whole members that begin after `position`, by the lengths that they declare. */
function expandMembers(
  file: OpenFile,
  { codec, version, path }: CompressedInput,
  position: number,
  findMember: (bytes: Uint8Array) => number,
): Expanded[] {
  const near = new Uint8Array(2 * SAMPLE_BYTES);
  const found = findMember(near.subarray(0, readAt(file, near, 0, near.byteLength, position)));
  if (found < 0) return [];
  const base = position + found;
  const window = new FileWindow(file, version.byteLength);
  const bytes = {
    path,
    // Limits the walk however far the next member is.
    byteLength: Math.min(version.byteLength - base, MOST_WALK_BYTES),
    read: (at: number, byteLength: number) => window.read(base + at, byteLength),
  };
  let last: Expanded | undefined;
  try {
    for (const members = codec.listMembers?.(bytes); members !== undefined; ) {
      const { done, value } = members.next();
      if (done === true) {
        if (value !== undefined) last = { storedBytes: bytes.byteLength, decodedBytes: value };
        break;
      }
      if (value.storedStart > 0) last = { storedBytes: value.storedStart, decodedBytes: value.decodedStart };
      if (value.storedStart >= SAMPLE_BYTES) break;
    }
  } catch {
    // The bytes only looked like the beginning of a member.
  }
  return last === undefined || last.decodedBytes > codec.mostExpansion * last.storedBytes ? [] : [last];
}

function claimOf({ path, codec, version }: CompressedInput, guess: number): number | undefined {
  const { claimedBytes } = codec;
  if (claimedBytes === undefined) return undefined;
  const claim = withFile(openForRead(path, 'input'), (file) => {
    const part = (position: number) => {
      const bytes = new Uint8Array(Math.min(CLAIM_BYTES, version.byteLength));
      return bytes.subarray(0, readAt(file, bytes, 0, bytes.byteLength, position));
    };
    return claimedBytes(part(0), part(Math.max(0, version.byteLength - CLAIM_BYTES)), guess);
  });
  return claim === undefined || claim > codec.mostExpansion * version.byteLength ? undefined : claim;
}

function ratioOf(expanded: readonly Expanded[]): number | undefined {
  const stored = expanded.reduce((sum, { storedBytes }) => sum + storedBytes, 0);
  const decoded = expanded.reduce((sum, { decodedBytes }) => sum + decodedBytes, 0);
  return stored === 0 || decoded === 0 ? undefined : Math.max(1, decoded / stored);
}

function mean(numbers: readonly number[]): number | undefined {
  return numbers.length === 0 ? undefined : numbers.reduce((sum, number) => sum + number, 0) / numbers.length;
}

function errorOf(samples: readonly number[]): number {
  const average = mean(samples);
  if (average === undefined || samples.length < FEW_SAMPLES) return USUAL_ERROR;
  const variance = samples.reduce((sum, sample) => sum + (sample - average) ** 2, 0) / (samples.length - 1);
  return Math.min(0.9, Math.max(LEAST_ERROR, (2 * Math.sqrt(variance / samples.length)) / average));
}
