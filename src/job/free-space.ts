/**
 * Refuses to start a job that the disks cannot hold, with what is needed where.
 */
import { SystemError } from '../errors.js';
import { readFreeBytes } from '../io/free-space.js';
import type { DeviceGates } from './device-gates.js';

/** Bytes that will be written below a directory. */
export interface SpaceNeed {
  readonly directory: string;
  readonly byteLength: number;
  readonly what: 'temp data' | 'output';
}

/**
 * Needs on one device are added up; `sharedBytes` of them never exist at the same time (temp data is
 * deleted while the output grows) and are taken off where output and temp data meet.
 * @throws SystemError ERR_NO_SPACE
 */
export function requireFreeSpace(needs: readonly SpaceNeed[], sharedBytes: number, gates: DeviceGates): void {
  const needsOfDevice = new Map<string, SpaceNeed[]>();
  for (const need of needs) {
    const { id } = gates.deviceOf(need.directory);
    needsOfDevice.set(id, [...(needsOfDevice.get(id) ?? []), need]);
  }
  for (const together of needsOfDevice.values()) {
    const [first] = together;
    if (first === undefined) continue;
    const meets = new Set(together.map((need) => need.what)).size > 1;
    const neededBytes = together.reduce((sum, need) => sum + need.byteLength, 0) - (meets ? sharedBytes : 0);
    const freeBytes = readFreeBytes(first.directory);
    if (freeBytes === undefined || neededBytes <= freeBytes) continue;
    const purposes = [...new Set(together.map((need) => need.what))].join(' and ');
    const advice = together.some((need) => need.what === 'temp data')
      ? 'free some space or name other disks with --temp-dir'
      : 'free some space';
    throw new SystemError(
      'ERR_NO_SPACE',
      `not enough space for ${purposes} on the device of ${first.directory}: about ${mib(neededBytes)} MiB are needed and ${mib(freeBytes)} MiB are free; ${advice}`,
    );
  }
}

function mib(byteLength: number): number {
  return Math.ceil(byteLength / 2 ** 20);
}
