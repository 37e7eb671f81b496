/**
 * Who holds a job directory: one job at a time, of all processes on all hosts that see the directory.
 *
 * Node has no `flock`, so each job makes a lock file of its own, whose name says who made it, and then looks:
 * if there is another lock whose job may still run, it takes its own away and gives up. Of two jobs, the one
 * that looks last has both locks before its eyes, because each makes its lock before it looks, and neither
 * takes its lock away while it holds the directory. So at most one of them holds it. Both may give up; then
 * nobody holds it, and whoever tries again gets it. (On a network file system too: making a file there makes
 * the host forget what it remembered of the directory.)
 *
 * A lock is left over when its process is gone. That is decided from its name, and nobody can get this name
 * again, since part of it is random: removing it hits no other lock, however late it is done. So there is no
 * moment at which two jobs could both take over from a third.
 *
 * Told to be gone is only what is known to be (../io/file-owner.ts). A process on another host or in another
 * container may run or not, so its lock counts, and the message says which file to remove.
 */
import type { BigIntStats } from 'node:fs';
import { join } from 'node:path';
import { SystemError, UsageError } from '../errors.js';
import { fileCalls } from '../io/file-calls.js';
import { closeFile, createTempFile, removeFile } from '../io/files.js';
import { errnoOf, ioError } from '../io/io-error.js';
import { listNames } from '../io/paths.js';
import { type FileOwner, holdOn, identifyOwner, judgeOwner, letGoOf, type OwnerState } from '../machine/file-owner.js';
import { formatLockName, looksLikeLock, parseLockName } from './lock-name.js';

export interface JobLock {
  /** Those whose locks were left over and have been removed: each ended before its job did. */
  readonly takenOver: readonly LockHolder[];
  /** Lets others have the directory; once more does nothing. A lock that cannot be removed counts as left over. */
  release(): void;
}

/** The maker of a lock. */
export interface LockHolder {
  readonly host: string;
  readonly pid: number;
  /** When it made the lock, as in `2026-01-31T12:00:00.000Z`. */
  readonly since: string;
  /** Of the lock file. */
  readonly path: string;
}

interface JudgedLock {
  readonly holder: LockHolder;
  readonly state: OwnerState;
}

/**
 * Makes this job the one that holds the directory.
 * @throws UsageError (ERR_JOB_LOCKED) when another one may hold it.
 */
export function acquireJobLock(directory: string): JobLock {
  const own = identifyOwner();
  const ownName = formatLockName(own);
  const release = () => {
    letGoOf(own);
    removeFile(join(directory, ownName), 'temp');
  };
  holdOn(own);
  try {
    createLockFile(directory, ownName);
    return { takenOver: takeOver(directory, own, ownName), release };
  } catch (error) {
    releaseIfPossible(release);
    throw error;
  }
}

/** Who holds a directory that exists; undefined when a job could have it. Changes nothing. */
export function findJobHolder(directory: string): LockHolder | undefined {
  return judgeLocks(directory, lockNamesIn(directory), identifyOwner()).find(({ state }) => state !== 'left over')
    ?.holder;
}

function createLockFile(directory: string, name: string): void {
  try {
    closeFile(createTempFile(join(directory, name)));
  } catch (error) {
    throw error instanceof Error && errnoOf(error.cause) === 'ENOENT' ? vanished(directory) : error;
  }
}

function vanished(directory: string): SystemError {
  return new SystemError(
    'ERR_TEMP_DIR',
    `the job directory ${directory} was removed or replaced while this job began; start it again`,
  );
}

function releaseIfPossible(release: () => void): void {
  try {
    release();
  } catch {
    // Why the lock was not to be had says more, and what is left of it is known not to be held.
  }
}

/** Removes the locks that are left over. @throws when any other lock is not. */
function takeOver(directory: string, own: FileOwner, ownName: string): readonly LockHolder[] {
  const names = lockNamesIn(directory);
  if (!names.includes(ownName)) throw vanished(directory);
  const others = names.filter((name) => name !== ownName);
  const locks = judgeLocks(directory, others, own);
  for (const { state, holder } of locks) if (state !== 'left over') throw heldBy(holder, state, directory);
  // A job that released its lock and ended while we looked leaves none to remove.
  return locks.map(({ holder }) => holder).filter(({ path }) => removeFile(path, 'temp'));
}

function heldBy({ pid, host, since, path }: LockHolder, state: OwnerState, directory: string): UsageError {
  const who = `the job in ${directory} is held by process ${pid} on ${host} since ${since}`;
  const advice =
    state === 'live'
      ? '; wait for it or stop it'
      : `, which cannot be seen from here; wait for it or stop it, or remove ${path} if it has ended`;
  return new UsageError(`${who}${advice}`, 'ERR_JOB_LOCKED');
}

function lockNamesIn(directory: string): string[] {
  return listNames(directory, 'temp').filter(looksLikeLock);
}

/** @param own the lock of whoever asks. */
function judgeLocks(directory: string, names: readonly string[], own: FileOwner): readonly JudgedLock[] {
  return names.flatMap((name): readonly JudgedLock[] => {
    const path = join(directory, name);
    const owner = parseLockName(name);
    if (owner === undefined) {
      throw new UsageError(
        `${path} may be the lock of a job, but its name is none that this version of pileshuf gives; ` +
          'remove it if no job uses the directory',
        'ERR_JOB_LOCKED',
      );
    }
    const since = readTime(path);
    // Taken away since the names were listed: its job has ended, or given up.
    if (since === undefined) return [];
    return [{ holder: { host: owner.host, pid: owner.pid, since, path }, state: judgeOwner(owner, own) }];
  });
}

/** When a file was last written to; undefined when there is none. */
function readTime(path: string): string | undefined {
  let stat: BigIntStats;
  try {
    stat = fileCalls.lstat(path);
  } catch (error) {
    if (errnoOf(error) === 'ENOENT') return undefined;
    throw ioError('examine', 'temp', path, error);
  }
  const time = new Date(Number(stat.mtimeMs));
  return Number.isNaN(time.getTime()) ? 'an unknown time' : time.toISOString();
}
