// Loaded with `node --import`: all files lie on one disk that rotates, which takes one call at a time.
import { systemProbe } from '#src/machine/devices.js';

/** 8:0, as stat and sysfs have it. */
const DEVICE = 0x800n;
const NUMBER = '8:0';
const DIRECTORY = '/sys/devices/ata1/block/sda';

/** @type {Readonly<Record<string, string>>} */
const texts = { [`${DIRECTORY}/dev`]: `${NUMBER}\n`, [`${DIRECTORY}/queue/rotational`]: '1\n' };

/** @type {import('#src/machine/devices.js').DeviceProbe} */
const oneDisk = {
  statDevice: () => ({ holder: DEVICE }),
  readText: (path) => texts[path],
  realPath: (path) => (path === `/sys/dev/block/${NUMBER}` ? DIRECTORY : path),
  exists: (path) => path in texts,
  list: () => [],
};
Object.assign(systemProbe, oneDisk);
