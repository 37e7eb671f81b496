/**
 * Turns signals into an AbortSignal. The first SIGINT, SIGTERM or SIGHUP asks the job to stop: it removes its files, or
 * leaves them if it can be resumed. A later SIGINT comes from an impatient person and ends the process at once.
 *
 * `npx` and `npm run` pass a Ctrl-C on to their child, which already got it from the terminal: two SIGINT a few
 * milliseconds apart are one keypress. Node undoes the "ignore" of nohup, so a listener ignores SIGHUP in its place.
 */

import { isHangUpIgnored } from '../machine/nohup.js';
import { exitCodes, type StopSignal } from './messages.js';

/** Longer than npx takes to pass a signal on, shorter than a person needs to press twice. */
const sameKeypressSeconds = 0.25;

const stopSignals: readonly StopSignal[] = ['SIGINT', 'SIGTERM', 'SIGHUP'];

/** The part of the process that this file uses. Tests play it. */
export interface SignalSource {
  on(event: StopSignal, listener: (signal: StopSignal) => void): unknown;
  off(event: StopSignal, listener: (signal: StopSignal) => void): unknown;
  exit(code: number): void;
}

export interface Interruption {
  readonly abortSignal: AbortSignal;
  receivedSignal(): StopSignal | undefined;
  /** Gives the signals back to their default actions. */
  release(): void;
}

/** Listens until `release`. `beforeExit` is called before a second SIGINT ends the process. */
export function watchSignals(
  beforeExit: () => void,
  source: SignalSource = process,
  nowSeconds: () => number = () => performance.now() / 1000,
  ignoresHangUp = isHangUpIgnored(),
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
  const handled = stopSignals.filter((signal) => signal !== 'SIGHUP' || !ignoresHangUp);
  for (const signal of handled) {
    source.on(signal, listener);
  }
  // For good: the default action would end the process.
  if (ignoresHangUp) source.on('SIGHUP', () => {});
  return {
    abortSignal: controller.signal,
    receivedSignal: () => first?.signal,
    release: () => {
      for (const signal of handled) {
        source.off(signal, listener);
      }
    },
  };
}

/**
 * Node ends a process that has nothing left to wait for, though promises of the command are open. It must not end without a
 * word. @returns a function that stops listening.
 */
export function watchEmptyLoop(onEmpty: () => void): () => void {
  process.once('beforeExit', onEmpty);
  return () => process.off('beforeExit', onEmpty);
}

/** SIGUSR1 asks a command how far it is, as it asks dd. @returns a function that stops listening. */
export function watchStatusSignal(onStatus: () => void): () => void {
  process.on('SIGUSR1', onStatus);
  return () => process.off('SIGUSR1', onStatus);
}
