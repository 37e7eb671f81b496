/**
 * What the command's exit code says. Scripts tell a wrong call from bad data from a full disk by it,
 * so the numbers are part of the interface and stand in `--help`.
 * 129, 130, 141 and 143 are 128 + the signal that would have ended any other program there.
 */

import { type ErrorKind, PileshufError } from '../index.js';

export const exitCodes = {
  done: 0,
  failed: 1,
  usage: 2,
  input: 3,
  verification: 4,
  SIGHUP: 129,
  SIGINT: 130,
  'closed-pipe': 141,
  SIGTERM: 143,
} as const;

/** The signals that stop the command in good order. */
export type StopSignal = 'SIGHUP' | 'SIGINT' | 'SIGTERM';

/** Exit code for anything thrown; `stopSignal` is the signal that had asked the job to stop, if any. */
export function exitCodeOf(thrown: unknown, stopSignal: StopSignal | undefined): number {
  if (!(thrown instanceof PileshufError)) {
    return exitCodes.failed;
  }
  const kind: ErrorKind = thrown.kind;
  return kind === 'aborted' ? exitCodes[stopSignal ?? 'failed'] : exitCodes[kind];
}
