/**
 * The library's exports, and nothing else.
 *
 * ```ts
 * import { shuffle } from 'pileshuf';
 * const report = await shuffle({ inputs: ['corpus/'], output: 'shuffled.jsonl', seed: '42' });
 * ```
 */
export type { ErrorCode, ErrorKind, UnfinishedJob } from './errors.js';
export {
  AbortedError,
  ClosedPipeError,
  InputError,
  PileshufError,
  SystemError,
  UsageError,
  VerificationError,
} from './errors.js';
export { type Memory, readMemory } from './io/memory-limit.js';
export type {
  HeaderKind,
  JobProfile,
  OutputCompression,
  PassSeconds,
  RecordKind,
  ShardRule,
  ShuffleOptions,
  ShuffleProgress,
  ShuffleReport,
} from './job/prepare/shuffle-options.js';
export { shuffle } from './job/shuffle.js';
export type { BatchOptions, Loader } from './loader/loader.js';
export type { LoaderOptions, OpenStoreOptions } from './loader/loader-options.js';
export type { LoaderState } from './loader/loader-state.js';
export { type OpenedStore, openStore } from './loader/open-store.js';
export type { RecordBatch } from './loader/record-batch.js';
export { type WriteOptions, type WriteReport, writeEpochs } from './loader/write-epochs.js';
export type { Phase, PhaseSeconds } from './phase-clock.js';
export type { Tuning } from './plan/memory-plan.js';
