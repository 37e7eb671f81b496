/**
 * Gives a directory to one job at a time, of all processes on all hosts that see the directory.
 *
 * Node has no `flock`, so each job makes a lock file whose name says who made it (../machine/file-owner.ts), and then
 * lists the directory. If it finds another lock whose job may still run, it removes its own and gives up. Each job makes
 * its lock before it lists, and holds it while it uses the directory, so of two jobs the one that lists last sees
 * both locks: at most one holds the directory. Both may give up; then nobody holds it, and the next try succeeds. (This
 * is true on a network file system too: making a file there makes the host forget what it cached of the directory.)
 *
 * A lock is left over when its process is known to be gone. Its name shows that, and no other lock can ever get the same
 * name, because a part of it is random: however late a job removes a left-over lock, it hits no other. So at no moment
 * can two jobs both take over from a third. The process of a lock from another host or container may still run: the lock
 * counts, and the message says which file to remove.
 */
import type { BigIntStats } from 'node:fs';
import { join } from 'node:path';
import { SystemError, UsageError } from '../errors.js';
import { fileCalls } from '../io/file-calls.js';
import { closeFile, createOwnFile, removeFile } from '../io/files.js';
import { errnoOf, ioError } from '../io/io-error.js';
import { LOCK_KIND } from '../io/own-files.js';
import { listNames } from '../io/paths.js';
import { judgeNames, OwnerLease, type OwnerState } from '../machine/file-owner.js';

export interface JobLock {
  /** The makers of the left-over locks that were removed. */
  readonly staleHolders: readonly LockHolder[];
  /** Releases the lock. A second call does nothing; a lock that cannot be removed counts as left over. */
  release(): void;
}

export interface LockHolder {
  readonly host: string;
  readonly pid: number;
  /** The time when it made the lock, as in `2026-01-31T12:00:00.000Z`. */
  readonly since: string;
  /** The path of the lock file. */
  readonly path: string;
}

interface JudgedLock {
  readonly holder: LockHolder;
  readonly state: OwnerState;
}

/** Returns whether a name is that of a lock, or may be that of another version. */
export function looksLikeLock(name: string): boolean {
  return name.startsWith(LOCK_KIND);
}

export function acquireJobLock(directory: string): JobLock {
  const lease = new OwnerLease(LOCK_KIND, directory);
  const release = () => {
    lease.release();
    removeFile(lease.path, 'temp');
  };
  try {
    createLockFile(directory, lease.path);
    return { staleHolders: removeStaleLocks(directory, lease.name), release };
  } catch (error) {
    releaseIfPossible(release);
    throw error;
  }
}

/** The job that holds a directory; undefined when a job could have it. Changes nothing. */
export function findJobHolder(directory: string): (LockHolder & { readonly state: OwnerState }) | undefined {
  const found = judgeLocks(directory, lockNamesIn(directory)).find(({ state }) => state !== 'left over');
  return found && { ...found.holder, state: found.state };
}

/** Refuses as `acquireJobLock` does, and changes nothing. */
export function requireUnlocked(directory: string): void {
  requireNoOtherLock(judgeLocks(directory, lockNamesIn(directory)), directory);
}

function createLockFile(directory: string, path: string): void {
  try {
    closeFile(createOwnFile(path, 'temp'));
  } catch (error) {
    throw error instanceof Error && errnoOf(error.cause) === 'ENOENT' ? vanishedError(directory) : error;
  }
}

function vanishedError(directory: string): SystemError {
  return new SystemError(
    'ERR_TEMP_DIR',
    `the job directory ${directory} was removed or replaced while this job began; start it again`,
  );
}

function releaseIfPossible(release: () => void): void {
  try {
    release();
  } catch {
    // The first error says more, and the lock that stays counts as left over.
  }
}

function removeStaleLocks(directory: string, ownName: string): readonly LockHolder[] {
  const names = lockNamesIn(directory);
  if (!names.includes(ownName)) throw vanishedError(directory);
  const locks = judgeLocks(
    directory,
    names.filter((name) => name !== ownName),
  );
  requireNoOtherLock(locks, directory);
  // A job that released its lock meanwhile leaves none to remove.
  return locks.map(({ holder }) => holder).filter(({ path }) => removeFile(path, 'temp'));
}

function requireNoOtherLock(locks: readonly JudgedLock[], directory: string): void {
  for (const { state, holder } of locks) if (state !== 'left over') throw lockedError(holder, state, directory);
}

function lockedError({ pid, host, since, path }: LockHolder, state: OwnerState, directory: string): UsageError {
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

function judgeLocks(directory: string, names: readonly string[]): readonly JudgedLock[] {
  const locks = judgeNames(LOCK_KIND, names);
  const strange = names.find((name) => !locks.some((lock) => lock.name === name));
  if (strange !== undefined) {
    throw new UsageError(
      `${join(directory, strange)} may be the lock of a job, but this version of pileshuf gives no such name; ` +
        'remove it if no job uses the directory',
      'ERR_JOB_LOCKED',
    );
  }
  return locks.flatMap(({ name, owner: { host, pid }, state }) => {
    const path = join(directory, name);
    const since = readTime(path);
    // The lock was removed since the names were listed: its job has ended, or given up.
    return since === undefined ? [] : [{ holder: { host, pid, since, path }, state }];
  });
}

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
