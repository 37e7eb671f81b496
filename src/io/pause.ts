/**
 * Waiting for the other side of a pipe or device, which gives no sign when it is ready.
 */

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
    await new Promise((resolve) => setImmediate(resolve));
  }
}
