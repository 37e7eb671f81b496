// @ts-check
// A memory cgroup for one measured run. The bench makes it before the run, the run's shell enters it, and afterwards
// the bench reads its OOM kills and removes it. Each run has a new cgroup, so that it is not charged for page cache of
// an earlier one. Supports v1 (the memory controller's own mount) and v2 (one tree) at their usual places. Needs root
// or a delegated tree; without it `cgroupUnavailable` gives the reason and the bench leaves out the case.

import fs from 'node:fs';
import path from 'node:path';

/**
 * @typedef {object} MemoryCgroup
 * @property {string} dir
 * @property {() => number} oomKillCount
 * @property {() => Promise<void>} remove
 */

const v1Root = '/sys/fs/cgroup/memory';
const v2Root = '/sys/fs/cgroup';
const removeAttempts = 50;
const removePauseMs = 20;

/** @returns {Promise<string | undefined>} why a memory cgroup cannot be made here, or undefined */
export async function cgroupUnavailable() {
  try {
    await makeMemoryCgroup(64 * 1024 * 1024).remove();
    return undefined;
  } catch (error) {
    return `no memory cgroup can be made here (${/** @type {Error} */ (error).message})`;
  }
}

/** @param {number} limitBytes @returns {MemoryCgroup} */
export function makeMemoryCgroup(limitBytes) {
  const isV1 = fs.existsSync(path.join(v1Root, 'memory.limit_in_bytes'));
  const dir = path.join(isV1 ? v1Root : v2Root, `pileshuf-bench-${process.pid}`);
  fs.mkdirSync(dir);
  try {
    if (isV1) limitV1(dir, limitBytes);
    else limitV2(dir, limitBytes);
  } catch (error) {
    fs.rmdirSync(dir);
    throw error;
  }
  const eventsFile = path.join(dir, isV1 ? 'memory.oom_control' : 'memory.events');
  return {
    dir,
    oomKillCount: () => Number(/^oom_kill (\d+)$/m.exec(fs.readFileSync(eventsFile, 'utf8'))?.[1] ?? 0),
    remove: () => removeWhenEmpty(dir),
  };
}

/** @param {string} dir @param {number} limitBytes */
function limitV1(dir, limitBytes) {
  fs.writeFileSync(path.join(dir, 'memory.limit_in_bytes'), String(limitBytes));
  // Memory and swap together: the same limit forbids swap. The file is missing where swap is not accounted.
  const withSwap = path.join(dir, 'memory.memsw.limit_in_bytes');
  if (fs.existsSync(withSwap)) fs.writeFileSync(withSwap, String(limitBytes));
}

/** @param {string} dir @param {number} limitBytes */
function limitV2(dir, limitBytes) {
  if (!fs.existsSync(path.join(dir, 'memory.max'))) {
    fs.writeFileSync(path.join(v2Root, 'cgroup.subtree_control'), '+memory');
  }
  fs.writeFileSync(path.join(dir, 'memory.max'), String(limitBytes));
  const swap = path.join(dir, 'memory.swap.max');
  if (fs.existsSync(swap)) fs.writeFileSync(swap, '0');
}

/** The kernel refuses to remove a cgroup until the last dead process has been reaped. @param {string} dir */
async function removeWhenEmpty(dir) {
  for (let attempt = 1; ; attempt++) {
    try {
      fs.rmdirSync(dir);
      return;
    } catch (error) {
      if (/** @type {NodeJS.ErrnoException} */ (error).code !== 'EBUSY' || attempt === removeAttempts) throw error;
      await new Promise((resolve) => setTimeout(resolve, removePauseMs));
    }
  }
}
