/** What a job computes and moves, as the model of the time takes it. */
import type { CompressedInput } from '../inputs/expansion.js';
import type { FileInput } from '../inputs/list-inputs.js';
import type { TimedJob } from '../plan/expected-time.js';
import { staysInMemory } from '../plan/pile-levels.js';
import type { PreparedShuffle } from './prepare-shuffle.js';
import { expectedFiles, type JobSizes, largestOfEachCodec } from './preview-sizes.js';
import { probeDecoder, probeKernel, type Slowness } from './probe-work.js';

const KERNEL_SECONDS = 0.25;
const DECODER_SECONDS = 0.3;
/** Seconds for a decoded byte where nothing was measured. */
const USUAL_DECODING: Readonly<Record<string, number>> = { gzip: 2.5e-9, bgzf: 2.5e-9, zstd: 1e-9, lz4: 0.7e-9 };
const SLOW_DECODING = 15e-9;
const USUAL_ENCODING = { gzip: 30e-9, zstd: 6e-9 };

export interface MeasuredWork {
  /** Undefined: not measured. */
  readonly slowness: Slowness | undefined;
  /** Seconds for a decoded byte of each codec, on the machine of the model. */
  readonly decoding: ReadonlyMap<string, number>;
  readonly encodingPerByte: number;
}

/** @throws AbortError */
export async function measureWork(
  { request, inputsToRead, plan }: PreparedShuffle,
  sizes: JobSizes,
  probe: boolean,
): Promise<MeasuredWork> {
  const { framing, compression, signal, igzip } = request;
  const measures = probe && framing !== undefined;
  const slowness = measures ? await probeKernel(sizes.sample.records, framing, KERNEL_SECONDS, signal) : undefined;
  // Measured times are those of a machine as busy as now.
  const quiet = slowness?.now ?? 1;
  const decoding = new Map<string, number>();
  const files = inputsToRead.filter((input): input is FileInput => input.kind === 'file');
  for (const file of largestOfEachCodec(files)) {
    const { codec } = file;
    if (codec === undefined) continue;
    const input: CompressedInput = { ...file, codec };
    const isPart = plan.slices.filter((slice) => slice.some((part) => part.members !== undefined)).length > 0;
    const measured = slowness && (await probeDecoder(input, igzip && !isPart, DECODER_SECONDS, signal));
    decoding.set(codec.name, measured === undefined ? (USUAL_DECODING[codec.name] ?? SLOW_DECODING) : measured / quiet);
  }
  const usualEncoding = compression === undefined ? 0 : USUAL_ENCODING[compression.codec];
  const measuredEncoding = slowness && sizes.encoding && sizes.encoding.secondsPerByte / quiet;
  return { slowness, decoding, encodingPerByte: compression && measuredEncoding ? measuredEncoding : usualEncoding };
}

export function timedJob(
  { plan, inputsToRead, request, isCounted }: PreparedShuffle,
  sizes: JobSizes & { readonly output: NonNullable<JobSizes['output']> },
  { decoding, encodingPerByte }: MeasuredWork,
  levels: number,
  shareLeft: TimedJob['shareLeft'],
): TimedJob {
  const { memory, slices, inline } = plan;
  const { read, onPiles, output, decodedBytes } = sizes;
  const bytesOf = (ordinal: number) => decodedBytes[ordinal] ?? 0;
  const sliceBytes = slices.map((slice) =>
    slice.reduce((sum, { inputOrdinal, start, end, members }) => {
      const input = inputsToRead[inputOrdinal];
      const isWhole = input?.kind === 'file' && input.codec !== undefined && members === undefined;
      return sum + (isWhole || end === undefined ? bytesOf(inputOrdinal) : end - start);
    }, 0),
  );
  const decodeSeconds = inputsToRead.reduce((sum, input, ordinal) => {
    if (input.kind !== 'file' || input.codec === undefined) return sum;
    return sum + bytesOf(ordinal) * (decoding.get(input.codec.name) ?? SLOW_DECODING);
  }, 0);
  const tempBytes = sizes.tempBytesOfLevel.expected;
  const isInMemory = staysInMemory(memory);
  return {
    inputBytes: plan.inputBytes ?? 0,
    readBytes: read.bytes.expected,
    readRecords: read.records.expected,
    pileBytes: onPiles.bytes.expected,
    pileRecords: onPiles.records.expected,
    outputBytes: output.bytes.expected,
    outputRecords: output.records.expected,
    writtenBytes: output.writtenBytes.expected,
    tempBytes,
    segments: isInMemory ? 0 : tempBytes / memory.bufferBytes + (slices.length * memory.pileCount) / 2,
    levels,
    isCounted,
    inputFiles: inputsToRead.length,
    outputFiles: expectedFiles(request, output) ?? 1,
    isMeasured: request.unique || request.repeat,
    threads: inline ? 1 : memory.workers,
    tasks: Math.max(1, slices.length),
    longestTaskShare:
      Math.max(0, ...sliceBytes) /
      Math.max(
        1,
        sliceBytes.reduce((sum, bytes) => sum + bytes, 0),
      ),
    decodeSeconds,
    encodeSeconds: output.bytes.expected * encodingPerByte,
    shareLeft,
  };
}
