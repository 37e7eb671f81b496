/**
 * The output of a job, whatever it is: opened before the work begins, verified and committed when all
 * of it was written.
 */
import type { GateNumber, JobControl } from '../io/job-control.js';
import type { ShardCuts } from '../plan/shard-cuts.js';
import type { OutputPlace } from './output-place.js';
import type { OutputTarget, WrittenRegion } from './output-target.js';
import { StagedOutput } from './staged-output.js';
import { StreamOutput } from './stream-output.js';

export interface JobOutput {
  /** What the tasks of pass 2 write to. */
  target(cuts: ShardCuts, totalBytes: number): OutputTarget;
  /** @throws VerificationError when what was written is not `totalBytes` without gap and overlap. */
  verify(regions: readonly WrittenRegion[], shardCount: number, totalBytes: number): void;
  /**
   * Makes all durable, then visible. @returns the final paths of the shards; none for one output.
   * @param control looked at until the first of them becomes visible; from then on it is finished.
   */
  commit(shardCount: number, control: JobControl): Promise<readonly string[]>;
  /** Lets go of it: what was not committed is gone. */
  release(): void;
}

/** @param control looked at while the reader of a pipe is waited for. */
export async function openOutput(place: OutputPlace, gate: GateNumber, control: JobControl): Promise<JobOutput> {
  return place.kind === 'stream' ? await StreamOutput.open(place.path, control) : new StagedOutput(place, gate);
}
