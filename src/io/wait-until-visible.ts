/**
 * Waits for files that another machine has made. A client of a network file system may for a while not know the name,
 * or know a shorter file: nothing is called missing before the time for that is over. Only this machine's own clock
 * counts.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { AbortError, VerificationError } from '../errors.js';
import { listNames } from './paths.js';

const FIRST_PAUSE_MILLISECONDS = 100;
const LONGEST_PAUSE_MILLISECONDS = 2000;

/** The moment until which a task waits, in all, for what it looks for. */
export class VisibilityDeadline {
  readonly #endsAt: number;
  readonly #signal: AbortSignal | undefined;

  constructor(seconds: number, signal: AbortSignal | undefined) {
    this.#endsAt = performance.now() + 1000 * seconds;
    this.#signal = signal;
  }

  /** Returns a later deadline, for something that takes at least so long to show. */
  atLeast(seconds: number): VisibilityDeadline {
    const left = (this.#endsAt - performance.now()) / 1000;
    return new VisibilityDeadline(Math.max(seconds, left), this.#signal);
  }

  /** Lists the directory before it looks again: that makes the client of a network file system ask its server. */
  async waitUntilFound<T>(directory: string, look: () => T | undefined): Promise<T | undefined> {
    let pause = FIRST_PAUSE_MILLISECONDS;
    for (;;) {
      const found = look();
      if (found !== undefined) return found;
      const left = this.#endsAt - performance.now();
      if (left <= 0) return undefined;
      await sleep(Math.min(pause, left), undefined, { signal: this.#signal }).catch(() => {
        throw new AbortError(this.#signal?.reason);
      });
      pause = Math.min(2 * pause, LONGEST_PAUSE_MILLISECONDS);
      refreshListing(directory);
    }
  }

  /** Reads files until they are whole: one that is written and not visible yet looks damaged. */
  async waitUntilWhole<T extends object>(directory: string, read: () => T): Promise<T> {
    let failure: unknown;
    const found = await this.waitUntilFound(directory, () => {
      try {
        return read();
      } catch (error) {
        if (!(error instanceof VerificationError)) throw error;
        failure = error;
        return undefined;
      }
    });
    if (found !== undefined) return found;
    throw failure;
  }
}

function refreshListing(directory: string): void {
  try {
    listNames(directory, 'temp');
  } catch {
    // It may not be visible yet, either.
  }
}
