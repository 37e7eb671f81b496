// @ts-check
// Measures the most disk space that a command takes, from outside: every few milliseconds it adds up the file system
// blocks of all new files in a directory. A deleted file that is still open takes blocks, too; it is found among the
// open files of the processes.

import fs from 'node:fs';
import path from 'node:path';

/** A fast disk writes some megabytes in this time. */
const intervalMs = 10;
const blockByteLength = 512; // the unit of `blocks` in stat, on any file system

/**
 * Watches the files that appear in `directory`, and its files that are still empty.
 *
 * @param {string} directory
 * @param {() => number | undefined} processId of the command, once it has started
 * @returns {() => number} ends the watch and returns the largest number of bytes
 */
export function watchDiskUse(directory, processId) {
  const former = new Set(fs.readdirSync(directory).filter((name) => !isEmptyDirectory(path.join(directory, name))));
  let mostBytes = 0;
  const look = () => {
    const found = new Map();
    for (const name of namesIn(directory)) if (!former.has(name)) addBelow(path.join(directory, name), found);
    const id = processId();
    if (id !== undefined) addDeleted(id, fs.statSync(directory).dev, found);
    mostBytes = Math.max(
      mostBytes,
      [...found.values()].reduce((sum, bytes) => sum + bytes, 0),
    );
  };
  const timer = setInterval(look, intervalMs);
  return () => {
    clearInterval(timer);
    look();
    return mostBytes;
  };
}

/** @param {string} place @param {Map<number, number>} found bytes by inode: no file counts twice */
function addBelow(place, found) {
  const stat = fs.lstatSync(place, { throwIfNoEntry: false });
  if (stat === undefined) return;
  found.set(stat.ino, stat.blocks * blockByteLength);
  if (stat.isDirectory()) for (const name of namesIn(place)) addBelow(path.join(place, name), found);
}

/**
 * @param {number} processId its files and those of all processes that it started
 * @param {number} device
 * @param {Map<number, number>} found
 */
function addDeleted(processId, device, found) {
  const openDir = `/proc/${processId}/fd`;
  for (const name of namesIn(openDir)) {
    const stat = fs.statSync(`${openDir}/${name}`, { throwIfNoEntry: false });
    if (stat?.isFile() && stat.nlink === 0 && stat.dev === device) found.set(stat.ino, stat.blocks * blockByteLength);
  }
  for (const child of childrenOf(processId)) addDeleted(child, device, found);
}

/** @param {number} processId @returns {number[]} none if the kernel does not list them */
function childrenOf(processId) {
  try {
    const text = fs.readFileSync(`/proc/${processId}/task/${processId}/children`, 'utf8');
    return text.split(' ').filter(Boolean).map(Number);
  } catch {
    return [];
  }
}

/** @param {string} place */
function isEmptyDirectory(place) {
  return fs.statSync(place).isDirectory() && namesIn(place).length === 0;
}

/** @param {string} directory @returns {string[]} none if it is gone: the watched command still works */
function namesIn(directory) {
  try {
    return fs.readdirSync(directory);
  } catch {
    return [];
  }
}
