/**
 * Numbers the gates of a job: one for each device that holds an input, a temp directory or the
 * output, with as many permits as its class or an --io-limit says.
 */
import { statSync } from 'node:fs';
import { dirname } from 'node:path';
import { UsageError } from '../errors.js';
import { type Device, describeDevice } from '../io/devices.js';
import { reasonOf } from '../io/files.js';
import { type GateNumber, UNGATED } from '../io/job-control.js';

export class DeviceGates {
  readonly permits: number[] = [];
  readonly #gateOfDevice = new Map<string, GateNumber>();
  readonly #limitOfDevice = new Map<string, number>();
  readonly #deviceOfPlace = new Map<string, Device>();

  /** @param limits path to permits, as the user gave them. */
  constructor(limits: Readonly<Record<string, number>>) {
    for (const [path, limit] of Object.entries(limits)) {
      try {
        this.#limitOfDevice.set(describeDevice(path).id, limit);
      } catch (error) {
        throw new UsageError(`--io-limit ${path}=${limit}: cannot find the device of ${path}: ${reasonOf(error)}`);
      }
    }
  }

  /** The gate of the device that holds an existing path. */
  gateOf(path: string): GateNumber {
    const device = this.deviceOf(path);
    let gate = this.#gateOfDevice.get(device.id);
    if (gate === undefined) {
      const permits = this.#limitOfDevice.get(device.id) ?? device.ioLimit;
      gate = Number.isFinite(permits) ? this.permits.push(permits) - 1 : UNGATED;
      this.#gateOfDevice.set(device.id, gate);
    }
    return gate;
  }

  deviceOf(path: string): Device {
    const { dev } = statSync(path);
    // Numbers below 256 have major 0: several mounts, even several devices, may share one of them, but
    // hardly within one directory.
    const place = dev < 256 ? `${dev} ${dirname(path)}` : `${dev}`;
    const known = this.#deviceOfPlace.get(place);
    if (known !== undefined) return known;
    const device = describeDevice(path);
    this.#deviceOfPlace.set(place, device);
    return device;
  }
}
