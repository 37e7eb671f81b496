/**
 * Scripts tell a wrong call, bad data and a full disk apart by these numbers: they are part of the interface, and
 * `--help` lists them. 129, 130, 141 and 143 are 128 + the signal that would have ended another program.
 */

import { type ErrorKind, PileshufError } from '../errors.js';

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

export type StopSignal = 'SIGHUP' | 'SIGINT' | 'SIGTERM';

export function exitCodeOf(thrown: unknown, stopSignal: StopSignal | undefined): number {
  if (!(thrown instanceof PileshufError)) {
    return exitCodes.failed;
  }
  const kind: ErrorKind = thrown.kind;
  return kind === 'aborted' ? exitCodes[stopSignal ?? 'failed'] : exitCodes[kind];
}
