/**
 * Temp directories of jobs that leave nothing behind: each has a name that nobody else has, and holds a lock,
 * by which the next job there knows whether the one that made it was killed.
 */
import { join } from 'node:path';
import type { Release } from '../cleanup.js';
import { PileshufError } from '../errors.js';
import { makePrivateDirectory, removeDirectory, requirePrivate } from '../io/directories.js';
import { listNames } from '../io/paths.js';
import { acquireJobLock, findJobHolder } from './job-lock.js';
import { looksLikeLock } from './lock-name.js';

const NAME_START = '.pileshuf-';
const NAME = /^\.pileshuf-[A-Za-z0-9]{6}$/;

/** Makes one in `parent`. @param releases gets its removal. */
export function makePrivateTempDirectory(parent: string, releases: Release[]): string {
  const directory = makePrivateDirectory(parent, NAME_START, 'temp');
  releases.push(() => removeDirectory(directory));
  const lock = acquireJobLock(directory);
  releases.push(() => lock.release());
  return directory;
}

/**
 * Removes from `parent` those of this user whose jobs were killed. What cannot be judged or removed stays: it
 * is no business of the job that begins.
 */
export function removeLeftOverTempDirectories(parent: string): void {
  for (const name of listNames(parent, 'temp')) {
    if (!NAME.test(name)) continue;
    const directory = join(parent, name);
    try {
      if (isLeftOver(directory)) removeDirectory(directory);
    } catch (error) {
      if (!(error instanceof PileshufError)) throw error;
    }
  }
}

/** Without a lock it may have been made a moment ago. */
function isLeftOver(directory: string): boolean {
  requirePrivate(directory);
  return listNames(directory, 'temp').some(looksLikeLock) && findJobHolder(directory) === undefined;
}
