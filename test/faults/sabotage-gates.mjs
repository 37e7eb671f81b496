/**
 * Knows whether a thread waits for a permit, for a fault that must strike while one does. Wraps the
 * gates of the job's control words.
 *
 * @typedef {import('./sabotage.js').Sabotage} Sabotage
 */
import { JobControl } from '#src/io/job-control.js';

/** Afterwards a waiter has been refused more than once; one that was let in is seen to be. */
const SEVERAL_LOOKS_MILLISECONDS = 150;
const LOOK_MILLISECONDS = 5;
const MOST_LOOKS = 2000;

/** Calls of all threads that came to a gate, and those that were let in. */
const COME = 0;
const LET_IN = 1;

/**
 * @param {Sabotage} sabotage
 * @param {Int32Array} counts two words
 */
export function sabotageGates(sabotage, counts) {
  if (sabotage.act !== 'end-worker' || sabotage.whenWaitedFor !== true) return;
  const { during, duringAsync } = JobControl.prototype;
  /**
   * @template T
   * @param {() => T} call
   */
  const counted = (call) => {
    Atomics.add(counts, COME, 1);
    return () => {
      Atomics.add(counts, LET_IN, 1);
      return call();
    };
  };
  Object.assign(JobControl.prototype, {
    /** @type {(this: JobControl, gate: number, call: () => unknown) => unknown} */
    during(gate, call) {
      return during.call(this, gate, counted(call));
    },
    /** @type {(this: JobControl, gate: number, call: () => unknown) => Promise<unknown>} */
    duringAsync(gate, call) {
      return duringAsync.call(this, gate, counted(call));
    },
  });
}

/**
 * Called by a thread that holds the only permit: returns when another one waits for it.
 *
 * @param {Int32Array} counts
 */
export function waitUntilWaitedFor(counts) {
  for (let look = 0; look < MOST_LOOKS; look++) {
    const letIn = Atomics.load(counts, LET_IN);
    if (Atomics.load(counts, COME) > letIn) {
      sleep(SEVERAL_LOOKS_MILLISECONDS);
      if (Atomics.load(counts, LET_IN) === letIn) return;
    }
    sleep(LOOK_MILLISECONDS);
  }
  throw new Error('made up: nobody waited for the permit');
}

/** @param {number} milliseconds */
function sleep(milliseconds) {
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, milliseconds);
}
