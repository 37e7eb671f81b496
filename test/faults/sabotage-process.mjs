/**
 * Faults around the job: a signal, a worker that dies or cannot start, a failing disk, an input that somebody changes. Each
 * strikes at the N-th read of an input, write of temp data and so on. It can also hold workers until they meet there.
 *
 * @typedef {import('./sabotage.js').Sabotage} Sabotage
 */
import fs from 'node:fs';
import { syncBuiltinESMExports } from 'node:module';
import { isMainThread } from 'node:worker_threads';
import { pathOf } from './sabotage-files.mjs';

/** Long enough for the main thread to notice a signal before this thread goes on. */
const NOTICE_MILLISECONDS = 150;

/**
 * @param {Sabotage} sabotage
 * @param {() => boolean} isTheOne
 * @param {Int32Array} meeting
 */
export function sabotageProcess(sabotage, isTheOne, meeting) {
  if (sabotage.act === 'refuse-workers') {
    if (!isMainThread) throw new Error(sabotage.message);
    return;
  }
  if (!('at' in sabotage)) return;
  const { calls, pattern } = PLACES[sabotage.at];
  const isAfterwards = sabotage.act === 'signal' && sabotage.afterwards === true;
  for (const call of calls) {
    const before = /** @type {(...call: unknown[]) => unknown} */ (fs[call]);
    Object.assign(fs, {
      /** @param {unknown[]} args */
      [call]: (...args) => {
        if (!namesOf(args).some((name) => pattern.test(name))) return before(...args);
        if (sabotage.act === 'meet') {
          meet(meeting, sabotage.patienceMilliseconds);
          return before(...args);
        }
        if (!isAfterwards && isTheOne()) strike(sabotage);
        const result = before(...args);
        // Behind those only that did not fail.
        if (isAfterwards && isTheOne()) strike(sabotage);
        return result;
      },
    });
  }
  syncBuiltinESMExports();
}

/** @type {Record<import('./sabotage.js').Occasion, { calls: readonly (keyof typeof fs)[], pattern: RegExp }>} */
const PLACES = {
  'input-read': { calls: ['readSync'], pattern: /\.input$/ },
  'temp-write': { calls: ['writeSync'], pattern: /\.pile$/ },
  'temp-read': { calls: ['readSync'], pattern: /\.pile$/ },
  'output-write': { calls: ['writeSync'], pattern: /\.part$/ },
  'output-sync': { calls: ['fsync'], pattern: /\.part$/ },
  commit: { calls: ['linkSync'], pattern: /\/(set-\d+\.index|done-\d+)$/ },
  'output-move': { calls: ['linkSync', 'renameSync', 'unlinkSync'], pattern: /\.out\/(?!lock)/ },
};

/**
 * The paths that a call is about: of an open file, else one, or from where to where.
 *
 * @param {unknown[]} call
 */
function namesOf([first, second]) {
  if (typeof first === 'number') return [pathOf(first)];
  return [first, second].flatMap((path) => (typeof path === 'string' ? path : []));
}

/**
 * @param {Exclude<Extract<Sabotage, { at: string }>, { act: 'meet' }>} sabotage
 */
function strike(sabotage) {
  switch (sabotage.act) {
    case 'signal':
      process.kill(process.pid, sabotage.signal);
      sleep(NOTICE_MILLISECONDS);
      return;

    // The worker ends here and now, with whatever it holds.
    case 'end-worker':
      if (isMainThread) return;
      process.exit(7);
      return;

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

/**
 * Holds a worker inside a call until another worker is inside such a call, too: two of these calls can run at the same
 * time. After the first meeting nobody is held.
 *
 * @param {Int32Array} meeting two words that all threads share: how many are inside, and whether some have met
 * @param {number} patienceMilliseconds
 */
function meet(meeting, patienceMilliseconds) {
  if (isMainThread || Atomics.load(meeting, 1) === 1) return;
  if (Atomics.add(meeting, 0, 1) > 0) {
    Atomics.store(meeting, 1, 1);
    Atomics.notify(meeting, 1);
    return;
  }
  const woken = Atomics.wait(meeting, 1, 0, patienceMilliseconds);
  Atomics.sub(meeting, 0, 1);
  if (woken === 'timed-out') throw new Error('made up: nobody came');
}

/** @param {number} milliseconds */
function sleep(milliseconds) {
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, milliseconds);
}
