/**
 * The name of a lock file, which says who made it (../io/owner-name.ts).
 */
import { type FileOwner, formatOwnerName, parseOwnerName } from '../machine/file-owner.js';

const KIND = 'lock';

export function looksLikeLock(name: string): boolean {
  return name.startsWith(KIND);
}

export function formatLockName(owner: FileOwner): string {
  return formatOwnerName(KIND, owner);
}

/** Undefined for what no job has made. */
export function parseLockName(name: string): FileOwner | undefined {
  return parseOwnerName(KIND, name);
}
