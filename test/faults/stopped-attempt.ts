/**
 * Stops an attempt at a chosen file call: records the calls of an attempt, in their order, and ends the process before one
 * of them.
 */
import { replaceFileCalls } from '#src/io/file-calls.js';
import { FaultyFileCalls } from './faulty-file-calls.js';
import { type FileCall, watchFileCalls } from './watched-file-calls.js';

type Watches = (path: string) => boolean;

/** The calls of an attempt, in the order in which they start. */
async function callsOf(watches: Watches, run: () => Promise<unknown>): Promise<readonly FileCall[]> {
  const calls: FileCall[] = [];
  const former = replaceFileCalls(
    watchFileCalls(watches, (call, make) => {
      calls.push(call);
      return make();
    }),
  );
  try {
    await run();
  } finally {
    replaceFileCalls(former);
  }
  return calls;
}

/** @returns the number, from 1 on, of the last call of which that is true. */
export async function lastCall(
  isIt: (call: FileCall) => boolean,
  watches: Watches,
  run: () => Promise<unknown>,
): Promise<number> {
  const number = (await callsOf(watches, run)).findLastIndex(isIt) + 1;
  if (number === 0) throw new Error('the attempt makes no such call');
  return number;
}

/**
 * Ends the process before that call: neither this call nor a later one has an effect.
 * @returns whether there were so many calls.
 */
export async function killBefore(nth: number, watches: Watches, run: () => Promise<unknown>): Promise<boolean> {
  const faulty = new FaultyFileCalls({ kind: 'kills', part: 'nothing' }, nth, watches);
  const former = replaceFileCalls(faulty.calls);
  try {
    await run();
  } catch (error) {
    if (faulty.struck === undefined) throw error;
  } finally {
    await faulty.settle();
    replaceFileCalls(former);
  }
  return faulty.struck !== undefined;
}
