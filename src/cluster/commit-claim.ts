/**
 * Lets one process at a time commit a job: two would be in each other's way when they move the same outputs. The
 * process that commits changes its claim every two seconds. A claim that does not change belongs to a process that is
 * gone, and is taken over: at once if that process ran on this machine, else after the time in which a change must have
 * become visible. No clocks of two machines are compared.
 */
import { join } from 'node:path';
import { removeFile } from '../io/files.js';
import { object, text, type ValueOf, wholeNumber } from '../io/json-shape.js';
import { createOnce, replaceDurably } from '../io/small-file.js';
import type { Deadline } from '../io/wait-until-visible.js';
import {
  type FileOwner,
  HeldName,
  identifyOwner,
  judgeOwnerAmongHosts,
  parseOwnerName,
} from '../machine/file-owner.js';
import type { JobStop } from '../stages/threads.js';
import { COMMITTING_NAME, formatOfJob } from './cluster-plan.js';
import { isCommitted, notReady } from './open-job.js';

const shape = object({
  /** A name that says which process commits, as file-owner.ts forms it. */
  owner: text,
  beat: wholeNumber(),
});

type Claim = ValueOf<typeof shape>;

const format = formatOfJob('cluster-claim', 2, 2 ** 12, shape);

const BEAT_MILLISECONDS = 2000;
/** A process at work changes its claim within this time, even if it is slow. */
const LEAST_WATCH_SECONDS = 6;

/** @returns what gives the claim up; undefined if the job is committed. */
export async function claimCommit(
  directory: string,
  deadline: Deadline,
  stop: JobStop,
): Promise<(() => Promise<void>) | undefined> {
  const held = new HeldName(COMMITTING_NAME, directory);
  const claim = (beat: number) => format.seal({ owner: held.name, beat });
  let isOver: boolean;
  try {
    if (!(await createOnce(directory, COMMITTING_NAME, claim(0)))) {
      await requireLeft(directory, deadline);
      await replaceDurably(directory, COMMITTING_NAME, claim(0));
    }
    isOver = isCommitted(directory);
  } catch (error) {
    held.letGo();
    // The process that has committed the job removes all else from its directory, a claim on its way as well.
    if (isCommitted(directory)) return undefined;
    throw error;
  }
  let beat = 0;
  const change = async () => {
    try {
      const now = readClaim(directory);
      if (now !== undefined && now.owner !== held.name) {
        stop.fail(notReady(`a process on ${ownerOf(now)?.host} has taken over the commit of ${directory}`));
        return;
      }
      beat += 1;
      await replaceDurably(directory, COMMITTING_NAME, claim(beat));
    } catch {
      // The next beat tries again.
    }
  };
  let beating = Promise.resolve();
  const timer = setInterval(() => {
    beating = beating.then(change);
  }, BEAT_MILLISECONDS);
  timer.unref();
  const giveUp = async () => {
    clearInterval(timer);
    held.letGo();
    await beating;
    if (readClaim(directory)?.owner === held.name) removeFile(join(directory, COMMITTING_NAME), 'temp');
  };
  if (!isOver) return giveUp;
  await giveUp();
  return undefined;
}

/** Returns when the process of the claim is surely gone. */
async function requireLeft(directory: string, deadline: Deadline): Promise<void> {
  const first = readClaim(directory);
  if (first === undefined || isGoneHere(first)) return;
  const isAtWork = await deadline.atLeast(LEAST_WATCH_SECONDS).untilFound(directory, () => {
    const now = readClaim(directory);
    if (now === undefined) return false;
    return now.owner !== first.owner || now.beat !== first.beat || undefined;
  });
  if (isAtWork !== true) return;
  const { pid, host } = ownerOf(first) ?? {};
  throw notReady(`another process commits ${directory}: process ${pid} on ${host}; wait for it`);
}

/** Returns whether the process is gone. Without boot ids, two machines of one name cannot be told from one. */
function isGoneHere(claim: Claim): boolean {
  const owner = ownerOf(claim);
  return owner?.bootId !== undefined && judgeOwnerAmongHosts(owner, identifyOwner()) === 'left over';
}

function ownerOf({ owner }: Claim): FileOwner | undefined {
  return parseOwnerName(COMMITTING_NAME, owner);
}

function readClaim(directory: string): Claim | undefined {
  return format.read(join(directory, COMMITTING_NAME));
}
