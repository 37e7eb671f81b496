/**
 * Whether the disks can hold a job, before it starts: what is sure not to fit is refused, what
 * probably does not fit is warned of.
 */
import { SystemError } from '../../errors.js';
import { readStoredBytes } from '../../io/free-space.js';
import type { DeviceGates } from './device-gates.js';
import { findShortages, type Shortage, type SpaceNeed } from './free-space.js';
import type { JobPlaces } from './job-places.js';
import type { DiskNeed, JobPlan } from './job-plan.js';
import type { JobRequest } from './job-request.js';

/** @throws SystemError ERR_NO_SPACE, with what is needed where. */
export function checkDisks(request: JobRequest, plan: JobPlan, places: JobPlaces, gates: DeviceGates): void {
  if (plan.memory.maySpill) warnOfMemoryDisks(request, places, gates);
  const shortagesOf = (need: DiskNeed): Shortage[] =>
    findShortages(spaceNeeds(need, places), plan.memory.stripeCount, gates);
  const [shortage] = shortagesOf(plan.least);
  if (shortage !== undefined) {
    throw new SystemError('ERR_NO_SPACE', `not enough space ${shortage.description}; ${shortage.advice}`);
  }
  for (const { description, advice } of shortagesOf(plan.expected)) {
    request.onWarning(`by a sample of the inputs, there may not be enough space ${description}; ${advice}`);
  }
}

function warnOfMemoryDisks(request: JobRequest, { tempDirs }: JobPlaces, gates: DeviceGates): void {
  for (const directory of tempDirs) {
    if (gates.deviceOf(directory, 'temp').deviceClass !== 'memory') continue;
    request.onWarning(
      `the temp directory ${directory} lies in memory (tmpfs), where temp data competes with the job itself; name a disk with \`tempDirs\``,
    );
  }
}

/** What an earlier run left takes space already, and is removed. */
function spaceNeeds(
  { tempBytes, outputBytes }: DiskNeed,
  { tempDirs, outputDirectory, paths }: JobPlaces,
): SpaceNeed[] {
  const needBeside = (directory: string | undefined, byteLength: number) =>
    directory === undefined ? byteLength : Math.max(0, byteLength - readStoredBytes(directory, 'temp'));
  const needs: SpaceNeed[] = tempDirs.map((directory, disk) => ({
    directory,
    byteLength: needBeside(paths?.dataDirectories[disk], tempBytes / tempDirs.length),
    what: 'temp data',
  }));
  if (outputDirectory !== undefined) {
    const byteLength = needBeside(paths?.stagingDirectory, outputBytes);
    needs.push({ directory: outputDirectory, byteLength, what: 'output' });
  }
  return needs;
}
