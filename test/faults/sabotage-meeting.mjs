/**
 * Holds a worker inside a call until another worker is inside such a call, too. This shows whether two of these calls can
 * run at the same time. After the first meeting nobody is held.
 */
import { isMainThread } from 'node:worker_threads';

const INSIDE = 0;
const HAVE_MET = 1;

/**
 * @param {Int32Array} meeting two words that all threads share
 * @param {number} patienceMilliseconds
 */
export function meet(meeting, patienceMilliseconds) {
  if (isMainThread || Atomics.load(meeting, HAVE_MET) === 1) return;
  if (Atomics.add(meeting, INSIDE, 1) > 0) {
    Atomics.store(meeting, HAVE_MET, 1);
    Atomics.notify(meeting, HAVE_MET);
    return;
  }
  const woken = Atomics.wait(meeting, HAVE_MET, 0, patienceMilliseconds);
  Atomics.sub(meeting, INSIDE, 1);
  if (woken === 'timed-out') throw new Error('made up: nobody came');
}
