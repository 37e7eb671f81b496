/** Opens sets of inputs that are only read, and runs passes over them. Sets share the memory and the threads. */

import { randomBytes } from 'node:crypto';
import type { SetSettings } from '../../workers/tasks/tally-records.js';
import { UsageError } from '../errors.js';
import { type GateNumber, UNGATED } from '../floor/job-control.js';
import type { List } from '../floor/paged-list.js';
import type { FramingSpec } from '../formats/framing-table.js';
import type { FoundHeader } from '../formats/header.js';
import { estimateInputs } from '../job/estimate.js';
import type { JobScope } from '../job/job.js';
import { JobProgress } from '../job/job-progress.js';
import { openHeaders } from '../job/open-inputs.js';
import type { ReadingRequest } from '../job/request.js';
import { createReadControl, memoryNeedOf } from '../job/work-plan.js';
import { DeviceGates } from '../machine/devices.js';
import { type IndexPlan, planIndex } from '../plan/index-plan.js';
import type { MemoryNeed, Tuning } from '../plan/memory-plan.js';
import { planSlices, type Slice } from '../plan/slices.js';
import { SLOTS_BYTES } from '../plan/slot-tally.js';
import { memoryBesideTransfers } from '../remote/transfer-pool.js';
import { describeForSlices } from '../sources/cut-points.js';
import { refuseForeignFiles } from '../sources/doubtful-records.js';
import type { AskedInput } from '../sources/expand-names.js';
import { requireDirectory } from '../sources/file-choice.js';
import { type Input, type Inputs, identityOf, isReadOnce, storedBytesOf } from '../sources/input.js';
import { gatesOf, type ListedInputs, listInputs } from '../sources/list-inputs.js';
import { PackedInputs } from '../sources/packed-inputs.js';
import { asRows, openRows } from '../sources/rows.js';
import type { RecordSet } from '../stages/compare-sets.js';
import { startThreads, type Threads } from '../stages/threads.js';

export type ReadRequest = Omit<ReadingRequest, 'inputs'>;

export interface OpenedSet {
  readonly inputs: Inputs;
  /** The directories among the named inputs. */
  readonly directories: readonly string[];
  readonly gates: readonly GateNumber[];
  readonly firstHeader: FoundHeader | undefined;
  /** The framing. Undefined: the headers of streams declare it. */
  readonly framing: FramingSpec | undefined;
  readonly slices: List<Slice>;
  /** Bytes of the records of each input: an estimate if it is compressed, undefined for a stream. */
  readonly decodedBytes: readonly (number | undefined)[];
  readonly meanRecordBytes: number;
}

export interface OpenedSets {
  readonly request: ReadRequest;
  readonly sets: readonly OpenedSet[];
  readonly plan: IndexPlan;
  readonly memoryNeed: MemoryNeed;
  readonly deviceGates: DeviceGates;
  /** The stored bytes of all inputs. Undefined: an input is a stream. */
  readonly storedBytes: number | undefined;
  /** The number of tasks of a pass, which is the most threads that are of use. */
  readonly taskCount: number;
  /** Random keys of the keyed hash, so that nobody can know them before. */
  readonly drawnKeys: SetSettings['drawnKeys'];
}

