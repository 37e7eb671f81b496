// @ts-check
// A file system on a loop device that reports a rotating or a non-rotating disk, as asked: programs take it for a disk
// of its own. Only root can make one.

import { spawnSync } from 'node:child_process';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';

/**
 * @typedef {object} LoopDisk
 * @property {string} directory where it is mounted
 * @property {() => void} remove
 */

/**
 * @param {string} directory is made; the image is put beside it
 * @param {{ byteLength: number, rotates: boolean }} what
 * @returns {LoopDisk}
 */
export function makeLoopDisk(directory, { byteLength, rotates }) {
  const image = `${directory}.image`;
  /** @type {(() => void)[]} */
  const undo = [];
  const remove = () => {
    for (const step of undo.splice(0).reverse()) step();
  };
  try {
    undo.push(() => fs.rmSync(image, { force: true }));
    fs.writeFileSync(image, '');
    fs.truncateSync(image, byteLength);
    output('mkfs.ext4', ['-q', '-F', image]);
    const device = output('losetup', ['--find', '--show', image]);
    undo.push(() => output('losetup', ['--detach', device]));
    const flag = `/sys/block/${path.basename(device)}/queue/rotational`;
    const former = fs.readFileSync(flag, 'utf8');
    undo.push(() => fs.writeFileSync(flag, former));
    fs.writeFileSync(flag, rotates ? '1' : '0');
    undo.push(() => fs.rmdirSync(directory));
    fs.mkdirSync(directory);
    output('mount', [device, directory]);
    undo.push(() => output('umount', [directory]));
    return { directory, remove };
  } catch (error) {
    remove();
    throw error;
  }
}

/** @returns {string | undefined} why a loop device cannot be made here */
export function loopDiskUnavailable() {
  if (process.platform !== 'linux') return 'loop devices are a thing of Linux';
  if (process.getuid?.() !== 0) return 'only root can make loop devices';
  const directory = fs.mkdtempSync(path.join(os.tmpdir(), 'pileshuf-loop-'));
  try {
    makeLoopDisk(path.join(directory, 'disk'), { byteLength: 2 ** 20, rotates: true }).remove();
    return undefined;
  } catch (error) {
    return `no loop device can be made here (${/** @type {Error} */ (error).message})`;
  } finally {
    fs.rmdirSync(directory);
  }
}

/** @param {string} program @param {string[]} argv @returns {string} */
function output(program, argv) {
  const { status, stdout, stderr, error } = spawnSync(program, argv, { encoding: 'utf8' });
  if (status !== 0) throw new Error(`${program} ${argv.join(' ')}: ${error?.message ?? stderr.trim()}`);
  return stdout.trim();
}
