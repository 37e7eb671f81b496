/**
 * The library's exports, and nothing else.
 *
 * ```ts
 * import { shuffle } from 'pileshuf';
 * const report = await shuffle({ inputs: ['corpus/'], output: 'shuffled.jsonl', seed: '42' });
 * ```
 */

export { type CheckReport, checkShuffled } from './checks/check-shuffled.js';
export type { OrderTest } from './checks/order-tests.js';
export type { OrderReport, OrderVerdict } from './checks/order-verdict.js';
export {
  type RecordDifference,
  type RecordDifferences,
  type RecordPlace,
  type VerifiedSide,
  type VerifyReport,
  verifyPermutation,
} from './checks/verify-permutation.js';
export { type ShardSet, type ShardsReport, verifyShards } from './checks/verify-shards.js';
export type {
  ClusterPassProfile,
  ClusterProfile,
  ClusterTaskProfile,
  TaskSteps,
  TimedTask,
} from './cluster/attempt-log.js';
export { TASK_KINDS, type TaskKind } from './cluster/cluster-plan.js';
export {
  type ClusterStatus,
  type CommittedOutput,
  clusterStatus,
  type FailedTask,
  type PassStatus,
  type RunningAttempt,
} from './cluster/cluster-status.js';
export type { ClusterOutput } from './cluster/commit-job.js';
export { type ClusterPlanReport, planCluster } from './cluster/plan-cluster.js';
export { type ClusterTaskOptions, type ClusterTaskReport, runClusterTask } from './cluster/run-cluster-task.js';
export { type SlurmQueueEntry, slurmQueue } from './cluster/slurm-calls.js';
export { followSlurm, type SlurmOutcome } from './cluster/slurm-follow.js';
export {
  describeLaterOnSlurm,
  describeSlurm,
  resumeOnSlurm,
  type SlurmPlanJob,
  type SlurmSubmission,
  type SubmittedJob,
  submitLaterToSlurm,
  submitToSlurm,
} from './cluster/slurm-job.js';
export type { ErrorCode, ErrorKind, UnfinishedJob } from './errors.js';
export {
  AbortError,
  ClosedPipeError,
  InputError,
  PileshufError,
  SystemError,
  UsageError,
  VerificationError,
} from './errors.js';
export type { KeyRule } from './floor/keys.js';
export type { Phase, PhaseSeconds } from './floor/phase-clock.js';
export type { RecordKind } from './formats/framing-table.js';
export { appendToStore } from './job/append.js';
export { type CollectedUploads, collectUploads } from './job/collect-uploads.js';
export { indexFile } from './job/index-file.js';
export { inspectStore, type StoreReport } from './job/inspect-store.js';
export { openPileWriter, type PileCommit, type PileWriter } from './job/pile-writer.js';
export type {
  Advice,
  MemberPreview,
  PreviewedDevice,
  ShufflePreview,
  TogetherPreview,
} from './job/preview-report.js';
export { previewShuffle, previewTogether } from './job/preview-shuffle.js';
export { shuffle } from './job/shuffle.js';
export { shuffleStore } from './job/shuffle-store.js';
export { shuffleTogether } from './job/shuffle-together.js';
export {
  collectStore,
  type ExpireReport,
  expireStore,
} from './job/store-upkeep.js';
export type { PreviewedSplit, SplitRule } from './keep/splits.js';
export type { BatchOptions, Loader } from './loader/loader.js';
export { type OpenedStore, openStore } from './loader/loader.js';
export type { LoaderState } from './loader/loader-options.js';
export type { RecordBatch } from './loader/record-cursor.js';
export { type WriteReport, writeEpochs } from './loader/write-epochs.js';
export { type Memory, readMemory } from './machine/limits.js';
export type {
  ClusterPlanOptions,
  SlurmFollowOptions,
  SlurmLaterOptions,
  SlurmOptions,
  SlurmResumeOptions,
  SlurmTaskOptions,
} from './options/cluster-options.js';
export type { DiskProgress, JobPhase, MemberProgress, PhaseBytes, ShuffleProgress } from './options/progress.js';
export type {
  DeviceTraffic,
  ExpectedRange,
  Moment,
  PileSizes,
  ReportFacts,
  SampledRecord,
  SelfCheck,
  WatchedDevice,
} from './options/report-facts.js';
export type {
  AppendReport,
  GroupReport,
  IndexReport,
  JobProfile,
  JobReport,
  MemberReport,
  PassSeconds,
  ReportFile,
  ShuffleReport,
  ShuffleTogetherReport,
  SplitReport,
} from './options/reports.js';
export type {
  CheckOptions,
  IndexOptions,
  ReadOptions,
  ShuffleOptions,
  ShuffleStoreOptions,
  ShuffleTogetherOptions,
  VerifyOptions,
} from './options/shuffle-options.js';
export type {
  AppendOptions,
  CollectOptions,
  ExpireRule,
  GarbageOptions,
  InspectOptions,
  LoaderOptions,
  OpenStoreOptions,
  PileWriterOptions,
  WriteOptions,
} from './options/store-options.js';
export type {
  HeaderKind,
  InputWeight,
  Mix,
  MixGroup,
  OutputCompression,
  ParquetCompression,
  SplitShards,
} from './options/values.js';
export type { MemoryOfPass1, MemoryOfPass2, Tuning } from './plan/memory-plan.js';
export type { Expected } from './plan/sampled-records.js';
export type { ShardRule } from './plan/shard-cuts.js';
export { type IndexedFile, type IndexedFileOptions, openIndexed } from './record-index/indexed-file.js';
export { reportPage } from './report/render-report.js';
export type { NamedInput } from './sources/expand-names.js';
export type { InputIdRule } from './sources/ids.js';
export type { CollectedGarbage } from './store/collect-garbage.js';
export type { GenerationSummary } from './store/generations.js';
export type { UnownedPileSets } from './store/store-attempt.js';
