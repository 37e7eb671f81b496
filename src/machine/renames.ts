/**
 * Finds out before the work what a rename cannot do even between writable directories. A file cannot take the place of
 * a mount point, nor of another user's file in a directory with the sticky bit, nor of an immutable file; and no name
 * leads from one mount to another, even of one file system.
 */
import { constants } from 'node:fs';
import { dirname } from 'node:path';
import { fileCalls } from '../io/file-calls.js';
import { errnoOf } from '../io/io-error.js';
import { lstatPath, realPathOf, statPath } from '../io/paths.js';
import { isWithin, parseMounts, type ReadText, readSystemText } from './system-files.js';

const STICKY = 0o1000n;

/**
 * Says why nothing can take the place of an existing file or directory, and what to do; undefined when it can. Reads the
 * mounts once. The paths are real ones.
 */
export function renameObstacles(readText: ReadText = readSystemText): (path: string) => string | undefined {
  const places = mountPoints(readText);
  return (path) => {
    if (places.includes(path))
      return 'it is a mount point, as of a file that is mounted into a container; mount its directory instead, or name another output and copy that';
    const stat = lstatPath(path, 'output');
    const directory = lstatPath(dirname(path), 'output');
    const user = process.geteuid?.();
    const isOwn = user === undefined || user === 0 || stat?.uid === BigInt(user) || directory?.uid === BigInt(user);
    if (!isOwn && ((directory?.mode ?? 0n) & STICKY) !== 0n)
      return `it belongs to user ${stat?.uid}, and in ${dirname(path)} only the owner of a file may replace it (sticky bit); name another output`;
    if (stat?.isFile() === true && isImmutable(path))
      return 'the system permits nobody to change it, as with the attribute immutable; take that away (chattr -i -a), or name another output';
    return undefined;
  };
}

/** Returns whether names can be given from one of two existing directories to the other. */
export function areOnOneMount(a: string, b: string, readText: ReadText = readSystemText): boolean {
  const [one, other] = [a, b].map((path) => realPathOf(path, 'output'));
  if (one === undefined || other === undefined) return false;
  const places = mountPoints(readText);
  const placeOf = (path: string) =>
    places
      .filter((place) => isWithin(path, place))
      .sort(byLength)
      .at(-1);
  return statPath(a, 'output')?.dev === statPath(b, 'output')?.dev && placeOf(one) === placeOf(other);
}

const byLength = (a: string, b: string) => a.length - b.length;

function mountPoints(readText: ReadText): readonly string[] {
  return parseMounts(readText('/proc/self/mountinfo') ?? '').map(({ mountPoint }) => mountPoint);
}

/** The bits of the mode alone would give another error. */
function isImmutable(path: string): boolean {
  try {
    fileCalls.close(fileCalls.open(path, constants.O_WRONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK));
    return false;
  } catch (error) {
    return errnoOf(error) === 'EPERM';
  }
}
