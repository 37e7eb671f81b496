/** Where the time of a whole job went: the commit puts together what its tasks have left. */

import { resolve, sep } from 'node:path';
import { UsageError } from '../errors.js';
import { reasonOf } from '../io/io-error.js';
import { realPathOf, statPath } from '../io/paths.js';
import { type OtherPlaces, refusalOf, requirePlace, writeWhole } from '../job/report/report-file.js';
import type { PassSeconds } from '../options/reports.js';
import { PHASES } from '../phase-clock.js';
import { type ClusterTaskProfile, readProfiles, type TaskSteps } from './attempt-log.js';
import { ARRAY_KINDS, type ProfilePlace, type TaskKind, taskCountOf } from './cluster-plan.js';
import type { ClusterJob } from './open-job.js';

/** The tasks of one kind; sums leave out those that are missing. */
export interface ClusterPassProfile {
  readonly kind: TaskKind;
  readonly tasks: number;
  /** The indexes of tasks that are done and left no profile. */
  readonly missing: readonly number[];
  readonly bytes: number;
  /** From the start of the first task to the end of the last, by the clocks of their hosts. */
  readonly elapsedSeconds: number;
  /** Sums over the tasks. */
  readonly seconds: TaskSteps;
  readonly phases: PassSeconds;
}

export interface ClusterProfile {
  readonly jobDir: string;
  /** In the output. */
  readonly records: number;
  readonly bytes: number;
  /** From the start of the first task to the end of the last, by the clocks of their hosts. */
  readonly elapsedSeconds: number;
  /** In their order; the last one is the commit, until the output was complete. */
  readonly passes: readonly ClusterPassProfile[];
  /** In the order of passes and indexes. */
  readonly tasks: readonly ClusterTaskProfile[];
}

/** The output is complete by then, so a failure is a warning. */
export function writeClusterProfile(
  { directory, plan, log, scope }: ClusterJob,
  { records, bytes }: Pick<ClusterProfile, 'records' | 'bytes'>,
): void {
  if (plan.profile === undefined) return;
  const { path, mayReplace } = plan.profile;
  const told = readProfiles(directory);
  const arrays = ARRAY_KINDS.filter((kind) => taskCountOf(plan, kind) > 0).map((kind) => {
    const found = Array.from({ length: taskCountOf(plan, kind) }, (_, task) => told.get(`${kind} ${task}`));
    return { kind, found };
  });
  const all = [...arrays, { kind: 'commit' as const, found: [log.profile(bytes)] }];
  const tasks = all.flatMap(({ found }) => found.flatMap((task) => task ?? []));
  const profile: ClusterProfile = {
    jobDir: directory,
    records,
    bytes,
    elapsedSeconds: elapsedOf(tasks),
    passes: all.map(({ kind, found }) => passOf(kind, found)),
    tasks,
  };
  try {
    writeWhole(path, `${JSON.stringify(profile, undefined, 1)}\n`, mayReplace);
  } catch (error) {
    scope.warn(new Error(`\`profile\` ${path}: cannot write it: ${reasonOf(error)}; the output is complete`));
  }
}

function passOf(kind: TaskKind, found: readonly (ClusterTaskProfile | undefined)[]): ClusterPassProfile {
  const tasks = found.flatMap((task) => task ?? []);
  const sumOf = (value: (task: ClusterTaskProfile) => number) => tasks.reduce((sum, task) => sum + value(task), 0);
  const phases = [...PHASES, 'idle' as const].map((phase) => [phase, sumOf((task) => task.phases[phase])]);
  return {
    kind,
    tasks: found.length,
    missing: [...found.keys()].filter((index) => found[index] === undefined),
    bytes: sumOf(({ bytes }) => bytes),
    elapsedSeconds: elapsedOf(tasks),
    seconds: {
      start: sumOf(({ seconds }) => seconds.start),
      prepare: sumOf(({ seconds }) => seconds.prepare),
      work: sumOf(({ seconds }) => seconds.work),
      finish: sumOf(({ seconds }) => seconds.finish),
    },
    phases: Object.fromEntries(phases) as PassSeconds,
  };
}

function elapsedOf(tasks: readonly ClusterTaskProfile[]): number {
  const begins = tasks.map(({ beganMilliseconds }) => beganMilliseconds);
  const ends = tasks.map(({ beganMilliseconds, seconds: { prepare, work, finish } }) => {
    return beganMilliseconds + 1000 * (prepare + work + finish);
  });
  const least = begins.reduce((a, b) => Math.min(a, b), Number.POSITIVE_INFINITY);
  const most = ends.reduce((a, b) => Math.max(a, b), Number.NEGATIVE_INFINITY);
  return tasks.length === 0 ? 0 : (most - least) / 1000;
}

/** @param jobDir the job directory; it need not exist. */
export function placeOfProfile(file: string, mayReplace: boolean, others: OtherPlaces, jobDir: string): ProfilePlace {
  // Callers without types may pass anything.
  if (typeof file !== 'string') throw new UsageError('`profile`: expected the path of a file');
  const refuse = refusalOf('profile', file);
  if (file === '-') refuse('expected the name of a file: tasks cannot share standard output');
  if (resolve(file) === resolve(jobDir)) refuse('it is the job directory; name a file elsewhere');
  const path = requirePlace('profile', file, mayReplace, others);
  if (statPath(jobDir, 'output') !== undefined && path.startsWith(realPathOf(jobDir, 'output') + sep))
    refuse('it lies in the job directory; name a file elsewhere');
  return { path, mayReplace };
}
