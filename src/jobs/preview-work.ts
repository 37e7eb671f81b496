/** What the job of a preview computes and moves, where its sizes come from samples and its speeds from a probe. */
import type { CompressedInput } from '../inputs/expansion.js';
import type { FileInput } from '../inputs/list-inputs.js';
import type { TimedJob } from '../plan/expected-time.js';
import type { PreparedShuffle } from './prepare-shuffle.js';
import { expectedOf, type JobSizes, largestOfEachCodec } from './preview-sizes.js';
import { probeDecoder, probeKernel, type Slowness } from './probe-work.js';
import {
  divisionOf,
  expectedFiles,
  type JobAmounts,
  longestTaskShare,
  SLOW_DECODING,
  timedJob,
  USUAL_DECODING,
  usualEncoding,
  workBetween,
} from './timed-job.js';

const KERNEL_SECONDS = 0.25;
const DECODER_SECONDS = 0.3;
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
  const slowness = measures ? await probeKernel(sizes.sample, framing, KERNEL_SECONDS, signal) : undefined;
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
  const measuredEncoding = slowness && sizes.encoding && sizes.encoding.secondsPerByte / quiet;
  return { slowness, decoding, encodingPerByte: measuredEncoding || usualEncoding(compression) };
}

/** What the job of a preview computes and moves. */
export function previewedJob(
  { plan, inputsToRead, request, isCounted, earlier }: PreparedShuffle,
  sizes: JobSizes & { readonly output: NonNullable<JobSizes['output']> },
  { decoding, encodingPerByte }: MeasuredWork,
  levels: number,
  shareLeft: TimedJob['shareLeft'],
): TimedJob {
  const { slices } = plan;
  const { read, onPiles, output, decodedBytes } = sizes;
  const decodeSeconds = inputsToRead.reduce((sum, input, ordinal) => {
    if (input.kind !== 'file' || input.codec === undefined) return sum;
    return sum + (decodedBytes[ordinal] ?? 0) * (decoding.get(input.codec.name) ?? SLOW_DECODING);
  }, 0);
  const amounts: JobAmounts = {
    storedBytes: plan.inputBytes ?? 0,
    read: expectedOf(read),
    onPiles: expectedOf(onPiles),
    output: expectedOf(output),
    writtenBytes: output.writtenBytes.expected,
    tempBytes: sizes.tempBytesOfLevel.expected,
    outputFiles: expectedFiles(request, expectedOf(output)) ?? 1,
    decodeSeconds,
    encodeSeconds: output.bytes.expected * encodingPerByte,
  };
  return timedJob(amounts, {
    ...divisionOf(plan, amounts.tempBytes, slices.length),
    inputFiles: inputsToRead.length,
    longestTaskShare: longestTaskShare(slices, inputsToRead, (ordinal) => decodedBytes[ordinal] ?? 0),
    levels,
    isCounted,
    isCompared: request.unique,
    between: workBetween(request, earlier),
    shareLeft,
  });
}
