/** The devices of a job, and what the job does with each. */
import type { FileRole } from '../io/io-error.js';
import { readFreeBytes } from '../io/paths.js';
import { UNGATED } from '../job-control.js';
import { DeviceGates } from '../machine/device-gates.js';
import type { Device } from '../machine/devices.js';
import { hearSignalsAt } from '../pause.js';
import type { PreparedShuffle } from './prepare-shuffle.js';
import type { PreviewedDevice } from './preview-report.js';

interface UsedDevice {
  readonly device: Device;
  readonly calls: number | undefined;
  readonly uses: Set<PreviewedDevice['uses'][number]>;
  /** Of temp data or output. */
  directory?: string;
}

/** @throws AbortError */
export async function devicesOf(
  { inputsToRead, site, request }: PreparedShuffle,
  hasTemp: boolean,
): Promise<readonly PreviewedDevice[]> {
  const gates = new DeviceGates(request.ioLimits);
  const used = new Map<string, UsedDevice>();
  const use = (path: string, role: FileRole, what: PreviewedDevice['uses'][number]): UsedDevice => {
    const device = gates.deviceOf(path, role);
    const gate = gates.gateOf(path, role);
    const calls = gate === UNGATED ? undefined : gates.permits[gate];
    const entry = used.get(device.id) ?? { device, calls, uses: new Set() };
    entry.uses.add(what);
    used.set(device.id, entry);
    return entry;
  };
  for (const [index, input] of inputsToRead.entries()) {
    await hearSignalsAt(index, request.signal);
    if (input.kind === 'file') use(input.path, 'input', 'inputs');
  }
  for (const directory of hasTemp ? site.tempDirs : []) use(directory, 'temp', 'temp').directory = directory;
  if (site.outputDirectory !== undefined)
    use(site.outputDirectory, 'output', 'output').directory ??= site.outputDirectory;
  return [...used.values()].map(({ device, calls, uses, directory }) => {
    const { id, name, deviceClass } = device;
    const freeBytes = directory === undefined ? undefined : readFreeBytes(directory);
    return { id, name, class: deviceClass, uses: [...uses], calls, freeBytes };
  });
}
