/** A task of the scatter pass. A slice that another attempt has committed is left alone. */
import { hostname } from 'node:os';
import { counted, InputError } from '../errors.js';
import { type FileVersion, openForRead, versionOf, withFile } from '../io/files.js';
import { statPath } from '../io/paths.js';
import { scatterSettings } from '../job/task-settings.js';
import { UNGATED } from '../job-control.js';
import { committedIndexPath } from '../job-directory/pile-set-commits.js';
import { hearSignalsAt } from '../pause.js';
import type { ReadableInputs } from '../sources/input-part.js';
import type { FileInput } from '../sources/source.js';
import { limited, nameFirst, scatterSlices } from '../stages/scatter-pass.js';
import { CLUSTER_REMEDY, type ClusterPart } from './cluster-plan.js';
import { readScatteredSlice } from './job-piles.js';
import { type ClusterJob, inputsOfSlices, startTaskThreads } from './open-job.js';

/** @returns the bytes of the slices that this attempt scattered, as stored; undefined if the task was done before. */
export async function scatterPart(job: ClusterJob): Promise<number | undefined> {
  const { index, plan, directory, control, piling, keyOf, log, onWarning, scope } = job;
  const { spec, slices } = plan;
  const isDone = (slice: number) => statPath(committedIndexPath(directory, slice), 'temp') !== undefined;
  const left = (plan.scatterTasks[index] ?? []).filter((slice) => !isDone(slice));
  if (left.length === 0) return undefined;
  const bytes = left.reduce((sum, slice) => sum + (plan.sliceBytes[slice] ?? 0), 0);
  const inputs = await openInputs(job, left);
  const threads = await startTaskThreads(job);
  const settings = scatterSettings(threads, plan, spec, piling, {
    keepsPileSets: true,
    isProfiled: plan.profile !== undefined,
  });
  const work = { ...inputs, slices, keys: spec.key.from, keyOf, settings, attempt: log.attempt, onWarning };
  log.count(bytes, () => control.counted('scatteredBytes'));
  const before = ({ before: known = NOTHING_BEFORE }: ClusterPart) => known;
  await scatterSlices(plan.head === undefined ? work : limited(work, plan.head), threads, left, before, {
    giveName: (done) => nameFirst(piling.layout, done, (slice) => readScatteredSlice(job, slice)),
    warn: scope.warn,
  });
  return bytes;
}

const NOTHING_BEFORE = { count: 0, records: undefined };

/** The inputs of these slices on this machine, unchanged since the plan. */
async function openInputs(
  { inputs, gates, plan, signal }: ClusterJob,
  slices: readonly number[],
): Promise<ReadableInputs> {
  const own: FileInput[] = [...inputs];
  const gateOf = inputs.map(() => UNGATED);
  for (const [i, ordinal] of [...inputsOfSlices(plan, slices)].entries()) {
    const input = inputs[ordinal];
    if (input === undefined) continue;
    await hearSignalsAt(i, signal);
    own[ordinal] = requireUnchanged(input);
    gateOf[ordinal] = gates.gateOf(input.path, 'input');
  }
  const { firstHeader, weighing } = plan;
  return { inputs: own, gates: gateOf, firstHeader, weighing };
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
