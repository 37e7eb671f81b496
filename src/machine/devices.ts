/**
 * Resolves a path to the physical device that holds it, because the number of simultaneous large reads and writes is
 * limited per device: two directories on one disk share its limit, whatever file systems, partitions or volumes lie
 * between.
 *
 *     path -> st_dev -> block device -> its disk
 *                   \-> anonymous (major 0): the mount tells             (tmpfs, NFS, btrfs, overlay, ...)
 *
 * Trusts stat, /proc/self/mountinfo and sysfs. Answers for every path that can be stat'ed, on any system; what cannot
 * be found out is class `unknown`.
 */
import { existsSync, readdirSync, realpathSync, statSync } from 'node:fs';
import { dirname, posix } from 'node:path';
import { UsageError } from '../errors.js';
import { type GateNumber, UNGATED } from '../floor/job-control.js';
import { fileCalls } from '../io/file-calls.js';
import { type FileRole, ioError, reasonOf } from '../io/io-error.js';
import { isWithin, type Mount, parseMounts, type ReadText, readSystemText } from './system-files.js';

export interface Device extends Disk {
  /**
   * The type of the file system of the path itself, like `overlay`, not of what lies under it; `unknown` when no mount
   * fits.
   */
  readonly fileSystemType: string;
  readonly ioLimit: number;
}

/**
 * The device that holds an existing file or directory; for the special file of a block device, that device. Reads the
 * mount table each time, so ask once for each distinct st_dev. Throws what stat throws.
 */
export function describeDevice(path: string, system: DeviceProbe = systemProbe): Device {
  const stat = system.statDevice(path);
  const mounts = parseMounts(system.readText('/proc/self/mountinfo') ?? '');
  const mount = findMount(system.realPath(path) ?? path, stat, mounts);
  const disk = describeHolder(stat, mount, system);
  return { ...disk, fileSystemType: mount?.fileSystemType ?? 'unknown', ioLimit: defaultIoLimits[disk.deviceClass] };
}

/** `MAJOR:MINOR` of a dev_t, as gnu_dev_major and gnu_dev_minor of glibc cut it. */
function formatDeviceNumber(device: bigint): string {
  const bits = BigInt.asUintN(64, device);
  const major = ((bits & 0x0000_0000_000f_ff00n) >> 8n) | ((bits & 0xffff_f000_0000_0000n) >> 32n);
  const minor = (bits & 0x0000_0000_0000_00ffn) | ((bits & 0x0000_0fff_fff0_0000n) >> 12n);
  return `${major}:${minor}`;
}

/** The mount that shows `path`: of those with its device number the deepest above it, else any with that number. */
function findMount(path: string, stat: StatDevice, mounts: readonly Mount[]): Mount | undefined {
  const deviceNumber = formatDeviceNumber(stat.block ?? stat.holder);
  const sameDevice = mounts.filter((mount) => mount.deviceNumber === deviceNumber);
  const found = findDeepest(path, sameDevice) ?? sameDevice.at(-1);
  // Files of a btrfs subvolume or a lower overlay layer show numbers that no mount has: go by path alone.
  return found ?? (isAnonymous(deviceNumber) ? findDeepest(path, mounts) : undefined);
}

function findDeepest(path: string, mounts: readonly Mount[]): Mount | undefined {
  return mounts
    .filter((mount) => isWithin(path, mount.mountPoint))
    .reduce<Mount | undefined>(
      // Of two at the same place the later one hides the earlier.
      (deepest, mount) => (mount.mountPoint.length >= (deepest?.mountPoint.length ?? 0) ? mount : deepest),
      undefined,
    );
}

/** Major 0 marks a file system that no single block device backs. */
function isAnonymous(deviceNumber: string): boolean {
  return deviceNumber.startsWith('0:');
}

/** Returns whether the st_dev of a file says nothing of a block device: several file systems may share it. */
export function isAnonymousDevice(device: bigint): boolean {
  return isAnonymous(formatDeviceNumber(device));
}

function describeHolder(stat: StatDevice, mount: Mount | undefined, system: DeviceProbe): Disk {
  const deviceNumber = formatDeviceNumber(stat.block ?? stat.holder);
  if (!isAnonymous(deviceNumber)) {
    const directory = system.realPath(`/sys/dev/block/${deviceNumber}`);
    if (directory !== undefined) return describeDisk(directory, system);
    const name = mount?.source.startsWith('/dev/') ? mount.source.slice('/dev/'.length) : deviceNumber;
    return { id: deviceNumber, name, deviceClass: 'unknown' };
  }

  const id = `fs:${deviceNumber}`;
  if (mount === undefined) return { id, name: id, deviceClass: 'unknown' };
  const { fileSystemType: name, source } = mount;
  if (/^(tmpfs|ramfs|devtmpfs)$/.test(name)) return { id, name, deviceClass: 'memory' };
  if (networkFileSystem.test(name)) return { id, name: source, deviceClass: 'network' };
  // Every dataset has a device number of its own, but the disks belong to the pool.
  if (name === 'zfs') return { id: `zfs:${source.split('/', 1)[0]}`, name, deviceClass: 'unknown' };
  // The layers of an overlay are those of the host, which a container cannot see.
  return findSourceDisk(source, system) ?? { id, name, deviceClass: 'unknown' };
}

const networkFileSystem =
  /^(nfs\d*|cifs|smb3|smbfs|ceph|lustre|gpfs|beegfs|9p|virtiofs|k?afs|fuse\.(sshfs|ceph|glusterfs|s3fs|gcsfuse|rclone|juicefs))$/;

