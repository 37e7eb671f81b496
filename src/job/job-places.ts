/**
 * Where a job writes: resolved and checked against its inputs and against the disks, before anything
 * is written.
 */
import { directoryOfOutput, type OutputPlace, requireOutside, resolveOutput } from '../output/output-place.js';
import { commonExtension } from '../output/shard-names.js';
import type { DeviceGates } from './device-gates.js';
import { requireFreeSpace, type SpaceNeed } from './free-space.js';
import type { JobInputs } from './job-inputs.js';
import type { JobPlan } from './job-plan.js';
import type { JobRequest } from './job-request.js';

/** Where the output will appear, after every reason why it must not. */
export function placeOutput(request: JobRequest, { inputs, directories }: JobInputs): OutputPlace {
  const naming =
    request.shards === undefined
      ? undefined
      : { prefix: request.shardPrefix, extension: commonExtension(inputs.map((input) => input.path)) };
  const place = resolveOutput(
    request.output,
    naming,
    request.force,
    inputs.map((input) => input.path),
  );
  if (place.kind !== 'stream') requireOutside(place.path, 'the output', directories);
  for (const directory of request.tempDirs) requireOutside(directory, 'the temp directory', directories);
  return place;
}

/** Warns of temp directories in memory; refuses a job that the disks cannot hold. */
export function checkDisks(request: JobRequest, plan: JobPlan, place: OutputPlace, gates: DeviceGates): void {
  if (plan.memory.maySpill) {
    for (const directory of request.tempDirs) {
      if (gates.deviceOf(directory).deviceClass !== 'memory') continue;
      request.onWarning(
        `the temp directory ${directory} lies in memory (tmpfs), where temp data competes with the job itself; name a disk with --temp-dir`,
      );
    }
  }
  const needs: SpaceNeed[] = request.tempDirs.map((directory) => ({
    directory,
    byteLength: plan.leastTempBytes / request.tempDirs.length,
    what: 'temp data',
  }));
  const directory = directoryOfOutput(place);
  if (directory !== undefined) needs.push({ directory, byteLength: plan.leastOutputBytes, what: 'output' });
  // Each stripe of temp data is deleted when its part of the output is written.
  const shared = Math.min(plan.leastTempBytes, plan.leastOutputBytes) * (1 - 1 / plan.memory.stripeCount);
  requireFreeSpace(needs, shared, gates);
}
