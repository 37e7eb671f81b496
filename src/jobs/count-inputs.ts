/** Counts the inputs of a job whose groups have shares of the output, by a small job of its own before the plan. */
import type { ReadSettings } from '../../workers/settings.js';
import { releasingAll } from '../cleanup.js';
import { framingOf } from '../formats/framing-table.js';
import { describeForSlices } from '../inputs/cuts.js';
import { estimateInputs } from '../inputs/estimate.js';
import type { ReadableInputs } from '../inputs/input-part.js';
import type { Weighing } from '../inputs/weigh-inputs.js';
import { UNGATED } from '../job-control.js';
import { deriveDrawSeed } from '../keys.js';
import type { DeviceGates } from '../machine/devices.js';
import { type CountedGroup, type CountWork, countGroups } from '../passes/count-pass.js';
import { JobStop, startThreads } from '../passes/threads.js';
import { planIndex } from '../plan/index-plan.js';
import type { MemoryNeed, Tuning } from '../plan/memory-plan.js';
import { planSlices } from '../plan/slices.js';
import type { JobScope } from './job.js';
import { JobProgress, phasesOfShuffle } from './job-progress.js';
import type { ShuffleRequest } from './request.js';
import { createReadControl } from './work-plan.js';

export interface CountedInputs extends ReadableInputs, Pick<CountWork, 'field'> {
  /** All weights are 1. */
  readonly weighing: Weighing;
  readonly site: { readonly kind: 'files' | 'stream' };
}

export async function countInputs(
  readable: CountedInputs,
  request: ShuffleRequest,
  memoryNeed: MemoryNeed,
  deviceGates: DeviceGates,
  tuning: Tuning,
  warn: JobScope['warn'],
): Promise<readonly CountedGroup[]> {
  const { inputs } = readable;
  const { spec, signal } = request;
  const { framing } = spec.read;
  const { recordBytes, meanRecordBytes, decodedBytes } = estimateInputs(inputs, framing, deriveDrawSeed(spec.key.seed));
  const plan = planIndex({ budgetBytes: request.memoryBytes, workers: request.workers }, recordBytes, tuning);
  const { sliceBytes, arenaBytes, readBytes, inline } = plan;
  const described = await describeForSlices(inputs, decodedBytes, framing && framingOf(framing), sliceBytes, signal);
  const slices = [...planSlices(described, sliceBytes)];
  const gates = inline ? inputs.map(() => UNGATED) : readable.gates;
  const storedBytes = inputs.reduce((sum, input) => sum + (input.kind === 'file' ? input.version.byteLength : 0), 0);
  return releasingAll(async (releases) => {
    const control = createReadControl(inline, plan.spareBytes, deviceGates);
    const stop = new JobStop(control, signal, releases);
    const threadCount = inline ? 0 : Math.min(plan.workers, slices.length);
    const threads = await startThreads({ threadCount, startCount: threadCount }, { control, stop }, () => {}, releases);
    const settings: ReadSettings = {
      jobName: threads.jobName,
      control: control.buffer,
      arenaBytes,
      readBytes,
      memoryNeed: { ...memoryNeed, reads: 'first' },
      read: spec.read,
    };
    const planned = { inputBytes: storedBytes, memoryNeed: { recordBytes, meanRecordBytes } };
    const phases = phasesOfShuffle({ request, plan: planned, isCounted: true, earlier: undefined });
    const progress = new JobProgress(control, stop, request.onProgress, phases, {
      gates: deviceGates,
      budgetBytes: request.memoryBytes,
    });
    const work = { ...readable, gates, slices, settings };
    return (await progress.during('count', storedBytes, () => countGroups(work, threads))).value;
  }, warn);
}
