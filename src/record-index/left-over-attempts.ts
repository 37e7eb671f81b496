/**
 * What indexes are called while they are made: the name says who is at it, so that the next one who makes an index in
 * the directory can tell, and remove, what was left by those that were killed.
 */
import { join } from 'node:path';
import { PileshufError } from '../errors.js';
import { removeFile } from '../io/files.js';
import { listNames } from '../io/paths.js';
import { identifyOwner, judgeOwner } from '../machine/file-owner.js';
import { type FileOwner, formatOwnerName, parseOwnerName } from '../machine/owner-name.js';

const KIND = 'pileshuf-index';

/** The file in which this owner makes an index. The directory is that of the index, so that it can be renamed. */
export function indexAttemptPath(directory: string, owner: FileOwner): string {
  return join(directory, formatOwnerName(KIND, owner));
}

/** What cannot be judged or removed stays: it is no business of the index that begins. */
export function removeLeftOverAttempts(directory: string): void {
  const own = identifyOwner();
  const isLeftOver = (name: string) => {
    const owner = parseOwnerName(KIND, name);
    return owner !== undefined && judgeOwner(owner, own) === 'left over';
  };
  ifPossible(() => {
    for (const name of listNames(directory, 'output').filter(isLeftOver)) {
      ifPossible(() => removeFile(join(directory, name), 'output'));
    }
  });
}

function ifPossible(work: () => void): void {
  try {
    work();
  } catch (error) {
    if (!(error instanceof PileshufError)) throw error;
  }
}
