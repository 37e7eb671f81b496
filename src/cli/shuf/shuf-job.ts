/**
 * The jobs of shuf that the library does: many records, files as outputs, repetition, numbers. Inputs are bytes for shuf:
 * none is decoded, and none is refused for its format. It is quiet: it prints failures alone.
 */
import { ClosedPipeError, PileshufError } from '../../errors.js';
import type { ShuffleOptions } from '../../jobs/options.js';
import { shuffle } from '../../jobs/shuffle.js';
import { shuffleRange } from '../../jobs/shuffle-range.js';
import type { StopSignal } from '../exit-code.js';
import { watchSignals } from '../interruption.js';
import { nameFlags } from '../option-table.js';
import { countOfRecords } from '../option-values.js';
import type { NumberRange } from './counts.js';
import type { ShufJob } from './shuf-call.js';
import { ShufError } from './shuf-error.js';

/** An input, as the library takes it. */
export type GivenInput = ShuffleOptions['inputs'][number];

export interface LargeJob extends Pick<ShufJob, 'headCount' | 'repeat' | 'zeroTerminated'> {
  readonly seed: string;
  /** Undefined: standard output. */
  readonly output: string | undefined;
}

type JobEnd = 0 | StopSignal | 'SIGPIPE';

/** GNU's shuf has no limit; this is the largest one. */
const MOST_RECORD_BYTES = 2 ** 31 - 2 ** 26;

/** @returns 0, or the signal as which the process must end. @throws ShufError */
export function shuffleMany(job: LargeJob, input: GivenInput): Promise<JobEnd> {
  return untilStopped(async (signal) => {
    await shuffle({
      inputs: [input],
      ...(job.zeroTerminated ? { zeroTerminated: true } : { records: { by: 'delimiter', delimiter: '\n' } }),
      decompressProgram: 'none',
      compress: 'none',
      maxRecordBytes: MOST_RECORD_BYTES,
      headCount: countOfRecords(job.headCount),
      repeat: job.repeat,
      seed: job.seed,
      output: job.output,
      force: true,
      signal,
    });
  });
}

/** @throws ShufError */
export function shuffleNumbers(job: LargeJob, range: NumberRange): Promise<JobEnd> {
  const { headCount, repeat, zeroTerminated, seed, output } = job;
  return untilStopped(async (signal) => {
    await shuffleRange({
      range,
      headCount,
      repeat,
      zeroTerminated,
      seed,
      output,
      compress: 'none',
      force: true,
      signal,
    });
  });
}

async function untilStopped(work: (signal: AbortSignal) => Promise<void>): Promise<JobEnd> {
  const interruption = watchSignals(() => {});
  try {
    await work(interruption.abortSignal);
    return 0;
  } catch (error) {
    const signal = interruption.receivedSignal();
    if (signal !== undefined && error instanceof PileshufError && error.kind === 'aborted') return signal;
    if (error instanceof ClosedPipeError) return 'SIGPIPE';
    throw inWordsOfShuf(error);
  } finally {
    interruption.release();
  }
}

function inWordsOfShuf(error: unknown): ShufError {
  if (!(error instanceof PileshufError)) return new ShufError(`internal error: ${String(error)}`);
  const { code, message } = error;
  // A stream is full; for a file, more is to say.
  const isOfStream = code === 'ERR_NO_SPACE' && /^cannot write to (output|standard output)\b/.test(message);
  return new ShufError(isOfStream ? 'write error: No space left on device' : nameFlags(message));
}
