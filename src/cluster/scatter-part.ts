/**
 * A task of the scatter pass. A hard link commits a slice; a slice that another attempt has committed is left alone.
 */
import { hostname } from 'node:os';
import { HeadLimit } from '../../workers/piles/head-limit.js';
import type { ScatterResult } from '../../workers/tasks/scatter-slice.js';
import { counted, InputError, VerificationError } from '../errors.js';
import { NameTakenError } from '../io/durable.js';
import { type FileVersion, openForRead, versionOf, withFile } from '../io/files.js';
import { statPath } from '../io/paths.js';
import { scatterSettings } from '../job/task-settings.js';
import { UNGATED } from '../job-control.js';
import { commitPileSets, committedIndexPath, nameIndex, pileSetName } from '../job-directory/pile-set-commits.js';
import { hearSignalsAt } from '../pause.js';
import { checksumTextOf, sumTotals } from '../piles/pile-totals.js';
import type { SlicePart } from '../plan/slices.js';
import type { FileInput } from '../sources/list-inputs.js';
import { committing, GroupCommit } from '../stages/group-commit.js';
import { removePileSet, type ScatterWork, scatterSlices } from '../stages/scatter-pass.js';
import { CLUSTER_REMEDY } from './cluster-plan.js';
import { readScatteredSlice } from './job-piles.js';
import { type ClusterJob, startTaskThreads } from './open-job.js';

type DoneSlice = ScatterResult & { readonly slice: number };

/** @returns the bytes of the slices that this attempt scattered, as stored; undefined if the task was done before. */
export async function scatterPart(job: ClusterJob): Promise<number | undefined> {
  const { index, plan, directory, control, stop, piling, log, onWarning, scope } = job;
  const isDone = (slice: number) => statPath(committedIndexPath(directory, slice), 'temp') !== undefined;
  const left = (plan.scatterTasks[index] ?? []).filter((slice) => !isDone(slice));
  if (left.length === 0) return undefined;
  const bytes = left.reduce((sum, slice) => sum + (plan.sliceBytes[slice] ?? 0), 0);
  const { readable, before } = await openInputs(job, left);
  const threads = await startTaskThreads(job);
  job.log.useThreads(threads.pool.threadCount);
  const settings = scatterSettings(threads, plan, plan.spec, piling, {
    keepsPileSets: true,
    isProfiled: plan.profile !== undefined,
  });
  const work: ScatterWork = {
    ...readable,
    slices: plan.slices.map(({ parts }) => parts),
    keys: plan.spec.key.from,
    keyOf: job.keyOf,
    settings: { ...settings, headLimit: plan.firstLimit && HeadLimit.create(plan.firstLimit) },
    attempt: log.attempt,
    onWarning,
  };
  log.count(bytes, () => control.counted('scatteredBytes'));
  const mayBeCommitted = new Set<number>();
  const giveName = async (done: DoneSlice) => {
    // A link that fails may have been made all the same: its files must stay.
    mayBeCommitted.add(done.slice);
    await commitOrYield(job, work, done);
  };
  const commits = new GroupCommit<DoneSlice>(
    (done) => commitPileSets(done, piling.layout, control, giveName),
    () => stop.request(),
  );
  try {
    const take = (result: ScatterResult, slice: number) => commits.add({ ...result, slice });
    await committing(commits, () => scatterSlices(work, threads, left, before, take));
  } catch (error) {
    // No thread may make a file of this attempt after the removal.
    await threads.pool.destroy();
    for (const slice of left) {
      if (mayBeCommitted.has(slice)) continue;
      try {
        removePileSet({ job: work.settings, pileSetName: pileSetName(slice, log.attempt) });
      } catch (failure) {
        scope.warn(failure);
      }
    }
    throw error;
  }
  return bytes;
}

/** Gives the index the name that says that the slice is done. If another attempt was first, removes these files. */
async function commitOrYield(job: ClusterJob, { settings }: ScatterWork, own: DoneSlice): Promise<void> {
  const { slice, pileSet } = own;
  try {
    nameIndex(settings.layout, own);
  } catch (error) {
    if (!(error instanceof NameTakenError)) throw error;
    const first = await readScatteredSlice(job, slice);
    if (first.pileSet.name === pileSet.name) return;
    requireSame(slice, own, first);
    removePileSet({ job: settings, pileSetName: pileSet.name });
  }
}

function requireSame(slice: number, own: ScatterResult, first: ScatterResult): void {
  const [a, b] = [own, first].map(({ totals, leftOut }) => {
    const { records, bytes, checksum } = sumTotals(totals);
    // Which records cannot be in the head depends on those that were read before.
    const isLimited = leftOut !== undefined && leftOut.records > 0;
    return { records, bytes, checksum, isLimited };
  });
  if (a === undefined || b === undefined || a.isLimited || b.isLimited) return;
  if (a.records === b.records && a.bytes === b.bytes && a.checksum === b.checksum) return;
  throw new VerificationError(
    `two attempts at slice ${slice} found different records: ${a.records} with the checksum ${checksumTextOf(a.checksum)}, and ${b.records} with ${checksumTextOf(b.checksum)}; check the inputs and the memory of both machines`,
  );
}

/** The inputs of these slices on this machine, unchanged since the plan, and what comes before each part. */
async function openInputs({ inputs, gates, plan, signal }: ClusterJob, slices: readonly number[]) {
  const own: FileInput[] = [...inputs];
  const gateOf = inputs.map(() => UNGATED);
  const seen = new Set<number>();
  const beforeOf = new Map<SlicePart, { readonly count: number; readonly records: number | undefined }>();
  for (const slice of slices) {
    const { parts = [], before } = plan.slices[slice] ?? {};
    for (const [i, part] of parts.entries()) {
      const { inputOrdinal } = part;
      beforeOf.set(part, before?.[i] ?? { count: 0, records: undefined });
      const input = inputs[inputOrdinal];
      if (input === undefined || seen.has(inputOrdinal)) continue;
      await hearSignalsAt(seen.size, signal);
      seen.add(inputOrdinal);
      own[inputOrdinal] = requireUnchanged(input);
      gateOf[inputOrdinal] = gates.gateOf(input.path, 'input');
    }
  }
  const { firstHeader, weighing } = plan;
  return {
    readable: { inputs: own, gates: gateOf, firstHeader, weighing },
    before: (part: SlicePart) => beforeOf.get(part) ?? { count: 0, records: undefined },
  };
}

function versionHere(path: string): FileVersion {
  try {
    return withFile(openForRead(path, 'input'), versionOf);
  } catch (error) {
    if (!(error instanceof InputError)) throw error;
    const { code, message } = error;
    const isMissing = code === 'ERR_INPUT_MISSING';
    const advice = `it was there when the job was planned: put it back, or ${CLUSTER_REMEDY.ifDamaged}`;
    throw isMissing ? new InputError(code, `${message} on ${hostname()}; ${advice}`, { cause: error }) : error;
  }
}

/** @returns the input with its version on this machine. */
function requireUnchanged(input: FileInput): FileInput {
  const { path, version } = input;
  const now = versionHere(path);
  if (now.byteLength === version.byteLength && now.modifiedNanoseconds === version.modifiedNanoseconds)
    return { ...input, version: now };
  const change =
    now.byteLength === version.byteLength
      ? 'it was written to or replaced'
      : `its size was ${counted(version.byteLength, 'byte')} and is ${now.byteLength}`;
  throw new InputError(
    'ERR_INPUT_CHANGED',
    `${path}: the input changed since the job was planned (${change}); ${CLUSTER_REMEDY.ifDamaged}`,
  );
}
