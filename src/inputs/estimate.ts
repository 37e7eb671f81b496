/**
 * Estimates from samples how many bytes the decoded records take and how long a record is. A wrong estimate costs time but
 * never correctness: a pile that is too large is scattered again.
 */
import seedrandom from 'seedrandom';
import { type FramingSpec, framingOf } from '../formats/framing-table.js';
import { openForRead, readAt, withFile } from '../io/files.js';
import type { FileInput, Input } from './list-inputs.js';

export interface Estimate {
  /** Bytes of all records. */
  readonly recordBytes: number;
  readonly meanRecordBytes: number;
  /** Whether `recordBytes` is exact, apart from added delimiters. */
  readonly exact: boolean;
  /** Decoded bytes of the records of each input; undefined for streams. */
  readonly decodedBytes: readonly (number | undefined)[];
}

const SAMPLES = 8;
const SAMPLE_BYTES = 64 * 1024;
/** The length of a stream is unknown: the plan assumes this much. */
const STREAM_GUESS_BYTES = 8 * 2 ** 30;
const USUAL_RECORD_BYTES = 200;

export function estimateInputs(inputs: readonly Input[], framing: FramingSpec | undefined, drawSeed: string): Estimate {
  const draw = seedrandom(drawSeed);
  const { countSample } = framing === undefined ? { countSample: () => undefined } : framingOf(framing);
  let sampledBytes = 0;
  let sampledRecords = 0;
  let sampledCompressed = 0;
  let sampledDecoded = 0;
  const files = inputs.filter((input) => input.kind === 'file' && input.version.byteLength > 0);
  for (let i = 0; i < Math.min(SAMPLES, files.length); i++) {
    const input = files[Math.floor(draw() * files.length)];
    if (input?.kind !== 'file') continue;
    const sample = readSample(input, draw());
    sampledBytes += sample.bytes.byteLength;
    sampledRecords += countSample(sample.bytes) ?? sample.bytes.byteLength / USUAL_RECORD_BYTES;
    if (input.codec !== undefined) {
      sampledCompressed += sample.compressedBytes;
      sampledDecoded += sample.bytes.byteLength;
    }
  }
  const decodedBytes = inputs.map((input) => {
    if (input.kind === 'stream') return undefined;
    if (input.codec === undefined) return input.version.byteLength - input.header.byteLength;
    const expansion = sampledCompressed > 0 ? sampledDecoded / sampledCompressed : input.codec.usualExpansion;
    return Math.ceil(input.version.byteLength * Math.max(1, expansion));
  });
  return {
    recordBytes: decodedBytes.reduce<number>((sum, bytes) => sum + (bytes ?? STREAM_GUESS_BYTES), 0),
    meanRecordBytes:
      sampledRecords > 0
        ? Math.max(1, sampledBytes / sampledRecords)
        : sampledBytes > 0
          ? sampledBytes
          : USUAL_RECORD_BYTES,
    exact: inputs.every((input) => input.kind === 'file' && input.codec === undefined),
    decodedBytes,
  };
}

function readSample(input: FileInput, place: number): { readonly bytes: Uint8Array; readonly compressedBytes: number } {
  return withFile(openForRead(input.path, 'input'), (file) => {
    const { byteLength } = input.version;
    const bytes = new Uint8Array(Math.min(SAMPLE_BYTES, byteLength));
    const position = input.codec === undefined ? Math.floor(place * (byteLength - bytes.byteLength)) : 0;
    const count = readAt(file, bytes, 0, bytes.byteLength, position);
    const read = bytes.subarray(0, count);
    if (input.codec === undefined) return { bytes: read, compressedBytes: 0 };
    const decoded = input.codec.decodeHead(read);
    // A corrupt input is reported, with its position, by the task that reads it.
    return { bytes: decoded, compressedBytes: decoded.byteLength === 0 ? 0 : count };
  });
}
