/**
 * What does not fit on the disks as they are now.
 */
import { readFreeBytes } from '../../io/free-space.js';
import { type FileRole, ioError } from '../../io/io-error.js';
import type { DeviceGates } from './device-gates.js';

/** Bytes that will be written below a directory. */
export interface SpaceNeed {
  readonly directory: string;
  readonly byteLength: number;
  readonly what: 'temp data' | 'output' | 'the pile store';
}

const ROLE_OF: Readonly<Record<SpaceNeed['what'], FileRole>> = {
  'temp data': 'temp',
  output: 'output',
  'the pile store': 'store',
};

/** One device on which there is too little space. */
export interface Shortage {
  /** For what, where, how much is needed and how much is free. */
  readonly description: string;
  readonly advice: string;
}

/**
 * Needs on one device are added up. Where output and temp data meet, temp data is deleted while the
 * output grows, in so many stripes: all but one of them never exist beside their part of the output.
 */
export function findShortages(needs: readonly SpaceNeed[], stripeCount: number, gates: DeviceGates): Shortage[] {
  const needsOfDevice = new Map<string, SpaceNeed[]>();
  for (const need of needs) {
    const { id } = gates.deviceOf(need.directory, ROLE_OF[need.what]);
    needsOfDevice.set(id, [...(needsOfDevice.get(id) ?? []), need]);
  }
  return [...needsOfDevice.values()].flatMap((together) => {
    const directory = together[0]?.directory ?? '';
    const purposes = [...new Set(together.map((need) => need.what))];
    const bytesFor = (what: SpaceNeed['what']) =>
      together.reduce((sum, need) => (need.what === what ? sum + need.byteLength : sum), 0);
    const [tempBytes, outputBytes] = [bytesFor('temp data'), bytesFor('output') + bytesFor('the pile store')];
    const neededBytes = tempBytes + outputBytes - Math.min(tempBytes, outputBytes) * (1 - 1 / stripeCount);
    const freeBytes = freeBytesOf(directory, ROLE_OF[purposes.find((what) => what !== 'temp data') ?? 'temp data']);
    if (freeBytes === undefined || neededBytes <= freeBytes) return [];
    return {
      description: `for ${purposes.join(' and ')} on the device of ${directory}: about ${mib(neededBytes)} MiB are needed and ${mib(freeBytes)} MiB are free`,
      advice: purposes.includes('temp data')
        ? 'free some space or name other disks with `tempDirs`'
        : 'free some space',
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

function mib(byteLength: number): number {
  return Math.ceil(byteLength / 2 ** 20);
}
