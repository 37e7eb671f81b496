/**
 * Signals to an AbortSignal. The first SIGINT, SIGTERM or SIGHUP asks the job to stop and to remove
 * what it has written, or to keep what it needs to go on if it can be resumed; a later SIGINT is a
 * person who will not wait, and ends the process at once.
 *
 * `npx` and `npm run` pass a Ctrl-C on to their child, which has it from the terminal already: two
 * SIGINT a few milliseconds apart are one keypress. SIGHUP is among them because Node resets the
 * "ignored" that nohup sets: it would end the process there and then, temp files left behind.
 */

import { exitCodes, type StopSignal } from './exit-code.js';

/** Longer than npx takes to pass a signal on, shorter than a person needs to press twice. */
const sameKeypressSeconds = 0.25;

const stopSignals: readonly StopSignal[] = ['SIGINT', 'SIGTERM', 'SIGHUP'];

/** What stands between this file and the real process, so that tests can play it. */
export interface SignalSource {
  on(event: StopSignal, listener: (signal: StopSignal) => void): unknown;
  off(event: StopSignal, listener: (signal: StopSignal) => void): unknown;
  exit(code: number): void;
}

export interface Interruption {
  /** Aborted by the first stop signal. */
  readonly abortSignal: AbortSignal;
  /** The first stop signal, or undefined while there was none. */
  receivedSignal(): StopSignal | undefined;
  /** Gives the signals back to their default actions. */
  release(): void;
}

/** Listens until `release`; `beforeExit` runs before a second SIGINT ends the process. */
export function watchSignals(
  beforeExit: () => void,
  source: SignalSource = process,
  nowSeconds: () => number = () => performance.now() / 1000,
): Interruption {
  const controller = new AbortController();
  let first: { readonly signal: StopSignal; readonly atSeconds: number } | undefined;

  const listener = (signal: StopSignal): void => {
    if (first === undefined) {
      first = { signal, atSeconds: nowSeconds() };
      controller.abort();
    } else if (signal === 'SIGINT' && nowSeconds() - first.atSeconds >= sameKeypressSeconds) {
      beforeExit();
      source.exit(exitCodes.SIGINT);
    }
  };
  for (const signal of stopSignals) {
    source.on(signal, listener);
  }
  return {
    abortSignal: controller.signal,
    receivedSignal: () => first?.signal,
    release: () => {
      for (const signal of stopSignals) {
        source.off(signal, listener);
      }
    },
  };
}
