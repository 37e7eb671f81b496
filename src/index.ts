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
export { indexFile } from './index-job/index-file.js';
export type { IndexOptions, IndexReport } from './index-job/index-options.js';
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
export { type IndexedFile, type IndexedFileOptions, openIndexed } from './record-index/indexed-file.js';
export type { CollectedGarbage } from './store/collect-garbage.js';
export type { GenerationSummary } from './store/generation-summary.js';
export { appendToStore } from './store-jobs/append-job.js';
export { type InspectOptions, inspectStore, type StoreReport } from './store-jobs/inspect-store.js';
export { openPileWriter, type PileCommit, type PileWriter, type PileWriterOptions } from './store-jobs/pile-writer.js';
export { shuffleStore } from './store-jobs/shuffle-store-job.js';
export type { AppendOptions, AppendReport, ShuffleStoreOptions } from './store-jobs/store-options.js';
export {
  collectStore,
  type ExpireReport,
  type ExpireRule,
  expireStore,
  type GarbageOptions,
} from './store-jobs/store-upkeep.js';
