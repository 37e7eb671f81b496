/**
 * Whether those who made files with their name in it (owner-name.ts) still run.
 *
 * Told to be gone is only what is known to be: a process of this host that the system does not have any more
 * (or has under that number, but started at another time), or that ran before this host was started again.
 * Hosts that share a directory must therefore differ in their names, where an earlier start of this host cannot be told
 * from another host of its name (`judgeOwnerAmongHosts`). A process on another host or in another container may run or
 * not.
 */
import { randomBytes } from 'node:crypto';
import { threadId } from 'node:worker_threads';
import { type FileOwner, hostInName } from './owner-name.js';
import { identifyThisProcess, isRunning } from './process-identity.js';

/** Whether the owner still is at what the file is for. */
export type OwnerState = 'live' | 'left over' | 'unknowable';

/** Of the files that this thread stands behind. Its others are left over, such as those it could not remove. */
const heldTokens = new Set<string>();

/** This thread, as owner of one more file. */
export function identifyOwner(): FileOwner {
  return { ...identifyThisProcess(), threadId, token: randomBytes(8).toString('hex') };
}

/** Until `letGoOf`, this thread calls the file live. */
export function holdOn(to: FileOwner): void {
  heldTokens.add(to.token);
}

export function letGoOf({ token }: FileOwner): void {
  heldTokens.delete(token);
}

/** @param own whoever asks. */
export function judgeOwner(owner: FileOwner, own: FileOwner): OwnerState {
  if (owner.host !== hostInName(own.host)) return 'unknowable';
  if (owner.bootId !== own.bootId) {
    return owner.bootId === undefined || own.bootId === undefined ? 'unknowable' : 'left over';
  }
  if (owner.pidNamespace !== own.pidNamespace) return 'unknowable';
  if (owner.pid === own.pid && owner.startTicks === own.startTicks) {
    // Another thread knows what it holds; this one does not.
    if (owner.threadId !== own.threadId) return 'unknowable';
    return heldTokens.has(owner.token) ? 'live' : 'left over';
  }
  return isRunning(owner.pid, owner.startTicks) ? 'live' : 'left over';
}

/** The same where many hosts write, some of which may have one name: one that was started at another time may be another. */
export function judgeOwnerAmongHosts(owner: FileOwner, own: FileOwner): OwnerState {
  return owner.bootId === own.bootId ? judgeOwner(owner, own) : 'unknowable';
}
