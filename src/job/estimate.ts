/**
 * Estimates how many bytes the decoded records take and how long a record is, from a few windows of the inputs. A wrong
 * estimate costs only time: a pile that is too large is scattered again.
 *
 * Each file gets windows by its share of all bytes of its kind, plain or compressed, so that the mean of the windows is that
 * of the inputs. What files declare is taken where a window agrees.
 *
 * Of all inputs together, at most 20 MiB are read and 4 MiB decoded, besides some bytes of at most `MOST_CLAIMS` files.
 */
import seedrandom from 'seedrandom/seedrandom.js';
import type { Codec } from '../formats/codec.js';
import type { FramingSpec } from '../formats/framing-table.js';
import { isSeekable, readBytes, withFile } from '../io/files.js';
import type { Weighing } from '../keep/mix.js';
import { factorOf, isNothing, ONCE } from '../keep/weights.js';
import { openInput } from '../places/inputs/input-kinds.js';
import {
  allRowsOf,
  type FileInput,
  type Input,
  type Inputs,
  isPlain,
  isReadOnce,
  recordsIn,
} from '../sources/input.js';
import { InputWindows, USUAL_RECORD_BYTES, type Window } from './input-windows.js';

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

type CompressedInput = FileInput & { readonly codec: Codec };

const MOST_PLAIN_WINDOWS = 8;
const COMPRESSED_WINDOWS = 32;
const WINDOW_BYTES = 64 * 1024;
/** Few files have longer beginnings. */
const MOST_HEAD_BYTES = 8 * WINDOW_BYTES;
/** A plan with a stream, whose length is unknown, assumes this much. */
const STREAM_GUESS_BYTES = 8 * 2 ** 30;
const MOST_CLAIMS = 256;
const CLAIM_BYTES = 18;
/** A claim below this part of what the windows say may be that of one member among several. */
const LEAST_CLAIM = 0.8;
/** Limits of twice the standard error of a mean: the least, and the one that is assumed with few windows. */
const LEAST_ERROR = 0.05;
const USUAL_ERROR = 0.5;
const FEW_WINDOWS = 4;

export function estimateInputs(inputs: Inputs, framing: FramingSpec | undefined, sampleSeed: string): Estimate {
  const draw = seedrandom(sampleSeed);
  const compressed = sampledOf(inputs, isCompressed);
  const plain = sampledOf(inputs, isFilledPlain);
  const headBytes = (COMPRESSED_WINDOWS * WINDOW_BYTES) / Math.max(1, compressed.count + plain.count);
  const windows = new InputWindows(framing, {
    windowBytes: WINDOW_BYTES,
    wholeBytes: WINDOW_BYTES,
    headBytes: Math.max(WINDOW_BYTES, Math.min(MOST_HEAD_BYTES, Math.floor(headBytes))),
    nearBytes: 2 * WINDOW_BYTES,
    decodedBytes: 4 * WINDOW_BYTES,
    sampleBytes: 0,
  });
  // Each window of a plain input on another machine is a request.
  const ofPlain = drawWindows(windows, plain, { count: Math.min(MOST_PLAIN_WINDOWS, plain.count), ofInput: 1 }, draw);
  const ofCompressed = drawWindows(
    windows,
    compressed,
    { count: COMPRESSED_WINDOWS, ofInput: COMPRESSED_WINDOWS },
    draw,
  );
  const { sizes, least, most } = sizesOf(compressed, ofCompressed);
  const decodedBytes = inputs.map((input, ordinal) => {
    const known = input.list?.bytes.byteLength ?? input.rows?.rowBytes ?? sizes.get(ordinal);
    return known ?? (input.version && input.version.byteLength - input.header.byteLength);
  });
  const recordBytes = sumBy(decodedBytes, (bytes) => bytes ?? STREAM_GUESS_BYTES);
  let compressedBytes = 0;
  for (const bytes of sizes.values()) compressedBytes += bytes;
  const rows = allRowsOf(inputs);
  // Half as much or three times: pages have headers, and values that repeat are stored once.
  const unsureBytes = sumBy(rows, (facts) => facts.unsureBytes);
  const sampled = plain.storedBytes * densityOf(ofPlain) + compressedBytes * densityOf(ofCompressed);
  const counted = inputs.reduce((sum, input) => sum + (recordsIn(input) ?? 0), 0);
  const knownBytes = sumBy(decodedBytes, (bytes) => bytes ?? 0);
  return {
    recordBytes,
    leastBytes: recordBytes - compressedBytes + least - unsureBytes / 2,
    mostBytes: recordBytes - compressedBytes + most + 2 * unsureBytes,
    meanRecordBytes: knownBytes === 0 ? USUAL_RECORD_BYTES : Math.max(1, knownBytes / (sampled + counted)),
    exact: compressed.count === 0 && rows.every(({ isExact }) => isExact) && !inputs.some(isReadOnce),
    decodedBytes,
  };
}

