/**
 * The gates of a job: one for each device that holds an input, a temp directory or the output, with as many permits as
 * the device's class or the user's limit says.
 */
import { dirname } from 'node:path';
import { UsageError } from '../errors.js';
import { fileCalls } from '../io/file-calls.js';
import { type FileRole, ioError, reasonOf } from '../io/io-error.js';
import { type GateNumber, UNGATED } from '../job-control.js';
import { type Device, describeDevice, isAnonymousDevice } from './devices.js';

export class DeviceGates {
  readonly permits: number[] = [];
  readonly devices: Device[] = [];
  readonly #gateOfDevice = new Map<string, GateNumber>();
  readonly #limitOfDevice = new Map<string, number>();
  readonly #deviceOfPlace = new Map<string, Device>();

  constructor(limits: Readonly<Record<string, number>>) {
    const pathOfDevice = new Map<string, string>();
    for (const [path, limit] of Object.entries(limits)) {
      const id = deviceIdOf(path, limit);
      const known = this.#limitOfDevice.get(id);
      if (known !== undefined && known !== limit) {
        throw new UsageError(
          `\`ioLimits\` gives ${known} for ${pathOfDevice.get(id)} and ${limit} for ${path}, which lie on one device; give one of them`,
        );
      }
      pathOfDevice.set(id, path);
      this.#limitOfDevice.set(id, limit);
    }
  }

  gateOf(path: string, role: FileRole): GateNumber {
    const device = this.deviceOf(path, role);
    let gate = this.#gateOfDevice.get(device.id);
    if (gate === undefined) {
      const permits = this.#limitOfDevice.get(device.id) ?? device.ioLimit;
      gate = Number.isFinite(permits) ? this.permits.push(permits) - 1 : UNGATED;
      if (gate !== UNGATED) this.devices.push(device);
      this.#gateOfDevice.set(device.id, gate);
    }
    return gate;
  }

  deviceOf(path: string, role: FileRole): Device {
    try {
      const { dev } = fileCalls.stat(path);
      // Several mounts, even several devices, may share an anonymous number, but hardly within one directory.
      const place = isAnonymousDevice(dev) ? `${dev} ${dirname(path)}` : `${dev}`;
      const known = this.#deviceOfPlace.get(place);
      if (known !== undefined) return known;
      const device = describeDevice(path);
      this.#deviceOfPlace.set(place, device);
      return device;
    } catch (error) {
      throw ioError('examine', role, path, error);
    }
  }
}

function deviceIdOf(path: string, limit: number): string {
  try {
    return describeDevice(path).id;
  } catch (error) {
    throw new UsageError(`\`ioLimits\` ${path}=${limit}: cannot find the device of ${path}: ${reasonOf(error)}`);
  }
}
