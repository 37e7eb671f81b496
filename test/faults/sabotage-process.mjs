/**
 * Faults of the machine around the job: a signal, a worker that dies or cannot start, a disk that
 * fails, an input that somebody writes to, each at the N-th read of an input, write of temp data and
 * so on; and workers that are held up until they meet there.
 *
 * @typedef {import('./sabotage.js').Sabotage} Sabotage
 */
import fs from 'node:fs';
import { syncBuiltinESMExports } from 'node:module';
import { isMainThread } from 'node:worker_threads';
import { pathOf } from './sabotage-files.mjs';
import { waitUntilWaitedFor } from './sabotage-gates.mjs';
import { meet } from './sabotage-meeting.mjs';

/** Long enough for the main thread to notice a signal before this thread goes on. */
const NOTICE_MILLISECONDS = 150;

/**
 * @param {Sabotage} sabotage
 * @param {() => boolean} isTheOne
 * @param {Int32Array} gateCounts
 * @param {Int32Array} meeting
 */
export function sabotageProcess(sabotage, isTheOne, gateCounts, meeting) {
  if (sabotage.act === 'refuse-workers') {
    if (!isMainThread) throw new Error('made up: no thread for you');
    return;
  }
  if (!('at' in sabotage)) return;
  const { call, pattern } = PLACES[sabotage.at];
  const before = /** @type {(fd: number, ...rest: unknown[]) => unknown} */ (fs[call]);
  Object.assign(fs, {
    /**
     * @param {number} fd
     * @param {unknown[]} rest
     */
    [call]: (fd, ...rest) => {
      if (pattern.test(pathOf(fd))) {
        if (sabotage.act === 'meet') meet(meeting, sabotage.patienceMilliseconds);
        else if (isTheOne()) strike(sabotage, gateCounts);
      }
      return before(fd, ...rest);
    },
  });
  syncBuiltinESMExports();
}

const PLACES = /** @type {const} */ ({
  'input-read': { call: 'readSync', pattern: /\.input$/ },
  'temp-write': { call: 'writeSync', pattern: /\.pile$/ },
  'temp-read': { call: 'readSync', pattern: /\.pile$/ },
  'output-write': { call: 'writeSync', pattern: /\.part$/ },
  'output-sync': { call: 'fsync', pattern: /\.part$/ },
  // Those of the output: the names of a job's own have a dot, and that without one is a file.
  'directory-sync': { call: 'fsync', pattern: /\/(?!marker$)[^/.]*$/ },
});

/**
 * @param {Exclude<Extract<Sabotage, { at: string }>, { act: 'meet' }>} sabotage
 * @param {Int32Array} gateCounts
 */
function strike(sabotage, gateCounts) {
  switch (sabotage.act) {
    case 'signal':
      process.kill(process.pid, sabotage.signal);
      sleep(NOTICE_MILLISECONDS);
      return;

    // The worker ends here and now, with whatever it holds.
    case 'end-worker':
      if (isMainThread) return;
      if (sabotage.whenWaitedFor === true) waitUntilWaitedFor(gateCounts);
      process.exit(7);
      return;

    // A bug, while the permit is held.
    case 'throw':
      throw new Error('made up: a bug');

    // The call fails as the operating system would let it.
    case 'fail':
      throw Object.assign(new Error(`${sabotage.errno}: made up`), { code: sabotage.errno });

    case 'change-input':
      changes[sabotage.how](sabotage.path);
      return;
  }
}

/** @type {Record<'grow' | 'shrink' | 'replace' | 'overwrite', (path: string) => void>} */
const changes = {
  grow: (path) => fs.appendFileSync(path, 'one more\n'),
  shrink: (path) => fs.truncateSync(path, fs.statSync(path).size >> 1),
  replace: (path) => {
    fs.copyFileSync(path, `${path}.new`);
    fs.renameSync(`${path}.new`, path);
  },
  overwrite: (path) => {
    const { size } = fs.statSync(path);
    fs.writeFileSync(path, Buffer.alloc(size, 'changed\n'), { flag: 'r+' });
  },
};

/** @param {number} milliseconds */
function sleep(milliseconds) {
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, milliseconds);
}
