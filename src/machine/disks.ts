/**
 * Which disk holds a block device, and how many large reads and writes it serves well at one time. A partition belongs
 * to its disk, and a mapped device (LVM, LUKS, md) to the one disk it lies on. A device spread over several disks stays
 * itself, because one call to it may keep any of them busy.
 *
 * Trusts the layout of /sys/block (sysfs-block and block/queue-sysfs in the kernel's documentation).
 * Promises an answer for any directory; what sysfs does not say is class `unknown`.
 */
import { existsSync, readdirSync, realpathSync, statSync } from 'node:fs';
import { posix } from 'node:path';
import { type ReadText, readKernelText } from './kernel-text.js';

/** What kind of thing holds the bytes. */
export type DeviceClass = 'rotating' | 'solid-state' | 'virtual' | 'memory' | 'network' | 'unknown';

/** Large I/O calls at one time when the user says nothing. */
export const defaultIoLimits: Readonly<Record<DeviceClass, number>> = {
  /** One head: a second call makes it seek between the two, and the sum is slower than either. */
  rotating: 1,
  /** Many flash chips behind deep queues: several MB-sized calls are needed to keep all of them busy. */
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
 * The questions to the system that finding a device takes; tests give a literal tree. Only `statDevice` throws, and only
 * what stat throws: all else answers "nothing".
 */
export interface DeviceProbe {
  /** Follows symbolic links. Throws what stat throws. */
  statDevice(path: string): StatDevice;
  readonly readText: ReadText;
  /** The absolute path without symbolic links; undefined when there is nothing at `path`. */
  realPath(path: string): string | undefined;
  exists(path: string): boolean;
  /** The names in a directory; none when it is missing. */
  list(directory: string): readonly string[];
}

export interface StatDevice {
  /** st_dev: the file system that holds the file. */
  readonly holder: bigint;
  /** st_rdev when the path is the special file of a block device, such as /dev/sda1. */
  readonly block?: bigint;
}

export const systemProbe: DeviceProbe = {
  statDevice(path) {
    const stat = statSync(path, { bigint: true });
    return stat.isBlockDevice() ? { holder: stat.dev, block: stat.rdev } : { holder: stat.dev };
  },
  readText: readKernelText,
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

/** A disk, or what takes its place: a file system in memory or behind a network. */
export interface Disk {
  /** `254:0`, the same for all that lies on the disk; without a disk `fs:0:29`, or `zfs:tank` for a pool. */
  readonly id: string;
  /** For messages: `vda`, `nvme0n1`, `tmpfs`, `server:/export`. */
  readonly name: string;
  readonly deviceClass: DeviceClass;
}

/** `directory` is a real path such as /sys/devices/.../block/sda/sda1, without symbolic links. */
export function describeDisk(directory: string, probe: DeviceProbe): Disk {
  if (probe.exists(`${directory}/partition`)) return describeDisk(posix.dirname(directory), probe);

  const slaves = probe.list(`${directory}/slaves`).flatMap((name) => {
    const slave = probe.realPath(`${directory}/slaves/${name}`);
    return slave === undefined ? [] : [describeDisk(slave, probe)];
  });
  const [first, ...others] = slaves;
  // Also for several slaves on one disk, like the data and metadata of an LVM thin pool.
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
 * Whether a hypervisor made the disk up. `rotational` is 1 unless a driver says otherwise, and most
 * hypervisors say nothing, so a 1 from such a disk does not mean that anything rotates.
 */
function isVirtual(directory: string, name: string, probe: DeviceProbe): boolean {
  if (/^x?vd[a-z]+$/.test(name) || /\/virtio\d+\//.test(directory)) return true;
  // The model counts too: an emulated SATA disk has the vendor ATA and the model QEMU HARDDISK.
  return ['vendor', 'model'].some((file) =>
    /^(QEMU|VMware|Msft|Google|Amazon|VBOX|XENSRC|NUTANIX)/i.test(probe.readText(`${directory}/device/${file}`) ?? ''),
  );
}

/** Of several disks under one device the most limited one decides: it is the one that all wait for. */
function mostCarefulClass(disks: readonly Disk[]): DeviceClass {
  return disks
    .map((disk) => disk.deviceClass)
    .reduce((a, b) => (defaultIoLimits[b] < defaultIoLimits[a] ? b : a), 'memory');
}
