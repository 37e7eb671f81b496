/**
 * The output of a job, whatever it is: opened before the work begins, verified and committed when all
 * of it was written.
 */
import type { Compression } from '../formats/encoder-table.js';
import type { JobControl } from '../job-control.js';
import type { ShardCuts } from '../plan/shard-cuts.js';
import type { OutputTarget, WrittenRegion } from './output-target.js';
import type { StoredEnds } from './stored-ends.js';

/** What is known of an output when pass 1 is over. */
export interface OutputLayout {
  readonly cuts: ShardCuts;
  readonly ends: StoredEnds;
  /** Of all records. */
  readonly recordBytes: number;
  /** Undefined: records are stored as they are. */
  readonly compression: Compression | undefined;
}

/** All that is known of an output when it is complete. */
export interface OutputSummary {
  readonly shardCount: number;
  readonly records: number;
  /** Of all records; shards may have headers besides. */
  readonly bytes: number;
  /** Multiset checksum, 16 hex digits. */
  readonly checksum: string;
}

export interface JobOutput {
  /**
   * Makes all ready for the records that are not written yet: a stream gets its header.
   * @param finished what an earlier run wrote for sure.
   * @returns what the tasks of pass 2 write to.
   */
  begin(layout: OutputLayout, finished: readonly WrittenRegion[], control: JobControl): Promise<OutputTarget>;
  /** Waits until what was written there would survive a power failure. */
  makeDurable(regions: readonly WrittenRegion[]): Promise<void>;
  /** Writes what stands around the records, when all of these are written; done twice, it is there once. */
  complete(layout: OutputLayout, regions: readonly WrittenRegion[], control: JobControl): Promise<void>;
  /** @throws VerificationError when what was written is not all of the output without gap and overlap. */
  verify(layout: OutputLayout, regions: readonly WrittenRegion[]): void;
  /**
   * Makes all durable, then visible. @returns the final paths of the shards; none for one output.
   * @param control looked at until the first of them becomes visible; from then on it is finished.
   */
  commit(summary: OutputSummary, control: JobControl): Promise<readonly string[]>;
  /** Lets go of what is open. What is staged is the job directory's to keep or to remove. */
}
