/**
 * Whether the disks can hold a job, before it starts: what is sure not to fit is refused, what
 * probably does not fit is warned of.
 */
import { SystemError } from '../errors.js';
import { readFreeBytes } from '../io/free-space.js';
import type { DeviceGates } from './device-gates.js';
import type { JobPlaces } from './job-places.js';
import type { JobPlan } from './job-plan.js';
import type { JobRequest } from './job-request.js';

/** Bytes that will be written below a directory. */
interface SpaceNeed {
  readonly directory: string;
  readonly byteLength: number;
  readonly what: 'temp data' | 'output';
}

/** @throws SystemError ERR_NO_SPACE, with what is needed where. */
export function checkDisks(request: JobRequest, plan: JobPlan, places: JobPlaces, gates: DeviceGates): void {
  if (plan.memory.maySpill) warnOfMemoryDisks(request, places, gates);
  const { least, expected, memory } = plan;
  const [shortage] = findShortages(places, least, memory.stripeCount, gates);
  if (shortage !== undefined) {
    throw new SystemError('ERR_NO_SPACE', `not enough space ${shortage.description}; ${shortage.advice}`);
  }
  for (const { description, advice } of findShortages(places, expected, memory.stripeCount, gates)) {
    request.onWarning(`by a sample of the inputs, there may not be enough space ${description}; ${advice}`);
  }
}

function warnOfMemoryDisks(request: JobRequest, { tempDirs }: JobPlaces, gates: DeviceGates): void {
  for (const directory of tempDirs) {
    if (gates.deviceOf(directory, 'temp').deviceClass !== 'memory') continue;
    request.onWarning(
      `the temp directory ${directory} lies in memory (tmpfs), where temp data competes with the job itself; name a disk with --temp-dir`,
    );
  }
}

/** Needs on one device are added up. */
function findShortages(
  { tempDirs, outputDirectory }: JobPlaces,
  bytes: { readonly tempBytes: number; readonly outputBytes: number },
  stripeCount: number,
  gates: DeviceGates,
): { readonly description: string; readonly advice: string }[] {
  const needs: SpaceNeed[] = tempDirs.map((directory) => ({
    directory,
    byteLength: bytes.tempBytes / tempDirs.length,
    what: 'temp data',
  }));
  if (outputDirectory !== undefined) {
    needs.push({ directory: outputDirectory, byteLength: bytes.outputBytes, what: 'output' });
  }
  // Each stripe of temp data is deleted when its part of the output is written: so much never exists twice.
  const sharedBytes = Math.min(bytes.tempBytes, bytes.outputBytes) * (1 - 1 / stripeCount);
  const needsOfDevice = new Map<string, SpaceNeed[]>();
  for (const need of needs) {
    const { id } = gates.deviceOf(need.directory, need.what === 'output' ? 'output' : 'temp');
    needsOfDevice.set(id, [...(needsOfDevice.get(id) ?? []), need]);
  }
  return [...needsOfDevice.values()].flatMap((together) => {
    const directory = together[0]?.directory ?? '';
    const purposes = [...new Set(together.map((need) => need.what))];
    const neededBytes =
      together.reduce((sum, need) => sum + need.byteLength, 0) - (purposes.length > 1 ? sharedBytes : 0);
    const freeBytes = readFreeBytes(directory);
    if (freeBytes === undefined || neededBytes <= freeBytes) return [];
    return {
      description: `for ${purposes.join(' and ')} on the device of ${directory}: about ${mib(neededBytes)} MiB are needed and ${mib(freeBytes)} MiB are free`,
      advice: purposes.includes('temp data')
        ? 'free some space or name other disks with --temp-dir'
        : 'free some space',
    };
  });
}

function mib(byteLength: number): number {
  return Math.ceil(byteLength / 2 ** 20);
}
