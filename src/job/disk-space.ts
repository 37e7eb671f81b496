/** Checks before a job starts whether the disks can hold it: refuses what cannot fit, warns of what may not fit. */

import { SystemError } from '../errors.js';
import { ifPossible } from '../floor/cleanup.js';
import type { JobControl } from '../floor/job-control.js';
import { type FileRole, ioError } from '../io/io-error.js';
import { readFreeBytes, readStoredBytes } from '../io/paths.js';
import type { DeviceGates } from '../machine/devices.js';
import type { JobStop } from '../stages/threads.js';
import { formatBytes, formatExactBytes, nameSome } from '../values/format-numbers.js';
import type { JobPlaces } from './job-places.js';
import type { Callbacks } from './request.js';
import { nameOfTempDir } from './temp-disks.js';

export interface DiskNeed {
  readonly tempBytes: number;
  readonly outputBytes: number;
  /** Output that waits on the temp disks, at the most at one time. Absent: none does. */
  readonly waitingBytes?: number | undefined;
}

export interface DiskNeeds {
  /** The job writes at least this much. */
  readonly least: DiskNeed;
  /** The expected amount, from samples; 0 if too little is known. */
  readonly expected: DiskNeed;
}

export interface SpaceNeed {
  readonly directory: string;
  readonly byteLength: number;
  readonly what: 'temp data' | 'output' | 'the pile store';
}

interface Shortage {
  /** Completes `not enough space`: the purpose, the device, the needed and the free space. */
  readonly description: string;
  readonly advice: string;
}

const ROLE_OF: Readonly<Record<SpaceNeed['what'], FileRole>> = {
  'temp data': 'temp',
  output: 'output',
  'the pile store': 'store',
};

/** @param basis what the expectation rests on, for the warning. */
export function requireSpace(
  { least, expected }: DiskNeeds,
  needsOf: (need: DiskNeed) => readonly SpaceNeed[],
  stripeCount: number,
  gates: DeviceGates,
  onWarning: Callbacks['onWarning'],
  basis = 'by a sample of the inputs',
): void {
  const shortagesOf = (need: DiskNeed) => findShortages(needsOf(need), stripeCount, gates);
  const [shortage] = shortagesOf(least);
  if (shortage !== undefined) {
    throw new SystemError('ERR_NO_SPACE', `not enough space ${shortage.description}; ${shortage.advice}`);
  }
  for (const { description, advice } of shortagesOf(expected))
    onWarning(`${basis}, there may not be enough space ${description}; ${advice}`);
}

type WrittenPlaces = Pick<JobPlaces, 'tempDirs' | 'outputDirectory'> & { readonly paths?: JobPlaces['paths'] };

/** The needs of a job, less the files of an earlier attempt, which it removes. Without `paths`, there are none. */
export function needsAt(
  { tempBytes, outputBytes, waitingBytes = 0 }: DiskNeed,
  { tempDirs, outputDirectory, paths }: WrittenPlaces,
): SpaceNeed[] {
  const needBeside = (directory: string | undefined, byteLength: number) =>
    directory === undefined ? byteLength : Math.max(0, byteLength - readStoredBytes(directory, 'temp'));
  const needs: SpaceNeed[] = tempDirs.map((directory, disk) => ({
    directory,
    byteLength: needBeside(paths?.dataDirectories[disk], (tempBytes + waitingBytes) / tempDirs.length),
    what: 'temp data',
  }));
  if (outputDirectory !== undefined) {
    const byteLength = needBeside(paths?.stagingDirectory, outputBytes);
    needs.push({ directory: outputDirectory, byteLength, what: 'output' });
  }
  return needs;
}

export function warnOfMemoryDisks(
  { tempDirs, tempChoice }: JobPlaces,
  gates: DeviceGates,
  onWarning: Callbacks['onWarning'],
): void {
  const inMemory = tempDirs.filter((directory) => gates.deviceOf(directory, 'temp').deviceClass === 'memory');
  const [first] = inMemory;
  if (first === undefined) return;
  const what =
    inMemory.length === 1
      ? `${nameOfTempDir(first, tempChoice)} lies`
      : `${inMemory.length} temp directories (${nameSome(inMemory)}) lie`;
  const option = tempChoice === 'jobDir' ? 'jobDir' : 'tempDirs';
  onWarning(`${what} in memory (tmpfs), where temp data competes with the job itself; name a disk with \`${option}\``);
}

export const TEMP_SHORTAGE_ADVICE = 'free some space or name other disks with `tempDirs`';

/**
 * Needs on one device are added up. If output and temp data share a device, pass 2 deletes each stripe after it has written
 * its part of the output: at most one stripe exists beside its part.
 */
