import { describe, expect, test } from 'vitest';
import { type DeviceClass, describeDevice } from '#src/machine/devices.js';
import { type FakeSystem, fakeProbe } from './fake-system.js';

const describeFake = (path: string, system: FakeSystem) => describeDevice(path, fakeProbe(system));

/** One disk without partitions, mounted at /data as 8:0. */
function oneDisk(sysfsDirectory: string, texts: Record<string, string>): FakeSystem {
  return {
    stat: { '/data': 0x800n },
    links: { '/sys/dev/block/8:0': sysfsDirectory },
    texts: {
      '/proc/self/mountinfo': '20 1 8:0 / /data rw - ext4 /dev/disk rw\n',
      [`${sysfsDirectory}/dev`]: '8:0\n',
      ...Object.fromEntries(Object.entries(texts).map(([file, text]) => [`${sysfsDirectory}/${file}`, text])),
    },
  };
}

describe('describeDevice: block devices', () => {
  test.each<[string, DeviceClass, number, string, Record<string, string>]>([
    ['rotational 1', 'rotating', 1, '/sys/devices/ata1/block/sda', { 'queue/rotational': '1\n' }],
    ['rotational 0', 'solid-state', 16, '/sys/devices/nvme/nvme0/nvme0n1', { 'queue/rotational': '0\n' }],
    ['no rotational file', 'unknown', 4, '/sys/devices/ata1/block/sda', {}],
    ['a loop device', 'rotating', 1, '/sys/devices/virtual/block/loop3', { 'queue/rotational': '1\n' }],
    ['zram', 'memory', Infinity, '/sys/devices/virtual/block/zram0', { 'queue/rotational': '0\n' }],
    ['virtio', 'virtual', 8, '/sys/devices/pci0000:00/virtio1/block/vda', { 'queue/rotational': '1\n' }],
    ['virtio that says 0', 'solid-state', 16, '/sys/devices/virtio1/block/vda', { 'queue/rotational': '0\n' }],
    ['Xen', 'virtual', 8, '/sys/devices/vbd-51712/block/xvda', { 'queue/rotational': '1\n' }],
    ['virtio SCSI', 'virtual', 8, '/sys/devices/virtio3/host0/target0/block/sda', { 'queue/rotational': '1\n' }],
    [
      'a hypervisor as vendor',
      'virtual',
      8,
      '/sys/devices/host0/block/sda',
      { 'queue/rotational': '1\n', 'device/vendor': 'VMware  \n' },
    ],
    [
      'a hypervisor as model',
      'virtual',
      8,
      '/sys/devices/ata1/block/sda',
      { 'queue/rotational': '1\n', 'device/vendor': 'ATA     \n', 'device/model': 'QEMU HARDDISK   \n' },
    ],
    [
      'a maker of disks as vendor',
      'rotating',
      1,
      '/sys/devices/ata1/block/sda',
      { 'queue/rotational': '1\n', 'device/vendor': 'SEAGATE \n', 'device/model': 'ST18000NM000J\n' },
    ],
  ])('%s is %s', (_, deviceClass, ioLimit, directory, texts) => {
    expect(describeFake('/data', oneDisk(directory, texts))).toEqual({
      id: '8:0',
      name: directory.slice(directory.lastIndexOf('/') + 1),
      deviceClass,
      fileSystemType: 'ext4',
      ioLimit,
    });
  });

  const twoPartitions: FakeSystem = {
    stat: { '/': 0x10301n, '/data/corpus': 0x10302n },
    blockDevices: { '/dev/nvme0n1p2': 0x10302n },
    links: {
      '/sys/dev/block/259:1': '/sys/devices/pci/nvme0/nvme0n1/nvme0n1p1',
      '/sys/dev/block/259:2': '/sys/devices/pci/nvme0/nvme0n1/nvme0n1p2',
    },
    texts: {
      '/proc/self/mountinfo': [
        '20 1 259:1 / / rw shared:1 - ext4 /dev/nvme0n1p1 rw',
        '21 20 259:2 / /data rw shared:2 master:7 - xfs /dev/nvme0n1p2 rw',
      ].join('\n'),
      '/sys/devices/pci/nvme0/nvme0n1/dev': '259:0\n',
      '/sys/devices/pci/nvme0/nvme0n1/queue/rotational': '0\n',
      '/sys/devices/pci/nvme0/nvme0n1/nvme0n1p1/partition': '1\n',
      '/sys/devices/pci/nvme0/nvme0n1/nvme0n1p2/partition': '2\n',
    },
  };

  test('partitions of one disk are one device', () => {
    const disk = { id: '259:0', name: 'nvme0n1', deviceClass: 'solid-state', ioLimit: 16 };
    expect(describeFake('/', twoPartitions)).toEqual({ ...disk, fileSystemType: 'ext4' });
    expect(describeFake('/data/corpus', twoPartitions)).toEqual({ ...disk, fileSystemType: 'xfs' });
  });

  test('the special file of a block device is that device, not the devtmpfs it lies in', () => {
    expect(describeFake('/dev/nvme0n1p2', twoPartitions)).toMatchObject({ id: '259:0', fileSystemType: 'xfs' });
  });

  test('cuts minors above 255 and majors above 4095 out of st_dev as glibc does', () => {
    const system = { stat: { '/wide-minor': 0x30_0811n, '/wide-major': 0x1234_5000_0006_7801n } };
    expect(describeFake('/wide-minor', system).id).toBe('8:785');
    expect(describeFake('/wide-major', system).id).toBe(`${0x12345678}:1`);
  });

  test('without sysfs a block device keeps its number and the name from the mount', () => {
    const system = {
      stat: { '/data': 0x811n },
      texts: { '/proc/self/mountinfo': '20 1 8:17 / /data rw - ext4 /dev/sdb1 rw' },
    };
    expect(describeFake('/data', system)).toEqual({
      id: '8:17',
      name: 'sdb1',
      deviceClass: 'unknown',
      fileSystemType: 'ext4',
      ioLimit: 4,
    });
  });

  test('without /proc and sysfs it still answers, and different devices differ', () => {
    const system = { stat: { '/Users': 0x100_0004n, '/Volumes/b': 0x100_0005n, '/negative': -5n } };
    const users = describeFake('/Users', system);
    expect(users).toMatchObject({ deviceClass: 'unknown', fileSystemType: 'unknown', ioLimit: 4 });
    expect(describeFake('/Volumes/b', system).id).not.toBe(users.id);
    expect(describeFake('/negative', system).deviceClass).toBe('unknown');
  });

  test('throws what stat throws', () => {
    expect(() => describeFake('/missing', {})).toThrow("ENOENT: no such file or directory, stat '/missing'");
  });
});

