/**
 * Estimates from samples how many bytes the decoded records take and how long a record is. A wrong estimate costs only
 * time: a pile that is too large is scattered again.
 */
import seedrandom from 'seedrandom/seedrandom.js';
import { type FramingSpec, framingOf } from '../formats/framing-table.js';
import { openForRead, readAt, withFile } from '../io/files.js';
import { factorOf, isNothing, ONCE, type Weight } from '../plan/weights.js';
import { type CompressedInput, sampleExpansion } from './expansion.js';
import type { FileInput, Input } from './list-inputs.js';

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

const SAMPLES = 8;
const SAMPLE_BYTES = 64 * 1024;
/** A plan with a stream, whose length is unknown, assumes this much. */
const STREAM_GUESS_BYTES = 8 * 2 ** 30;
const USUAL_RECORD_BYTES = 200;

export function estimateInputs(inputs: readonly Input[], framing: FramingSpec | undefined, drawSeed: string): Estimate {
  const draw = seedrandom(drawSeed);
  const files = inputs.filter((input): input is FileInput => input.kind === 'file' && input.version.byteLength > 0);
  const compressed = files.filter(isCompressed);
  const plain = files.filter(({ codec }) => codec === undefined);
  const plainSamples = Array.from({ length: Math.min(SAMPLES, plain.length) }, () =>
    readSample(plain[Math.floor(draw() * plain.length)], draw()),
  );
  const { decodedBytes: expanded, least, most, heads } = sampleExpansion(compressed, draw);
  const expandedOf = new Map<Input, number>(compressed.map((input, i) => [input, expanded[i] ?? 0]));
  const decodedBytes = inputs.map((input) => {
    if (input.kind === 'stream') return undefined;
    if (input.kind === 'list') return input.list.bytes.byteLength;
    return expandedOf.get(input) ?? input.version.byteLength - input.header.byteLength;
  });
  const recordBytes = sum(decodedBytes.map((bytes) => bytes ?? STREAM_GUESS_BYTES));
  const compressedBytes = sum(expanded);
  const meanOf = (samples: readonly Uint8Array[]) => meanRecordBytes(samples, framing);
  const plainBytes = sum(plain.map(({ version }) => version.byteLength));
  const lists = inputs.filter((input) => input.kind === 'list');
  const listBytes = sum(lists.map(({ list }) => list.bytes.byteLength));
  return {
    recordBytes,
    leastBytes: recordBytes - compressedBytes + least,
    mostBytes: recordBytes - compressedBytes + most,
    meanRecordBytes: meanOfAll(
      [plainBytes, meanOf(plainSamples)],
      [compressedBytes, meanOf(heads)],
      [listBytes, listBytes / sum(lists.map(({ list }) => list.ends.length))],
    ),
    exact: compressed.length === 0 && inputs.every(({ kind }) => kind !== 'stream'),
    decodedBytes,
  };
}

function isCompressed(input: FileInput): input is CompressedInput {
  return input.codec !== undefined;
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
    const bytes = new Uint8Array(Math.min(SAMPLE_BYTES, byteLength));
    const position = Math.floor(place * (byteLength - bytes.byteLength));
    return bytes.subarray(0, readAt(file, bytes, 0, bytes.byteLength, position));
  });
}

/** `read`: what is read of weighed inputs. `made`: what their records take with all copies. */
interface WeighedEstimate {
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
