/**
 * Counts the threads that wait for a permit, for faults that strike while a thread waits. It wraps the gates in the
 * control words of the job.
 *
 * @typedef {import('./sabotage.js').Sabotage} Sabotage
 */
import { JobControl } from '#src/job-control.js';
import { COME, LET_IN } from './sabotage-permits.mjs';

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