describe('describeDevice: mapped devices', () => {
  /** dm-0 over the given devices; sda and sdb are disks, sda1 and sda2 partitions of sda. */
  function mapped(slaves: Record<string, string>, rotational: { sda: string; sdb: string }): FakeSystem {
    const dm = '/sys/devices/virtual/block/dm-0';
    return {
      stat: { '/data': 0xfd00n },
      links: {
        '/sys/dev/block/253:0': dm,
        ...Object.fromEntries(Object.entries(slaves).map(([name, target]) => [`${dm}/slaves/${name}`, target])),
      },
      texts: {
        [`${dm}/dev`]: '253:0\n',
        [`${dm}/queue/rotational`]: '0\n',
        '/sys/devices/ata1/block/sda/dev': '8:0\n',
        '/sys/devices/ata1/block/sda/queue/rotational': rotational.sda,
        '/sys/devices/ata1/block/sda/sda1/partition': '1\n',
        '/sys/devices/ata1/block/sda/sda2/partition': '2\n',
        '/sys/devices/ata2/block/sdb/dev': '8:16\n',
        '/sys/devices/ata2/block/sdb/queue/rotational': rotational.sdb,
      },
    };
  }
  const sda1 = '/sys/devices/ata1/block/sda/sda1';
  const sda2 = '/sys/devices/ata1/block/sda/sda2';
  const sdb = '/sys/devices/ata2/block/sdb';

  test('on one partition it is the disk of the partition', () => {
    expect(describeFake('/data', mapped({ sda2 }, { sda: '1', sdb: '0' }))).toMatchObject({
      id: '8:0',
      name: 'sda',
      deviceClass: 'rotating',
    });
  });

  test('on two partitions of one disk it is that disk', () => {
    expect(describeFake('/data', mapped({ sda1, sda2 }, { sda: '1', sdb: '0' }))).toMatchObject({ id: '8:0' });
  });

  test.each<[string, string, DeviceClass]>([
    ['1', '0', 'rotating'],
    ['0', '0', 'solid-state'],
    ['', '0', 'unknown'],
  ])('on two disks (rotational %j and %j) it stays itself and is %s', (first, second, deviceClass) => {
    expect(describeFake('/data', mapped({ sda1, sdb }, { sda: first, sdb: second }))).toMatchObject({
      id: '253:0',
      name: 'dm-0',
      deviceClass,
    });
  });

  test('on another mapped device it goes all the way down', () => {
    const inner = '/sys/devices/virtual/block/dm-1';
    const { stat, links, texts } = mapped({ 'dm-1': inner }, { sda: '1', sdb: '0' });
    const system: FakeSystem = {
      stat: stat ?? {},
      texts: texts ?? {},
      links: { ...links, [`${inner}/slaves/sdb`]: sdb },
    };
    expect(describeFake('/data', system)).toMatchObject({ id: '8:16', name: 'sdb' });
  });
});

