// @ts-check
// Puts simulated disks below a process: `node --import simulated-disks.mjs` loads this before the program, on the main
// thread and, because worker threads inherit `--import`, on each of them. Files below the directories of the disks are
// read and written as usual, and each call additionally takes as long as the disk would.
//
// PILESHUF_SIMULATED_DISKS is a JSON array of models. At the end of the process the main thread writes an array with
// the use of each disk to the file that PILESHUF_SIMULATED_DISKS_USE names.
//
// On a non-rotating disk a write waits for the disk. On a rotating disk a write only fills the page cache; a sync waits
// for the disk, and closing the file lets the disk write without anybody waiting. Reads come from the disk, except the
// short reads of indexes, which are so small that the page cache still has them. Calls on names cost nothing.

import fs from 'node:fs';
import path from 'node:path';
import { getEnvironmentData, isMainThread, setEnvironmentData } from 'node:worker_threads';
import { replaceFileCalls, systemFileCalls } from '#src/io/file-calls.js';
import { SimulatedDisk } from './simulated-disk.mjs';

/** @import { DiskModel } from './simulated-disk.mjs' */

/**
 * @typedef {object} FileOnDisk
 * @property {SimulatedDisk} disk
 * @property {number} number of the file, the same on all threads
 * @property {number} readPosition where the last read ended
 * @property {number} unsyncedStart
 * @property {number} unsyncedEnd
 */

const leastBytesOfDisk = 16 * 1024;
const key = 'simulated disks';
/** @type {DiskModel[]} */
const models = JSON.parse(process.env['PILESHUF_SIMULATED_DISKS'] ?? '[]');
const inherited = /** @type {SharedArrayBuffer[] | undefined} */ (getEnvironmentData(key));
const shared = inherited ?? models.map(() => SimulatedDisk.makeShared());
setEnvironmentData(key, shared);
const disks = models.map((model, i) => new SimulatedDisk(model, shared[i] ?? SimulatedDisk.makeShared()));

if (isMainThread) {
  const useFile = process.env['PILESHUF_SIMULATED_DISKS_USE'];
  process.on('exit', () => {
    if (useFile !== undefined) fs.writeFileSync(useFile, JSON.stringify(disks.map(({ use }) => use)));
  });
}

/** Of this thread, which alone uses its descriptors. @type {Map<number, FileOnDisk>} */
const files = new Map();
const system = systemFileCalls;

/** @param {FileOnDisk} file @param {number} position @param {number} byteLength @returns {boolean} whether no thread waits */
function staysInPageCache(file, position, byteLength) {
  if (!file.disk.model.rotates) return false;
  if (file.unsyncedStart === file.unsyncedEnd) file.unsyncedStart = position;
  file.unsyncedEnd = position + byteLength;
  return true;
}

/** @param {FileOnDisk} file @returns {[number, number, number]} the range that the page cache held, which it drops */
function takeUnsynced(file) {
  const { number, unsyncedStart, unsyncedEnd } = file;
  file.unsyncedStart = unsyncedEnd;
  return [number, unsyncedStart, unsyncedEnd - unsyncedStart];
}

replaceFileCalls({
  ...system,
  open(name, flags, mode) {
    const fd = system.open(name, flags, mode);
    const disk = disks.find(({ model }) => path.resolve(name).startsWith(`${model.directory}/`));
    const number = disk === undefined ? 0 : Number(system.statOpen(fd).ino);
    if (disk !== undefined) files.set(fd, { disk, number, readPosition: 0, unsyncedStart: 0, unsyncedEnd: 0 });
    return fd;
  },
  close(fd) {
    const file = files.get(fd);
    files.delete(fd);
    if (file !== undefined && file.unsyncedEnd > file.unsyncedStart) file.disk.moveLater(...takeUnsynced(file));
    system.close(fd);
  },
  read(fd, bytes, offset, byteLength, position) {
    const count = system.read(fd, bytes, offset, byteLength, position);
    const file = files.get(fd);
    if (file === undefined) return count;
    const from = position ?? file.readPosition;
    file.readPosition = from + count;
    if (byteLength >= leastBytesOfDisk) file.disk.move(file.number, from, count);
    return count;
  },
  write(fd, bytes, offset, byteLength, position) {
    const count = system.write(fd, bytes, offset, byteLength, position);
    const file = files.get(fd);
    if (file === undefined || position === null) return count;
    if (staysInPageCache(file, position, count)) return count;
    if (file.disk.model.writeBackBytes > 0) file.disk.writeBack(file.number, position, count);
    else file.disk.move(file.number, position, count);
    return count;
  },
  async writeAsync(fd, bytes, offset, byteLength, position) {
    const count = await system.writeAsync(fd, bytes, offset, byteLength, position);
    const file = files.get(fd);
    if (file !== undefined) await file.disk.moveAsync(file.number, position, count);
    return count;
  },
  syncData(fd) {
    const file = files.get(fd);
    if (file === undefined) system.syncData(fd);
    else file.disk.move(...takeUnsynced(file));
  },
  async syncDataAsync(fd) {
    const file = files.get(fd);
    await (file === undefined ? system.syncDataAsync(fd) : file.disk.moveAsync(...takeUnsynced(file)));
  },
  async syncAsync(fd) {
    const file = files.get(fd);
    await (file === undefined ? system.syncAsync(fd) : file.disk.moveAsync(...takeUnsynced(file)));
  },
});
