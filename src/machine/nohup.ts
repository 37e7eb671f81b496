/**
 * Tells whether this process was started with SIGHUP ignored, as `nohup` starts one. Node 20 to 26 give every ignored
 * signal its default action back before a script can look, so only traces are left.
 */

import { constants } from 'node:fs';
import { basename } from 'node:path';
import { isNullOpened } from './closed-streams.js';
import { type ReadText, readSystemText } from './system-files.js';

const STANDARD_INPUT_FD = 0;
/** Bit of signal 1 in the masks of /proc/PID/status, which are hexadecimal. */
const HANG_UP = 1;

/** @param lastCommand the command that the shell notes in the environment of each process that it starts. */
export function isHangUpIgnored(lastCommand = process.env['_'], readText: ReadText = readSystemText): boolean {
  if (basename(lastCommand ?? '') === 'nohup') return true;
  // A child inherits what its parent ignores, and no usual shell ignores this signal for itself alone.
  const mask = /^SigIgn:\s*([\da-f]+)$/m.exec(readText(`/proc/${process.ppid}/status`) ?? '')?.[1] ?? '';
  if ((Number.parseInt(mask.slice(-1), 16) & HANG_UP) !== 0) return true;
  // nohup puts this in the place of a terminal.
  return isNullOpened(STANDARD_INPUT_FD, constants.O_WRONLY, readText);
}
