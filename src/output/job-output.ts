/**
 * The output of a job, whatever it is: opened before the work begins, verified and committed when all
 * of it was written.
 */
import type { JobControl } from '../io/job-control.js';
import type { ShardCuts } from '../plan/shard-cuts.js';
import type { OutputTarget, WrittenRegion } from './output-target.js';

/** All that is known of an output when it is complete. */
export interface OutputSummary {
  readonly shardCount: number;
  readonly records: number;
  /** Of all shards together. */
  readonly bytes: number;
  /** Multiset checksum, 16 hex digits. */
  readonly checksum: string;
}

export interface JobOutput {
  /** What the tasks of pass 2 write to. */
  target(cuts: ShardCuts, totalBytes: number): OutputTarget;
  /** Waits until what was written there would survive a power failure. */
  makeDurable(regions: readonly WrittenRegion[]): Promise<void>;
  /** @throws VerificationError when what was written is not `totalBytes` without gap and overlap. */
  verify(regions: readonly WrittenRegion[], shardCount: number, totalBytes: number): void;
  /**
   * Makes all durable, then visible. @returns the final paths of the shards; none for one output.
   * @param control looked at until the first of them becomes visible; from then on it is finished.
   */
  commit(summary: OutputSummary, control: JobControl): Promise<readonly string[]>;
  /** Lets go of what is open. What is staged is the job directory's to keep or to remove. */
  release(): void;
}
