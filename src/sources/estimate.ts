/**
 * Estimates from samples how many bytes the decoded records take and how long a record is. A wrong estimate costs only
 * time: a pile that is too large is scattered again.
 */
import seedrandom from 'seedrandom/seedrandom.js';
import type { Codec } from '../formats/codec.js';
import { type FramingSpec, framingOf } from '../formats/framing-table.js';
import { FileWindow } from '../io/file-window.js';
import { type OpenFile, openForRead, readBytes, withFile } from '../io/files.js';
import { isSeekable } from '../io/remote-objects.js';
import { factorOf, isNothing, ONCE, type Weight } from '../keep/weights.js';
import { type FileInput, holdsRows, type Input, isPlain } from './source.js';

export interface Estimate {
  readonly recordBytes: number;
  /** Bounds of `recordBytes`, with a probability of about 95 %. */
  readonly leastBytes: number;
  readonly mostBytes: number;
  readonly meanRecordBytes: number;
  /** Apart from added delimiters. */
  readonly exact: boolean;
  /** Decoded bytes of the records of each input; undefined for streams. */
  readonly decodedBytes: readonly (number | undefined)[];
}

const PLAIN_SAMPLES = 8;
const SAMPLE_BYTES = 64 * 1024;
/** A plan with a stream, whose length is unknown, assumes this much. */
const STREAM_GUESS_BYTES = 8 * 2 ** 30;
const USUAL_RECORD_BYTES = 200;

export function estimateInputs(inputs: readonly Input[], framing: FramingSpec | undefined, drawSeed: string): Estimate {
  const draw = seedrandom(drawSeed);
  const files = inputs.filter((input): input is FileInput => input.kind === 'file' && input.version.byteLength > 0);
  const compressed = files.filter((file): file is CompressedInput => file.codec !== undefined);
  const tables = files.filter(holdsRows);
  const plain = files.filter(isPlain);
  const plainSamples = Array.from({ length: Math.min(PLAIN_SAMPLES, plain.length) }, () =>
    readSample(plain[Math.floor(draw() * plain.length)], draw()),
  );
  const { decodedBytes: expanded, least, most, heads } = sampleExpansion(compressed, draw);
  const expandedOf = new Map<Input, number>(compressed.map((input, i) => [input, expanded[i] ?? 0]));
  const decodedBytes = inputs.map((input) => {
    if (input.kind === 'stream') return undefined;
    if (input.kind === 'list') return input.list.bytes.byteLength;
    if (input.table !== undefined) return input.table.rowBytes;
    return expandedOf.get(input) ?? input.version.byteLength - input.header.byteLength;
  });
  const recordBytes = sum(decodedBytes.map((bytes) => bytes ?? STREAM_GUESS_BYTES));
  const compressedBytes = sum(expanded);
  const meanOf = (samples: readonly Uint8Array[]) => meanRecordBytes(samples, framing);
  const plainBytes = sum(plain.map(({ version }) => version.byteLength));
  const lists = inputs.filter((input) => input.kind === 'list');
  const tableBytes = sum(tables.map(({ table }) => table.rowBytes));
  // Half as much or three times: pages have headers, and values that repeat are stored once.
  const unsureBytes = sum(tables.map(({ table }) => table.unsureBytes));
  const listBytes = sum(lists.map(({ list }) => list.bytes.byteLength));
  return {
    recordBytes,
    leastBytes: recordBytes - compressedBytes + least - unsureBytes / 2,
    mostBytes: recordBytes - compressedBytes + most + 2 * unsureBytes,
    meanRecordBytes: meanOfAll(
      [plainBytes, meanOf(plainSamples)],
      [compressedBytes, meanOf(heads)],
      [listBytes, listBytes / sum(lists.map(({ list }) => list.ends.length))],
      [tableBytes, tableBytes / sum(tables.map(({ table }) => table.rows))],
    ),
    exact:
      compressed.length === 0 &&
      tables.every(({ table }) => table.format !== 'Parquet') &&
      inputs.every(({ kind }) => kind !== 'stream'),
    decodedBytes,
  };
}

function meanRecordBytes(samples: readonly Uint8Array[], framing: FramingSpec | undefined): number | undefined {
  const { countSample } = framing === undefined ? { countSample: () => undefined } : framingOf(framing);
  const byteLength = sum(samples.map((bytes) => bytes.byteLength));
  if (byteLength === 0) return undefined;
  const records = sum(samples.map((bytes) => countSample(bytes) ?? bytes.byteLength / USUAL_RECORD_BYTES));
  return records > 0 ? Math.max(1, byteLength / records) : byteLength;
}

function meanOfAll(...groups: readonly (readonly [number, number | undefined])[]): number {
  const known = groups.flatMap(([bytes, mean]) => (mean === undefined || bytes === 0 ? [] : [{ bytes, mean }]));
  if (known.length === 0) return USUAL_RECORD_BYTES;
  return sum(known.map(({ bytes }) => bytes)) / sum(known.map(({ bytes, mean }) => bytes / mean));
}