describe('describeDevice: file systems without a block device', () => {
  test.each<[string, string, DeviceClass, number, string]>([
    ['tmpfs', 'tmpfs', 'memory', Infinity, 'tmpfs'],
    ['ramfs', 'none', 'memory', Infinity, 'ramfs'],
    ['nfs4', 'nas:/export/corpora', 'network', 8, 'nas:/export/corpora'],
    ['cifs', '//nas/corpora', 'network', 8, '//nas/corpora'],
    ['lustre', '10.0.0.1@tcp:/fs', 'network', 8, '10.0.0.1@tcp:/fs'],
    ['virtiofs', 'share', 'network', 8, 'share'],
    ['fuse.sshfs', 'me@host:', 'network', 8, 'me@host:'],
    ['fuse.portal', 'portal', 'unknown', 4, 'fuse.portal'],
    ['fuse.odd', '/dev/fuse', 'unknown', 4, 'fuse.odd'],
  ])('%s of %s is %s', (fileSystemType, source, deviceClass, ioLimit, name) => {
    const mountinfo = `20 1 0:29 / /mnt rw - ${fileSystemType} ${source} rw`;
    const system = { stat: { '/mnt/x': 29n, '/dev/fuse': 6n }, texts: { '/proc/self/mountinfo': mountinfo } };
    const device = { id: 'fs:0:29', name, deviceClass, fileSystemType, ioLimit };
    expect(describeFake('/mnt/x', system)).toEqual(device);
  });

  test('two datasets of one zfs pool are one device', () => {
    const mountinfo = '20 1 0:40 / /a rw - zfs tank/a rw\n21 1 0:41 / /b rw - zfs tank/b/c rw';
    const system = { stat: { '/a': 40n, '/b': 41n }, texts: { '/proc/self/mountinfo': mountinfo } };
    const device = { id: 'zfs:tank', name: 'zfs', deviceClass: 'unknown', fileSystemType: 'zfs', ioLimit: 4 };
    expect(describeFake('/a', system)).toEqual(device);
    expect(describeFake('/b', system)).toEqual(device);
  });

  test('a mount point with a space and a tab in its name is found', () => {
    const mountinfo = String.raw`20 1 8:1 / / rw - ext4 /dev/sda1 rw
21 20 0:29 / /mnt/my\040fast\011\134disk rw - tmpfs tmpfs rw`;
    // The st_dev of no mount, so that the path alone decides.
    const path = '/mnt/my fast\t\\disk/x';
    expect(describeFake(path, { stat: { [path]: 99n }, texts: { '/proc/self/mountinfo': mountinfo } })).toMatchObject({
      fileSystemType: 'tmpfs',
    });
  });

  test('of two mounts at one place the later one counts, and /mnt is not above /mnt2', () => {
    const mountinfo = [
      '20 1 8:1 / / rw - ext4 /dev/sda1 rw',
      '21 20 0:50 / /mnt rw - nfs nas:/old rw',
      '22 20 0:51 / /mnt rw - tmpfs tmpfs rw',
    ].join('\n');
    const system = { stat: { '/mnt/x': 99n, '/mnt2': 99n }, texts: { '/proc/self/mountinfo': mountinfo } };
    expect(describeFake('/mnt/x', system).fileSystemType).toBe('tmpfs');
    expect(describeFake('/mnt2', system).fileSystemType).toBe('ext4');
  });

  test('st_dev decides against a deeper mount that is not the one reached, as through a symbolic link', () => {
    const mountinfo = '20 1 0:50 / /mnt rw - tmpfs tmpfs rw\n21 20 0:51 / /mnt/deep rw - nfs nas:/x rw';
    const system = { stat: { '/mnt/deep/x': 50n }, texts: { '/proc/self/mountinfo': mountinfo } };
    expect(describeFake('/mnt/deep/x', system).fileSystemType).toBe('tmpfs');
  });
});

