/**
 * What a job has on disk while it runs: directories for its temp data, and its output.
 */
import type { CommitJournal } from '../output/commit-journal.js';
import type { JobOutput } from '../output/job-output.js';
import type { KeptWork } from '../passes/job-context.js';
import type { TempPlace } from '../pile-sets/pile-layout.js';

export interface JobWork {
  readonly tempPlaces: readonly TempPlace[];
  readonly indexDirectory: string;
  readonly output: JobOutput;
  /** Undefined: nothing outlives the job. */
  readonly kept: KeptWork | undefined;
  /** Ends what an earlier run had begun to move. @returns the final paths of the shards. */
  finishMoves(journal: CommitJournal): Promise<readonly string[]>;
  /** Decides, before anything is removed, whether what was done stays, for a run that goes on. */
  failed(error: unknown): Promise<void>;
  /** The outputs are where they belong. */
  succeeded(): Promise<void>;
}
