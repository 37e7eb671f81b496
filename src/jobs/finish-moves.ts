/** The rest of a shuffle that was killed after it had written the whole output: moves to the final names. */
import type { CommitJournal } from '../output/commit-journal.js';
import type { JobFiles } from './job-files.js';
import type { JobProgress } from './job-progress.js';
import type { ShuffleReport } from './options.js';
import type { PreparedShuffle } from './prepare-shuffle.js';
import { reportShards } from './split-report.js';

/** A report without the total time, which is known when the job has ended. */
export type UntimedReport = Omit<ShuffleReport, 'seconds'> & {
  readonly seconds: Omit<ShuffleReport['seconds'], 'total'>;
};

export async function finishMoves(
  { request, inputs, plan }: PreparedShuffle,
  { output }: JobFiles,
  journal: CommitJournal,
  progress: JobProgress,
): Promise<UntimedReport> {
  const { records, bytes, checksum, splits } = journal;
  const commit = await progress.during('commit', undefined, () => output.finish(journal));
  return {
    records,
    bytes,
    seed: request.spec.key.seed,
    checksum,
    seconds: { pass1: 0, pass2: 0, commit: commit.seconds },
    inputCount: inputs.length,
    leftOut: undefined,
    blank: undefined,
    groups: undefined,
    duplicates: undefined,
    workers: plan.memory.workers,
    piles: plan.memory.pileCount,
    tempBytes: 0,
    decoders: {},
    ...reportShards({ records, splits }, commit.value),
    resumed: { pileSets: plan.slices.length, outputBytes: bytes },
  };
}