export function findShortages(needs: readonly SpaceNeed[], stripeCount: number, gates: DeviceGates): Shortage[] {
  const needsOfDevice = new Map<string, SpaceNeed[]>();
  for (const need of needs) {
    const { id } = gates.deviceOf(need.directory, ROLE_OF[need.what]);
    needsOfDevice.set(id, [...(needsOfDevice.get(id) ?? []), need]);
  }
  return [...needsOfDevice.values()].flatMap((together) => {
    const bytesFor = (what: SpaceNeed['what']) =>
      together.reduce((sum, need) => (need.what === what ? sum + need.byteLength : sum), 0);
    const [tempBytes, outputBytes] = [bytesFor('temp data'), bytesFor('output') + bytesFor('the pile store')];
    const neededBytes = tempBytes + outputBytes - Math.min(tempBytes, outputBytes) * (1 - 1 / stripeCount);
    const directory = together[0]?.directory ?? '';
    const purposes = [...new Set(together.map((need) => need.what))];
    const freeBytes = freeBytesOf(directory, ROLE_OF[purposes.find((what) => what !== 'temp data') ?? 'temp data']);
    if (freeBytes === undefined || neededBytes <= freeBytes) return [];
    return {
      description: `for ${purposes.join(' and ')} on the device of ${directory}: ${needAndFree(neededBytes, freeBytes)}`,
      advice: purposes.includes('temp data') ? TEMP_SHORTAGE_ADVICE : 'free some space',
    };
  });
}

function freeBytesOf(directory: string, role: FileRole): number | undefined {
  try {
    return readFreeBytes(directory);
  } catch (error) {
    throw ioError('examine', role, directory, error);
  }
}

/** Sizes that read the same are told to the byte. */
function needAndFree(neededBytes: number, freeBytes: number): string {
  const isClose = formatBytes(neededBytes) === formatBytes(freeBytes);
  const [needed, free] = [Math.ceil(neededBytes), freeBytes].map(isClose ? formatExactBytes : formatBytes);
  return `about ${needed} are needed and ${free} are free`;
}

const LOOK_MILLISECONDS = 1000;
/** Less than this part of the inputs says too little about the rest. */
const LEAST_PART = 0.05;

interface WatchedJob {
  readonly control: JobControl;
  readonly plan: {
    /** Stored bytes of all inputs; undefined: one of them is a stream. */
    readonly inputBytes: number | undefined;
    readonly memory: { readonly stripeCount: number };
    needOf(recordBytes: number): DiskNeed;
  };
  readonly places: Pick<JobPlaces, 'tempDirs' | 'outputDirectory'>;
  readonly deviceGates: DeviceGates;
  readonly request: Pick<Callbacks, 'onWarning'>;
}

/** Looks every second while pass 1 runs, and warns once. What `onWarning` throws ends the job. */
export async function watchSpace<T>(job: WatchedJob, pass1: () => Promise<T>, stop: Pick<JobStop, 'fail'>): Promise<T> {
  const checkSpace = () => {
    try {
      const warning = lookAtSpace(job);
      if (warning === undefined) return;
      clearInterval(timer);
      job.request.onWarning(warning);
    } catch (thrown) {
      stop.fail(thrown);
    }
  };
  const timer = setInterval(checkSpace, LOOK_MILLISECONDS);
  try {
    return await pass1();
  } finally {
    clearInterval(timer);
  }
}

/**
 * Returns what is wrong if the disks have too little space for what is not written yet, by what the inputs hold so far.
 */
function lookAtSpace({ control, plan, places: { tempDirs, outputDirectory }, deviceGates }: WatchedJob) {
  const { inputBytes, needOf, memory } = plan;
  const decodedBytes = control.counted('decodedBytes');
  const storedBytes = control.counted('scatteredBytes');
  if (inputBytes !== undefined && (storedBytes === 0 || storedBytes < LEAST_PART * inputBytes)) return undefined;
  // A stream may end at once: it holds at least what was read.
  const recordBytes = inputBytes === undefined ? decodedBytes : (decodedBytes / storedBytes) * inputBytes;
  const need = needOf(recordBytes);
  const tempBytes = Math.max(0, need.tempBytes - needOf(decodedBytes).tempBytes);
  const needs = () => needsAt({ ...need, tempBytes }, { tempDirs, outputDirectory });
  // A directory may be gone: who writes there says so.
  const [shortage] = ifPossible(() => findShortages(needs(), memory.stripeCount, deviceGates)) ?? [];
  if (shortage === undefined) return undefined;
  const what =
    inputBytes === undefined
      ? 'the inputs read so far hold'
      : `by the ${Math.floor((100 * storedBytes) / inputBytes)} % of the inputs read so far, all of them hold about`;
  return `${what} ${formatBytes(recordBytes)}, and there will not be enough space ${shortage.description}; ${shortage.advice}`;
}
