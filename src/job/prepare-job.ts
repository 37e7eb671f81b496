/**
 * Everything that is decided and checked before a job writes its first byte.
 */
import { type GateNumber, JobControl, UNGATED } from '../io/job-control.js';
import type { Tuning } from '../plan/memory-plan.js';
import { checkDisks } from './check-disks.js';
import { DeviceGates } from './device-gates.js';
import { type JobInput, listInputs } from './job-inputs.js';
import { choosePlaces, type JobPlaces } from './job-places.js';
import { type JobPlan, planJob } from './job-plan.js';
import { completeRequest, type JobRequest } from './job-request.js';
import type { ShuffleOptions } from './shuffle-options.js';
import { TempPlaces } from './temp-places.js';

export interface PreparedJob {
  readonly request: JobRequest;
  readonly inputs: readonly JobInput[];
  /** Gate of each input; streams are ungated. */
  readonly inputGates: readonly GateNumber[];
  readonly places: JobPlaces;
  readonly outputGate: GateNumber;
  readonly tempPlaces: TempPlaces;
  readonly plan: JobPlan;
  readonly control: JobControl;
}

/** @throws UsageError, InputError and SystemError for all that is wrong from the start. */
export async function prepareJob(options: ShuffleOptions, tuning: Tuning): Promise<PreparedJob> {
  const request = completeRequest(options);
  const jobInputs = await listInputs(request.inputs, request.onWarning);
  const { inputs } = jobInputs;
  const places = choosePlaces(request, jobInputs);
  const gates = new DeviceGates(request.ioLimits);
  const inputGates = inputs.map((input) => (input.kind === 'file' ? gates.gateOf(input.path, 'input') : UNGATED));
  const outputGate = places.outputDirectory === undefined ? UNGATED : gates.gateOf(places.outputDirectory, 'output');
  const tempPlaces = new TempPlaces(places.tempDirs, gates);
  const plan = planJob(request, inputs, tempPlaces, tuning);
  checkDisks(request, plan, places, gates);
  const control = JobControl.create(gates.permits, plan.memory.pass1SpareBytes);
  return { request, inputs, inputGates, places, outputGate, tempPlaces, plan, control };
}
