/**
 * A lease that lets one process at a time commit a job: two would be in each other's way when they move the same
 * outputs. The process that commits renews its lease every two seconds. A lease that is not renewed belongs to a process
 * that is gone, and is taken over: at once if that process ran on this machine, else after the time in which a renewal
 * must have become visible. No clocks of two machines are compared.
 */
import { join } from 'node:path';
import { createDurablyIfAbsent, replaceDurably } from '../io/atomic-files.js';
import { removeFile } from '../io/files.js';
import { object, text, type ValueOf, wholeNumber } from '../io/json-shape.js';
import type { VisibilityDeadline } from '../io/wait-until-visible.js';
import {
  type FileOwner,
  identifyOwner,
  judgeOwnerAmongHosts,
  OwnerLease,
  parseOwnerName,
} from '../machine/file-owner.js';
import type { JobStop } from '../stages/threads.js';
import { COMMITTING_NAME, clusterFileFormat } from './cluster-plan.js';
import { isCommitted, notReadyError } from './open-job.js';

const shape = object({
  /** A name that says which process commits, as file-owner.ts forms it. */
  owner: text,
  beat: wholeNumber(),
});

type CommitLease = ValueOf<typeof shape>;

const format = clusterFileFormat('cluster-claim', 2, 2 ** 12, shape);

const HEARTBEAT_MILLISECONDS = 2000;
/** A process at work renews its lease within this time, even if it is slow. */
const LEAST_LEASE_SECONDS = 6;

/** @returns a function that releases the lease; undefined if the job is committed. */
export async function acquireCommitLease(
  directory: string,
  deadline: VisibilityDeadline,
  stop: JobStop,
): Promise<(() => Promise<void>) | undefined> {
  const lease = new OwnerLease(COMMITTING_NAME, directory);
  const sealedLease = (beat: number) => format.seal({ owner: lease.name, beat });
  let isOver: boolean;
  try {
    if (!(await createDurablyIfAbsent(directory, COMMITTING_NAME, sealedLease(0)))) {
      await requireExpired(directory, deadline);
      await replaceDurably(directory, COMMITTING_NAME, sealedLease(0));
    }
    isOver = isCommitted(directory);
  } catch (error) {
    lease.release();
    // The process that has committed the job removes all else from its directory, also a lease that is being written.
    if (isCommitted(directory)) return undefined;
    throw error;
  }
  let beat = 0;
  const renew = async () => {
    try {
      const now = readCommitLease(directory);
      if (now !== undefined && now.owner !== lease.name) {
        stop.fail(notReadyError(`a process on ${ownerOf(now)?.host} has taken over the commit of ${directory}`));
        return;
      }
      beat += 1;
      await replaceDurably(directory, COMMITTING_NAME, sealedLease(beat));
    } catch {
      // The next heartbeat tries again.
    }
  };
  let renewal = Promise.resolve();
  const timer = setInterval(() => {
    renewal = renewal.then(renew);
  }, HEARTBEAT_MILLISECONDS);
  timer.unref();
  const release = async () => {
    clearInterval(timer);
    lease.release();
    await renewal;
    if (readCommitLease(directory)?.owner === lease.name) removeFile(join(directory, COMMITTING_NAME), 'temp');
  };
  if (!isOver) return release;
  await release();
  return undefined;
}

/** Waits until the process that has the lease is surely gone. @throws SystemError ERR_NOT_READY if it is at work. */
async function requireExpired(directory: string, deadline: VisibilityDeadline): Promise<void> {
  const first = readCommitLease(directory);
  if (first === undefined || isOwnerGone(first)) return;
  const isAtWork = await deadline.atLeast(LEAST_LEASE_SECONDS).waitUntilFound(directory, () => {
    const now = readCommitLease(directory);
    if (now === undefined) return false;
    return now.owner !== first.owner || now.beat !== first.beat || undefined;
  });
  if (isAtWork !== true) return;
  const { pid, host } = ownerOf(first) ?? {};
  throw notReadyError(`another process commits ${directory}: process ${pid} on ${host}; wait for it`);
}

/** Returns whether the process is gone. Without boot ids, two machines of one name cannot be told from one. */
function isOwnerGone(claim: CommitLease): boolean {
  const owner = ownerOf(claim);
  return owner?.bootId !== undefined && judgeOwnerAmongHosts(owner, identifyOwner()) === 'left over';
}

function ownerOf({ owner }: CommitLease): FileOwner | undefined {
  return parseOwnerName(COMMITTING_NAME, owner);
}

function readCommitLease(directory: string): CommitLease | undefined {
  return format.read(join(directory, COMMITTING_NAME));
}