/** Finds the disk of btrfs and its like; a file system on several disks counts as on the first. */
function findSourceDisk(source: string, system: DeviceProbe): Disk | undefined {
  if (!source.startsWith('/dev/')) return undefined;
  // The special file may be missing in a container; sysfs is the same there as on the host.
  const { block } = tryStat(source, system) ?? {};
  const directory =
    block === undefined
      ? system.realPath(`/sys/class/block/${posix.basename(source)}`)
      : system.realPath(`/sys/dev/block/${formatDeviceNumber(block)}`);
  return directory === undefined ? undefined : describeDisk(directory, system);
}

function tryStat(path: string, system: DeviceProbe): StatDevice | undefined {
  try {
    return system.statDevice(path);
  } catch {
    return undefined;
  }
}

export type DeviceClass = 'rotating' | 'solid-state' | 'virtual' | 'memory' | 'network' | 'unknown';

/** Large I/O calls at one time when the user says nothing. */
const defaultIoLimits: Readonly<Record<DeviceClass, number>> = {
  /** One head: a second call makes it seek between the two, and the sum is slower than either. */
  rotating: 1,
  /** Many flash chips with deep queues: several MB-sized calls give all of them work. */
  'solid-state': 16,
  /** Usually flash or a storage cluster that wants parallel calls, perhaps a lone disk that suffers from many. */
  virtual: 8,
  /** Calls in flight hide the round trip; more only fill the server's queue. */
  network: 8,
  /** Enough to overlap on flash, few enough not to ruin a rotating disk. */
  unknown: 4,
  /** A copy in RAM, bounded by the cores and not by the device. */
  memory: Number.POSITIVE_INFINITY,
};

/**
 * The questions to the system that finding a device takes; tests give a literal tree. Only `statDevice` throws: all
 * else answers "nothing".
 */
export interface DeviceProbe {
  /** Follows symbolic links. Throws what stat throws. */
  statDevice(path: string): StatDevice;
  readonly readText: ReadText;
  /** Returns the path without symbolic links; undefined when there is nothing at `path`. */
  realPath(path: string): string | undefined;
  exists(path: string): boolean;
  list(directory: string): readonly string[];
}

interface StatDevice {
  readonly holder: bigint;
  /** st_rdev when the path is the special file of a block device, such as /dev/sda1. */
  readonly block?: bigint;
}

export const systemProbe: DeviceProbe = {
  statDevice(path) {
    const stat = statSync(path, { bigint: true });
    return stat.isBlockDevice() ? { holder: stat.dev, block: stat.rdev } : { holder: stat.dev };
  },
  readText: readSystemText,
  realPath(path) {
    try {
      return realpathSync(path);
    } catch {
      return undefined;
    }
  },
  exists: existsSync,
  list(directory) {
    try {
      return readdirSync(directory);
    } catch {
      return [];
    }
  },
};

/** Or what takes its place: a file system in memory or on a network. */
interface Disk {
  /** `254:0`, the same for all that lies on the disk; without a disk `fs:0:29`, or `zfs:tank` for a pool. */
  readonly id: string;
  /** The name for messages: `vda`, `nvme0n1`, `tmpfs`, `server:/export`. */
  readonly name: string;
  readonly deviceClass: DeviceClass;
}

/** `directory` is a real path such as /sys/devices/.../block/sda/sda1. */
function describeDisk(directory: string, probe: DeviceProbe): Disk {
  if (probe.exists(`${directory}/partition`)) return describeDisk(posix.dirname(directory), probe);

  const slaves = probe.list(`${directory}/slaves`).flatMap((name) => {
    const slave = probe.realPath(`${directory}/slaves/${name}`);
    return slave === undefined ? [] : [describeDisk(slave, probe)];
  });
  const [first, ...others] = slaves;
  // Several slaves may lie on one disk, like the data and metadata of an LVM thin pool.
  if (first !== undefined && others.every((slave) => slave.id === first.id)) return first;

  const name = posix.basename(directory).replaceAll('!', '/'); // sysfs writes cciss/c0d0 as cciss!c0d0
  return {
    id: probe.readText(`${directory}/dev`)?.trim() ?? name,
    name,
    deviceClass: first === undefined ? classifyDisk(directory, name, probe) : mostCarefulClass(slaves),
  };
}

function classifyDisk(directory: string, name: string, probe: DeviceProbe): DeviceClass {
  if (/^z?ram\d+$/.test(name)) return 'memory';
  switch (probe.readText(`${directory}/queue/rotational`)?.trim()) {
    case '0':
      return 'solid-state';
    case '1':
      return isVirtual(directory, name, probe) ? 'virtual' : 'rotating';
    default:
      return 'unknown';
  }
}

/**
 * Returns whether a hypervisor made the disk up. `rotational` is 1 unless a driver says otherwise, and most hypervisors
 * say nothing, so a 1 from such a disk does not mean that anything rotates.
 */
function isVirtual(directory: string, name: string, probe: DeviceProbe): boolean {
  if (/^x?vd[a-z]+$/.test(name) || /\/virtio\d+\//.test(directory)) return true;
  // The model counts too: an emulated SATA disk has the vendor ATA and the model QEMU HARDDISK.
  return ['vendor', 'model'].some((file) =>
    /^(QEMU|VMware|Msft|Google|Amazon|VBOX|XENSRC|NUTANIX)/i.test(probe.readText(`${directory}/device/${file}`) ?? ''),
  );
}

/** All disks under one device wait for the most limited one. */
function mostCarefulClass(disks: readonly Disk[]): DeviceClass {
  return disks
    .map((disk) => disk.deviceClass)
    .reduce((a, b) => (defaultIoLimits[b] < defaultIoLimits[a] ? b : a), 'memory');
}

/**
 * The gates of a job: one for each device that holds an input, a temp directory or the output, with as many permits as
 * the device's class or the user's limit says.
 */
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
