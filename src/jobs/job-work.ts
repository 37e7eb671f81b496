/**
 * What a job has on disk while it runs: directories for its temp data, and its output.
 */

import type { JobControl } from '../job-control.js';
import type { CommitJournal } from '../output/commit-journal.js';
import type { OutputSummary, StagedOutput } from '../output/staged-output.js';
import type { StreamOutput } from '../output/stream-output.js';
import type { KeptWork } from '../passes/job-context.js';
import type { TempPlace } from '../pile-sets/pile-layout.js';

export interface JobWork {
  readonly tempPlaces: readonly TempPlace[];
  readonly indexDirectory: string;
  readonly output: StagedOutput | StreamOutput;
  /** Undefined: nothing outlives the job. */
  readonly kept: KeptWork | undefined;
  /** Makes the output durable, then visible. @returns the final paths of the shards; none for one output, or a stream. */
  commit(summary: OutputSummary, control: JobControl): Promise<readonly string[]>;
  /** Ends what an earlier run had begun to move. @returns the final paths of the shards. */
  finishMoves(journal: CommitJournal): Promise<readonly string[]>;
  /** Decides, before anything is removed, whether what was done stays, for a run that goes on. */
  failed(error: unknown): Promise<void>;
  /** The outputs are where they belong. */
  succeeded(): Promise<void>;
}
