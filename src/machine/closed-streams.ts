/**
 * Standard streams that the caller closed (`>&-`). Node then opens /dev/null in their place, for reading and writing,
 * as a shell never does: records would vanish there, or none come.
 */
import { fileCalls } from '../io/file-calls.js';
import { type ReadText, readKernelText } from './kernel-text.js';

const ACCESS_MODE = 0o3;
const READ_AND_WRITE = 0o2;

/** Without /proc, no stream counts as closed. */
export function isClosedStream(fd: number, readText: ReadText = readKernelText): boolean {
  const flags = /^flags:\s*([0-7]+)$/m.exec(readText(`/proc/self/fdinfo/${fd}`) ?? '')?.[1];
  if (flags === undefined || (Number.parseInt(flags, 8) & ACCESS_MODE) !== READ_AND_WRITE) return false;
  try {
    const [stat, nothing] = [fileCalls.statOpen(fd), fileCalls.stat('/dev/null')];
    return stat.isCharacterDevice() && stat.rdev === nothing.rdev;
  } catch {
    return false;
  }
}
