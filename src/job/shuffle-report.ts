import { missingRecords } from '../keep/keep-spec.js';
import { reportGroups, type Weighing } from '../keep/mix.js';
import type { ShuffleReport } from '../options/reports.js';
import type { Amount } from '../piles/pile-totals.js';
import type { CommitJournal } from '../places/outputs/commit-journal.js';
import { STANDARD_OUTPUT } from '../sinks/output-target.js';
import type { ShuffleSpec } from '../spec.js';
import type { OutputDecision, Scattered } from '../stages/chain.js';
import type { Pass1Facts } from '../stages/pass1-results.js';
import { diskBytesOf } from '../stages/shuffle-work.js';
import { resumedWork } from './earlier-attempt.js';
import type { JobPlaces } from './job-places.js';
import type { JobProgress } from './job-progress.js';
import type { LocalOutput, LocalScatter } from './local-executor.js';
import type { PreparedShuffle } from './prepare-shuffle.js';
import { reportOutput } from './split-report.js';
import type { Committed, FilesStaging } from './staging.js';

/** A report without what is known when the job has ended. */
export type UntimedReport = Omit<ShuffleReport, 'seconds' | 'peakMemoryBytes'> & {
  readonly seconds: Omit<ShuffleReport['seconds'], 'total'>;
};

/** Returns the path or address of the output. Null: standard output. */
export function nameOfOutput({ output: { path } }: Pick<JobPlaces, 'output'>): string | null {
  return path === STANDARD_OUTPUT ? null : path;
}

/** Returns the most memory that this process had, in RAM. */
export function peakMemoryBytes(): number {
  return 1024 * process.resourceUsage().maxRSS;
}

export type ReportedRecords = Pick<ShuffleReport, 'groups' | 'blank' | 'leftOut' | 'duplicates'>;

export const NOTHING_KNOWN: ReportedRecords = {
  leftOut: undefined,
  blank: undefined,
  groups: undefined,
  duplicates: undefined,
};

/** The part of a report about work that a job had not to do, or that an earlier attempt had done. */
export const NOT_DONE = { ...NOTHING_KNOWN, tempBytes: 0, decoders: {}, resumed: undefined } as const;

export function reportShuffle(
  prepared: PreparedShuffle,
  decided: OutputDecision<LocalScatter>,
  shuffled: LocalOutput,
  { output, seconds }: Committed,
): UntimedReport {
  const { request, inputs, plan, weighing, earlier, control } = prepared;
  const { scattered } = decided;
  const { piles } = decided.output.work;
  return {
    ...output,
    ...reportKept(request.spec, weighing, decided, shuffled.written),
    output: nameOfOutput(prepared.places),
    seed: request.spec.key.seed,
    seconds: { pass1: scattered.seconds, pass2: shuffled.seconds, commit: seconds },
    inputCount: inputs.length,
    workers: plan.memory.workers,
    piles: piles.totals.records.length,
    tempBytes:
      diskBytesOf(piles) +
      (scattered.twice === undefined ? 0 : diskBytesOf(scattered.twice.read)) +
      control.counted('rescatteredBytes'),
    decoders: scattered.found.decoders,
    resumed: resumedWork(earlier, scattered.resumedCount),
  };
}

/** Returns what became of the records that were read. @param weighing undefined: the inputs have no weights. */
export function reportKept(
  { read, keep }: Pick<ShuffleSpec, 'read' | 'keep'>,
  weighing: Weighing | undefined,
  {
    scattered: { found, twice, piles },
    distinct,
  }: Pick<OutputDecision<Scattered & { found: Pass1Facts }>, 'scattered' | 'distinct'>,
  written: Amount,
): ReportedRecords {
  const groups = found.groups?.map((group, i) => {
    const { weighed, expected, sums } = twice?.groups?.[i] ?? group;
    return { read: group.read, weighed, expected, sums: sums && { ...sums, read: group.sums?.read ?? 0n } };
  });
  return {
    groups: weighing && groups && reportGroups(weighing, groups, keep),
    blank: read.skipsBlank === true ? found.blank : undefined,
    ...missingRecords(keep, {
      all: twice?.read ?? piles,
      leftOut: found.leftOut,
      // Without a measuring pass, the records that stay are known only after writing.
      distinct: twice?.kept ?? (distinct.hasDuplicates === true ? written : distinct),
      made: twice && piles,
      written,
    }),
  };
}

/** Finishes a shuffle that was killed after it had written the whole output: moves it to the final names. */
export async function finishMoves(
  { request, inputs, plan, places }: PreparedShuffle,
  staging: FilesStaging,
  journal: CommitJournal,
  progress: JobProgress,
): Promise<UntimedReport> {
  const commit = await progress.during('commit', undefined, () => staging.finish(journal));
  return {
    ...NOT_DONE,
    ...reportOutput(journal, commit.value),
    output: nameOfOutput(places),
    seed: request.spec.key.seed,
    seconds: { pass1: 0, pass2: 0, commit: commit.seconds },
    inputCount: inputs.length,
    workers: plan.memory.workers,
    piles: plan.memory.pileCount,
    resumed: { pileSets: plan.slices.length, outputBytes: journal.bytes },
  };
}
