// @ts-check
// How much of the disk a command takes at most, seen from outside: every few milliseconds the blocks that the file
// system has given to what appeared in a directory are added up. A file that is deleted but still open takes its
// blocks, too, and is found among the open files of the processes.

import fs from 'node:fs';
import path from 'node:path';

/** In it a fast disk writes some megabytes. */
const intervalMs = 10;
const blockByteLength = 512; // of `blocks` in what stat tells, on any file system

/**
 * Looks at what is not in `directory` yet, and at what is in it but still empty.
 *
 * @param {string} directory
 * @param {() => number | undefined} processId of the command, when it has begun
 * @returns {() => number} ends the watch, and says how many bytes there were at most
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

/** @param {string} place @param {Map<number, number>} found bytes by inode, so that no file counts twice */
function addBelow(place, found) {
  const stat = fs.lstatSync(place, { throwIfNoEntry: false });
  if (stat === undefined) return;
  found.set(stat.ino, stat.blocks * blockByteLength);
  if (stat.isDirectory()) for (const name of namesIn(place)) addBelow(path.join(place, name), found);
}

/**
 * @param {number} processId of it and of all that it started
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

/** @param {number} processId @returns {number[]} none where the kernel does not tell them */
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

/** @param {string} directory @returns {string[]} none when it is gone: what is watched goes on */
function namesIn(directory) {
  try {
    return fs.readdirSync(directory);
  } catch {
    return [];
  }
}
