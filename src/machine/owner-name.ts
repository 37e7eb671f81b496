/**
 * The name of a file that says who made it:
 *
 *     KIND+HOST+BOOT-ID+PID-NAMESPACE+PID+START-TICKS+THREAD+TOKEN
 *
 * It is all in the name, because a name appears in one step and bytes do not. What is not known is `unknown`.
 */
import { createHash } from 'node:crypto';
import type { ProcessIdentity } from './process-identity.js';

/** Who made such a file. The host is as it stands in the name. */
export interface FileOwner extends ProcessIdentity {
  /** A process can have several threads, each with this program in it. */
  readonly threadId: number;
  /** 16 hex digits, another for each file. */
  readonly token: string;
}

const OWNER = new RegExp(
  '^(?<host>[A-Za-z0-9._%-]{1,64})\\+(?<bootId>[0-9a-f-]{36}|unknown)\\+(?<pidNamespace>\\d{1,20}|unknown)' +
    '\\+(?<pid>[1-9]\\d{0,9})\\+(?<startTicks>\\d{1,20}|unknown)\\+(?<threadId>\\d{1,10})\\+(?<token>[0-9a-f]{16})$',
);
/** The largest that the system takes for the number of a process. */
const LARGEST_PID = 2 ** 31 - 1;

/** @param kind lower-case letters and hyphens. */
export function formatOwnerName(kind: string, owner: FileOwner): string {
  const { bootId = 'unknown', pidNamespace = 'unknown', pid, startTicks = 'unknown', threadId, token } = owner;
  return [kind, hostInName(owner.host), bootId, pidNamespace, pid, startTicks, threadId, token].join('+');
}

/** Undefined for what is no such name of this kind. */
export function parseOwnerName(kind: string, name: string): FileOwner | undefined {
  if (!name.startsWith(`${kind}+`)) return undefined;
  const fields = OWNER.exec(name.slice(kind.length + 1))?.groups ?? {};
  const { host, bootId, pidNamespace, pid, startTicks, threadId, token } = fields;
  if (host === undefined || token === undefined || Number(pid) > LARGEST_PID) return undefined;
  return {
    host,
    bootId: knownIn(bootId),
    pidNamespace: knownIn(pidNamespace),
    pid: Number(pid),
    startTicks: knownIn(startTicks),
    threadId: Number(threadId),
    token,
  };
}

/** A host name as it is, if it can stand in the name of a file, else something of its own in its place. */
export function hostInName(host: string): string {
  if (/^[A-Za-z0-9._-]{1,64}$/.test(host)) return host;
  return `%${createHash('sha256').update(host).digest('hex').slice(0, 32)}`;
}

function knownIn(field: string | undefined): string | undefined {
  return field === 'unknown' ? undefined : field;
}