function sum(numbers: readonly number[]): number {
  return numbers.reduce((total, number) => total + number, 0);
}

function readSample(input: FileInput | undefined, place: number): Uint8Array {
  if (input === undefined) return new Uint8Array();
  return withFile(openForRead(input.path, 'input'), (file) => {
    const { byteLength } = input.version;
    const sampleBytes = Math.min(SAMPLE_BYTES, byteLength);
    const start = isSeekable(input.version) ? Math.floor(place * (byteLength - sampleBytes)) : 0;
    return readBytes(file, start, sampleBytes);
  });
}

/** `read`: what is read of weighed inputs. `made`: what their records take with all copies. */
export interface WeighedEstimate {
  readonly read: Estimate;
  readonly made: Estimate;
}

/** The draws of few records vary around their mean. */
const DRAW_MARGIN = 1.1;

/** @param weights of each input; undefined: each record comes once. */
export function weighEstimate(estimate: Estimate, weights: readonly Weight[] | undefined): WeighedEstimate {
  if (weights === undefined) return { read: estimate, made: estimate };
  const { recordBytes, decodedBytes } = estimate;
  const knownBytes = decodedBytes.reduce<number>((sum, bytes = 0) => sum + bytes, 0);
  const streams = decodedBytes.filter((bytes) => bytes === undefined).length;
  const ofStream = (recordBytes - knownBytes) / Math.max(1, streams);
  let [readBytes, madeBytes] = [0, 0];
  for (const [i, bytes = ofStream] of decodedBytes.entries()) {
    const weight = weights[i] ?? ONCE;
    readBytes += isNothing(weight) ? 0 : bytes;
    madeBytes += bytes * factorOf(weight);
  }
  const hasDraws = weights.some(({ chance }) => chance > 0n);
  const isUnread = (i: number) => isNothing(weights[i] ?? ONCE);
  const read = scaled(estimate, readBytes, 1);
  return {
    read: { ...read, decodedBytes: decodedBytes.map((bytes, i) => (isUnread(i) ? 0 : bytes)) },
    made: { ...scaled(estimate, madeBytes, hasDraws ? DRAW_MARGIN : 1), exact: estimate.exact && !hasDraws },
  };
}

function scaled(estimate: Estimate, recordBytes: number, margin: number): Estimate {
  const part = recordBytes / Math.max(1, estimate.recordBytes);
  return {
    ...estimate,
    recordBytes,
    leastBytes: (estimate.leastBytes * part) / margin,
    mostBytes: estimate.mostBytes * part * margin,
  };
}

/**
 * Samples what compressed inputs decode to. Each file gets samples by its share of all compressed bytes, so that the
 * mean of the samples is that of the inputs. A large file is sampled in several places if its members can be found from
 * anywhere, else further from its beginning. What files declare is taken where a sample agrees.
 *
 * Of all inputs together, at most 16 MiB are read and 2 MiB decoded, besides some bytes of at most `MOST_CLAIMS` files.
 */
const SAMPLES = 32;
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

interface CompressedInput extends FileInput {
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
    const claim = asksClaim && isSeekable(input.version) ? claimOf(input, guess) : undefined;
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
  const head = readBytes(file, 0, Math.min(version.byteLength, positions.length * SAMPLE_BYTES, MOST_HEAD_BYTES));
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
  const others = isSeekable(version) ? positions.slice(1) : [];
  const inMembers = [0, ...others].flatMap((position) => expandMembers(file, input, Math.floor(position), findMember));
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
  const found = findMember(readBytes(file, position, 2 * SAMPLE_BYTES));
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
    const claimBytes = Math.min(CLAIM_BYTES, version.byteLength);
    const [first, last] = [
      readBytes(file, 0, claimBytes),
      readBytes(file, version.byteLength - claimBytes, claimBytes),
    ];
    return claimedBytes(first, last, guess);
  });
  return claim === undefined || claim > codec.mostExpansion * version.byteLength ? undefined : claim;
}

function ratioOf(expanded: readonly Expanded[]): number | undefined {
  const stored = sum(expanded.map(({ storedBytes }) => storedBytes));
  const decoded = sum(expanded.map(({ decodedBytes }) => decodedBytes));
  return stored === 0 || decoded === 0 ? undefined : Math.max(1, decoded / stored);
}

function mean(numbers: readonly number[]): number | undefined {
  return numbers.length === 0 ? undefined : sum(numbers) / numbers.length;
}

function errorOf(samples: readonly number[]): number {
  const average = mean(samples);
  if (average === undefined || samples.length < FEW_SAMPLES) return USUAL_ERROR;
  const variance = samples.reduce((sum, sample) => sum + (sample - average) ** 2, 0) / (samples.length - 1);
  return Math.min(0.9, Math.max(LEAST_ERROR, (2 * Math.sqrt(variance / samples.length)) / average));
}