/** @param isCut whether all of each set is read, in slices. Else the caller chooses what it reads. */
export async function openSets(
  named: readonly (readonly AskedInput[])[],
  asked: ReadRequest,
  tuning: Partial<Tuning>,
  isCut = true,
): Promise<OpenedSets> {
  const { read: given, fileChoice, service, signal, onWarning, memoryBytes, workers } = asked;
  const remote = { memoryBytes, workers, service };
  const listing = { ...given, fileChoice, signal, format: given, takesRows: true, mixesFiles: false, remote };
  const listed: ListedInputs[] = [];
  for (const inputs of named) listed.push(await listInputs(inputs, onWarning, listing));
  // All sets share them.
  const fetchBytes = Math.max(0, ...listed.map((each) => each.fetchBytes));
  const request = { ...asked, ...memoryBesideTransfers(asked, fetchBytes) };
  const directories = listed.flatMap((each) => each.directories);
  requireDirectory(fileChoice, directories);
  refuseSharedStreams(listed.map(({ inputs }) => inputs));
  const all = new PackedInputs();
  for (const { inputs } of listed) for (const input of inputs) all.push(input);
  const readAs = asRows(given, all);
  refuseForeignFiles(all, readAs, true, onWarning);
  // Both sides have the same columns.
  const rows = await openRows(all, { read: readAs, signal, onWarning: () => {}, writes: false });
  const read = { ...readAs, rows: rows?.rows };
  const knownBytes = storedBytesOf(rows?.inputs ?? all);
  const memoryNeed: MemoryNeed = { ...memoryNeedOf(request, knownBytes), reads: 'only' };
  const opened: Omit<OpenedSet, 'slices'>[] = [];
  const deviceGates = new DeviceGates(request.ioLimits);
  let totalBytes = 0;
  let before = 0;
  for (const { inputs, directories } of listed) {
    const ofRows = rows?.inputs.slice(before, before + inputs.length);
    before += inputs.length;
    const set =
      ofRows === undefined
        ? await openHeaders(inputs, request, () => memoryNeed, { comparesKeys: false })
        : { inputs: ofRows, firstHeader: undefined, framing: undefined };
    const { recordBytes, decodedBytes, meanRecordBytes } = estimateInputs(set.inputs, set.framing, 'samples');
    totalBytes += recordBytes;
    const gates = await gatesOf(set.inputs, deviceGates, signal);
    opened.push({ ...set, directories, gates, decodedBytes, meanRecordBytes });
  }
  const plan = planIndex({ budgetBytes: request.memoryBytes, workers: request.workers }, totalBytes, tuning);
  const sets: OpenedSet[] = [];
  for (const set of opened) {
    const ofSet = { ...read, framing: set.framing };
    const describe = () => describeForSlices(set.inputs, set.decodedBytes, ofSet, plan.sliceBytes, signal);
    const described = isCut ? await describe() : [];
    sets.push({ ...set, slices: [...planSlices(described, plan.sliceBytes)] });
  }
  return {
    request: { ...request, read },
    sets,
    plan,
    memoryNeed,
    deviceGates,
    storedBytes: all.some(isReadOnce) ? undefined : knownBytes,
    taskCount: isCut ? sets.reduce((sum, { slices }) => sum + slices.length, 0) : plan.workers,
    drawnKeys: drawHashKeys(),
  };
}

function refuseSharedStreams(sets: readonly Inputs[]): void {
  const seen = new Map<string, Input>();
  for (const inputs of sets) {
    const streams = inputs.filter(isReadOnce);
    const shared = streams.find((input) => seen.has(identityOf(input)));
    if (shared !== undefined) {
      throw new UsageError(`${shared.path} is a stream and is given on both sides; it can be read only once`);
    }
    for (const input of streams) seen.set(identityOf(input), input);
  }
}

/** Runs a pass over the sets, with threads that end with it. */
export async function runPass<T>(
  { request, sets, plan, memoryNeed, deviceGates, storedBytes, taskCount, drawnKeys }: OpenedSets,
  { releases }: JobScope,
  pass: (sets: readonly RecordSet[], threads: Threads) => Promise<T>,
): Promise<T> {
  const { inline, readBytes } = plan;
  const control = createReadControl(inline, plan.spareBytes, deviceGates);
  const phases = [{ phase: 'verify', bytes: storedBytes }] as const;
  const progress = new JobProgress(control, request, deviceGates, phases, releases);
  const threadCount = inline ? 0 : Math.min(plan.workers, taskCount);
  const threads = await startThreads({ threadCount, startCount: threadCount }, progress, () => {}, releases);
  const settings = {
    jobName: threads.jobName,
    control: control.buffer,
    // The slots are where the job that indexes has its blocks.
    arenaBytes: plan.arenaBytes + SLOTS_BYTES,
    readBytes,
    memoryNeed,
    drawnKeys,
  };
  const readable = sets.map(
    (set): RecordSet => ({
      ...set,
      gates: inline ? set.inputs.map(() => UNGATED) : set.gates,
      settings: { ...settings, read: { ...request.read, framing: set.framing } },
    }),
  );
  return (await progress.during('verify', storedBytes, () => pass(readable, threads))).value;
}

function drawHashKeys(): SetSettings['drawnKeys'] {
  const [a = 0n, b = 0n, c = 0n, d = 0n] = new BigUint64Array(new Uint8Array(randomBytes(32)).buffer);
  return [a, b, c | 1n, d | 1n];
}
