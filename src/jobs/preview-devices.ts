/** The devices of a job, what the job does with each, and how fast it is. */
import type { FileInput } from '../inputs/list-inputs.js';
import type { FileRole } from '../io/io-error.js';
import { readFreeBytes } from '../io/paths.js';
import { UNGATED } from '../job-control.js';
import type { DeviceGates } from '../machine/device-gates.js';
import type { Device } from '../machine/devices.js';
import { type ProbedFile, probeReads, probeWrites, type ReadProbe } from '../machine/probe-disk.js';
import { hearSignalsAt } from '../pause.js';
import type { PreparedShuffle } from './prepare-shuffle.js';
import type { PreviewedDevice } from './preview-report.js';
import type { KnownDevice } from './preview-time.js';

/** For all disks together, and at most for one. */
const PROBE_SECONDS = 4;
const MOST_SECONDS_OF_DISK = 0.6;

interface UsedDevice {
  readonly device: Device;
  readonly calls: number | undefined;
  readonly uses: Set<PreviewedDevice['uses'][number]>;
  readonly files: ProbedFile[];
  inputBytes: number;
  tempDirs: number;
  /** A directory of the job there. */
  directory: string | undefined;
}

export interface JobDevices {
  readonly devices: readonly PreviewedDevice[];
  /** The same with what the model of the time needs. */
  readonly known: readonly KnownDevice[];
}

/** @throws AbortError */
export async function devicesOf(
  { inputsToRead, site, request }: PreparedShuffle,
  gates: DeviceGates,
  hasTemp: boolean,
  probe: boolean,
): Promise<JobDevices> {
  const used = new Map<string, UsedDevice>();
  const use = (path: string, role: FileRole, what: PreviewedDevice['uses'][number]): UsedDevice => {
    const device = gates.deviceOf(path, role);
    const gate = gates.gateOf(path, role);
    const calls = gate === UNGATED ? undefined : gates.permits[gate];
    const known = used.get(device.id);
    const entry: UsedDevice = known ?? {
      device,
      calls,
      uses: new Set(),
      files: [],
      inputBytes: 0,
      tempDirs: 0,
      directory: undefined,
    };
    entry.uses.add(what);
    used.set(device.id, entry);
    return entry;
  };
  const files = inputsToRead.filter((input): input is FileInput => input.kind === 'file');
  for (const [index, { path, version }] of files.entries()) {
    await hearSignalsAt(index, request.signal);
    const { byteLength } = version;
    const entry = use(path, 'input', 'inputs');
    entry.inputBytes += byteLength;
    entry.files.push({ path, byteLength });
  }
  for (const directory of hasTemp ? site.tempDirs : []) {
    const entry = use(directory, 'temp', 'temp');
    entry.tempDirs += 1;
    entry.directory = directory;
  }
  if (site.outputDirectory !== undefined) {
    const entry = use(site.outputDirectory, 'output', 'output');
    entry.directory ??= site.outputDirectory;
  }
  const allBytes = Math.max(
    1,
    [...used.values()].reduce((sum, { inputBytes }) => sum + inputBytes, 0),
  );
  const seconds = Math.min(MOST_SECONDS_OF_DISK, PROBE_SECONDS / Math.max(1, used.size) / 2);
  const devices: PreviewedDevice[] = [];
  const known: KnownDevice[] = [];
  for (const [index, entry] of [...used.values()].entries()) {
    await hearSignalsAt(index, request.signal);
    const { device, calls, uses, directory } = entry;
    const { id, name, deviceClass } = device;
    const read: ReadProbe | undefined = probe ? await probeReads(entry.files, seconds) : undefined;
    const writeBytesPerSecond = probe && directory !== undefined ? await probeWrites(directory, seconds) : undefined;
    const readBytesPerSecond = read?.bytesPerSecond;
    const freeBytes = directory === undefined ? undefined : readFreeBytes(directory);
    const speeds = { readBytesPerSecond, writeBytesPerSecond };
    devices.push({ id, name, class: deviceClass, uses: [...uses], calls, freeBytes, ...speeds });
    known.push({
      ...{ name, deviceClass, ...speeds },
      inputShare: entry.inputBytes / allBytes,
      tempShare: entry.tempDirs / Math.max(1, site.tempDirs.length),
      outputShare: uses.has('output') ? 1 : 0,
      cachedShare: read?.cachedShare,
    });
  }
  return { devices, known };
}