describe('describeDevice: file systems above others', () => {
  const sda = {
    '/sys/devices/ata1/block/sda/dev': '8:0\n',
    '/sys/devices/ata1/block/sda/queue/rotational': '1\n',
    '/sys/devices/ata1/block/sda/sda2/partition': '2\n',
  };
  const disk = { id: '8:0', name: 'sda', deviceClass: 'rotating', ioLimit: 1 };

  const btrfs: FakeSystem = {
    // The file is in a subvolume, whose number no mount shows.
    stat: { '/pool/sub/x': 41n },
    texts: { ...sda, '/proc/self/mountinfo': '20 1 0:40 / /pool rw - btrfs /dev/sda2 rw,subvol=/' },
  };

  test('btrfs is the disk of its source', () => {
    const system = {
      ...btrfs,
      blockDevices: { '/dev/sda2': 0x802n },
      links: { '/sys/dev/block/8:2': '/sys/devices/ata1/block/sda/sda2' },
    };
    expect(describeFake('/pool/sub/x', system)).toEqual({ ...disk, fileSystemType: 'btrfs' });
  });

  test('btrfs in a container without /dev/sda2 is the disk that sysfs names', () => {
    const system = { ...btrfs, links: { '/sys/class/block/sda2': '/sys/devices/ata1/block/sda/sda2' } };
    expect(describeFake('/pool/sub/x', system)).toEqual({ ...disk, fileSystemType: 'btrfs' });
  });

  test('btrfs whose source cannot be found is unknown', () => {
    expect(describeFake('/pool/sub/x', btrfs)).toMatchObject({ id: 'fs:0:41', name: 'btrfs', deviceClass: 'unknown' });
  });

  test('overlay is unknown, wherever its layers lie', () => {
    const system = {
      stat: { '/merged/x': 60n, '/layers/up': 0x802n },
      links: { '/sys/dev/block/8:2': '/sys/devices/ata1/block/sda/sda2' },
      texts: {
        ...sda,
        '/proc/self/mountinfo':
          '20 1 8:2 / /layers rw - ext4 /dev/sda2 rw\n21 1 0:60 / /merged rw - overlay overlay rw,upperdir=/layers/up',
      },
    };
    expect(describeFake('/merged/x', system)).toEqual({
      id: 'fs:0:60',
      name: 'overlay',
      deviceClass: 'unknown',
      fileSystemType: 'overlay',
      ioLimit: 4,
    });
  });
});