function isCompressed(input: Input): input is CompressedInput {
  return input.codec !== undefined && input.version.byteLength > 0;
}

function isFilledPlain(input: Input): input is FileInput {
  return isPlain(input) && input.version.byteLength > 0;
}

/** The inputs of a kind, with their ordinals, each time somebody asks. */
interface SampledInputs<Kind extends FileInput> extends Iterable<[number, Kind]> {
  readonly count: number;
  readonly storedBytes: number;
}

function sampledOf<Kind extends FileInput>(
  inputs: Inputs,
  isOfKind: (input: Input) => input is Kind,
): SampledInputs<Kind> {
  let [count, storedBytes] = [0, 0];
  const all = function* (): Generator<[number, Kind], void> {
    for (const [ordinal, input] of inputs.entries()) if (isOfKind(input)) yield [ordinal, input];
  };
  for (const [, { version }] of all()) {
    count += 1;
    storedBytes += version.byteLength;
  }
  return { count, storedBytes, [Symbol.iterator]: all };
}

interface DrawnWindow {
  readonly ordinal: number;
  readonly input: FileInput;
  /** The window of an input. Undefined: it cannot be decoded. */
  readonly window: Window | undefined;
}

/**
 * Reads the windows of places that lie equally far from one another in the stored bytes of all inputs.
 * @param most how many places are drawn (`count`), and how many windows of one input are read (`ofInput`): its last one
 *   stands for its other places.
 */
function drawWindows(
  windows: InputWindows,
  inputs: SampledInputs<FileInput>,
  { count, ofInput }: { readonly count: number; readonly ofInput: number },
  draw: () => number,
): readonly DrawnWindow[] {
  const drawn: DrawnWindow[] = [];
  const first = draw();
  let start = 0;
  for (const [ordinal, input] of inputs) {
    if (drawn.length === count) break;
    const { byteLength } = input.version;
    const at = () => ((drawn.length + first) / count) * inputs.storedBytes;
    let window: Window | undefined;
    for (let places = 0; drawn.length < count && at() < start + byteLength; places++) {
      if (places < ofInput) window = windows.around(input, (at() - start) / byteLength);
      drawn.push({ ordinal, input, window });
    }
    start += byteLength;
  }
  return drawn;
}

/** Records for each byte. */
function densityOf(drawn: readonly DrawnWindow[]): number {
  const densities = drawn.flatMap(({ window }) => window?.density ?? []);
  const seenBytes = sumBy(drawn, ({ window }) => window?.decodedBytes ?? 0);
  const density = mean(densities) ?? 1 / USUAL_RECORD_BYTES;
  // No record ends in them.
  return density === 0 ? 1 / Math.max(1, seenBytes) : density;
}

interface Sizes {
  /** The key is the ordinal of an input. */
  readonly sizes: ReadonlyMap<number, number>;
  /** Bounds of their sum, with a probability of about 95 %. */
  readonly least: number;
  readonly most: number;
}

