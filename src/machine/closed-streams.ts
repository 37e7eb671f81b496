/**
 * Standard streams that the caller closed (`>&-`). Node then opens /dev/null in their place, for reading and writing,
 * as a shell never does: records would vanish there, or none come.
 */
import { constants } from 'node:fs';
import { fileCalls } from '../io/file-calls.js';
import { type ReadText, readSystemText } from './system-files.js';

const ACCESS_MODE = 0o3;

/** Returns whether a stream is closed. Without /proc, none counts as closed. */
export function isClosedStream(fd: number, readText: ReadText = readSystemText): boolean {
  return isNullOpened(fd, constants.O_RDWR, readText);
}

/** @param access how /dev/null was opened. */
export function isNullOpened(fd: number, access: number, readText: ReadText): boolean {
  const flags = /^flags:\s*([0-7]+)$/m.exec(readText(`/proc/self/fdinfo/${fd}`) ?? '')?.[1];
  if (flags === undefined || (Number.parseInt(flags, 8) & ACCESS_MODE) !== access) return false;
  try {
    const [stat, nothing] = [fileCalls.statOpen(fd), fileCalls.stat('/dev/null')];
    return stat.isCharacterDevice() && stat.rdev === nothing.rdev;
  } catch {
    return false;
  }
}
