/** Tells whether a thread waits for a permit, from the counts of `sabotage-gates.mjs`. */

/** Calls of all threads that came to a gate, and those that were let in. */
export const COME = 0;
export const LET_IN = 1;

/** Afterwards a waiter has been refused more than once; one that was let in is seen to be. */
const SEVERAL_LOOKS_MILLISECONDS = 150;
const LOOK_MILLISECONDS = 5;
const MOST_LOOKS = 2000;

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
