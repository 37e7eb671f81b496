/** Pauses: of a thread, while the other side of a pipe gives no sign, and of a loop, so that the event loop delivers signals. */
import { setImmediate as eventLoopTurn } from 'node:timers/promises';
import { AbortError } from '../errors.js';

const word = new Int32Array(new SharedArrayBuffer(4));

/** Blocks the thread; timers of the event loop are too coarse for a pipe that is emptied in microseconds. */
export function blockFor(milliseconds: number): void {
  Atomics.wait(word, 0, 0, milliseconds);
}

const SHORTEST_MILLISECONDS = 0.05;
const LONGEST_MILLISECONDS = 10;

/** Pauses that grow while nothing happens; between them the event loop runs, so that signals are seen. */
export class Backoff {
  #milliseconds = SHORTEST_MILLISECONDS;

  reset(): void {
    this.#milliseconds = SHORTEST_MILLISECONDS;
  }

  async pause(): Promise<void> {
    blockFor(this.#milliseconds);
    this.#milliseconds = Math.min(2 * this.#milliseconds, LONGEST_MILLISECONDS);
    await eventLoopTurn();
  }
}

/** Yields to the event loop, which delivers signals, and throws if the job was aborted. @param output its state if the job ends here. */
export async function yieldAndCheckAbort(
  signal: AbortSignal | undefined,
  output: 'none' | 'incomplete' = 'none',
): Promise<void> {
  await eventLoopTurn();
  if (signal?.aborted === true) throw new AbortError(signal.reason, output);
}

const ITEMS_BETWEEN_YIELDS = 256;

/** Calls `yieldAndCheckAbort` before the first of many items, and before every 256th. */
export async function yieldAndCheckAbortAt(index: number, signal: AbortSignal | undefined): Promise<void> {
  if (index % ITEMS_BETWEEN_YIELDS === 0) await yieldAndCheckAbort(signal);
}