/** Estimates the bytes that compressed inputs decode to. */
function sizesOf(inputs: SampledInputs<CompressedInput>, drawn: readonly DrawnWindow[]): Sizes {
  const ratios = new Map<unknown, number[]>();
  for (const { ordinal, input, window } of drawn) {
    if (window === undefined) continue;
    const ratio = Math.max(1, window.decodedBytes / window.storedBytes);
    for (const key of [ordinal, input.codec, 'all']) ratios.set(key, [...(ratios.get(key) ?? []), ratio]);
  }
  const error = errorOf([...new Set(drawn.flatMap(({ window }) => window ?? []))]);
  let [least, most] = [0, 0];
  const sizes = new Map<number, number>();
  for (const [ordinal, input] of inputs) {
    const ratio = mean(ratios.get(ordinal) ?? ratios.get(input.codec) ?? ratios.get('all') ?? []);
    const guess = Math.ceil(input.version.byteLength * (ratio ?? input.codec.usualExpansion));
    const asksClaim =
      ratio !== undefined && (sizes.size < MOST_CLAIMS || ratios.has(ordinal)) && isSeekable(input.version);
    const claim = asksClaim ? claimedBytesOf(input, guess) : undefined;
    const isTaken = claim !== undefined && claim >= LEAST_CLAIM * guess;
    // No file holds less than one of its members.
    least += Math.max(claim ?? 0, isTaken ? 0 : guess * (1 - error));
    most += isTaken ? Math.max(claim, guess) : guess * (1 + error);
    sizes.set(ordinal, isTaken ? claim : guess);
  }
  return { sizes, least: Math.floor(least), most: Math.ceil(most) };
}

function claimedBytesOf({ path, codec, version }: CompressedInput, guess: number): number | undefined {
  const { claimedBytes } = codec;
  if (claimedBytes === undefined) return undefined;
  const claim = withFile(openInput(path), (file) => {
    const claimBytes = Math.min(CLAIM_BYTES, version.byteLength);
    const last = readBytes(file, version.byteLength - claimBytes, claimBytes);
    return claimedBytes(readBytes(file, 0, claimBytes), last, guess);
  });
  return claim === undefined || claim > codec.mostExpansion * version.byteLength ? undefined : claim;
}

function errorOf(windows: readonly Window[]): number {
  const ratios = windows.map(({ decodedBytes, storedBytes }) => decodedBytes / storedBytes);
  const average = mean(ratios);
  if (average === undefined || ratios.length < FEW_WINDOWS) return USUAL_ERROR;
  const variance = sumBy(ratios, (ratio) => (ratio - average) ** 2) / (ratios.length - 1);
  return Math.min(0.9, Math.max(LEAST_ERROR, (2 * Math.sqrt(variance / ratios.length)) / average));
}

function mean(numbers: readonly number[]): number | undefined {
  return numbers.length === 0 ? undefined : sumBy(numbers, (number) => number) / numbers.length;
}

export function sumBy<Each>(all: readonly Each[], amountOf: (each: Each) => number): number {
  return all.reduce((sum, each) => sum + amountOf(each), 0);
}

/** `read`: what is read of weighed inputs. `made`: what their records take with all copies. */
export interface WeighedEstimate {
  readonly read: Estimate;
  readonly made: Estimate;
}

/** The draws of few records vary around their mean. */
const DRAW_MARGIN = 1.1;

/** @param weighing undefined: each record comes once. @param isByNumber whether numbers in records weigh them, too. */
export function weighEstimate(
  estimate: Estimate,
  weighing: Pick<Weighing, 'weights' | 'meanNumber'> | undefined,
  isByNumber: boolean,
): WeighedEstimate {
  if (weighing === undefined) return { read: estimate, made: estimate };
  const { weights, meanNumber = 1 } = weighing;
  const weightOf = (i: number) => weights[i] ?? ONCE;
  const isRead = (i: number) => !isNothing(weightOf(i));
  const sizes = [...estimate.decodedBytes.entries()].map(([i, bytes = STREAM_GUESS_BYTES]) => ({ i, bytes }));
  const readBytes = sumBy(sizes, ({ i, bytes }) => (isRead(i) ? bytes : 0));
  const madeBytes = sumBy(sizes, ({ i, bytes }) => bytes * factorOf(weightOf(i)) * meanNumber);
  const hasDraws = isByNumber || weights.some(({ chance }) => chance > 0n);
  const decodedBytes = estimate.decodedBytes.map((bytes, i) => (isRead(i) ? bytes : 0));
  return {
    read: { ...scaled(estimate, readBytes, 1), decodedBytes },
    made: { ...scaled(estimate, madeBytes, hasDraws ? DRAW_MARGIN : 1), exact: estimate.exact && !hasDraws },
  };
}

function scaled(estimate: Estimate, recordBytes: number, margin: number): Estimate {
  const part = recordBytes / Math.max(1, estimate.recordBytes);
  const [leastBytes, mostBytes] = [(estimate.leastBytes * part) / margin, estimate.mostBytes * part * margin];
  return { ...estimate, recordBytes, leastBytes, mostBytes };
}
