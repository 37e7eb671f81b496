/**
 * What is done with stores that touches no record: generations expire, and what is not needed any more is deleted.
 */
import { UsageError } from '../errors.js';
import { hearSignals } from '../pause.js';
import { type CollectedGarbage, collectGarbage } from '../store/collect-garbage.js';
import {
  type ExpiryRule,
  expireGenerations,
  type GenerationSummary,
  summaryOf,
  timeOfDate,
} from '../store/generations.js';
import { openSnapshot } from '../store/store-snapshot.js';

export interface GarbageOptions {
  /**
   * How long, in milliseconds, what was taken out of the store is kept for those who began to read before, and what was
   * left by writers that cannot be seen from here. Default: a day.
   */
  readonly graceMilliseconds?: number | undefined;
  /** Stops it. What was done until then is done, and a later call goes on. */
  readonly signal?: AbortSignal | undefined;
}

/**
 * Which generations go: those from before a date or a date with a time, as generations may be called; those older than
 * so long; or all but the last ones.
 */
export type ExpireRule =
  | { readonly before: string }
  | { readonly keepMilliseconds: number }
  | { readonly keepLast: number };

export interface ExpireReport {
  /** Those that went, oldest first. */
  readonly expired: readonly GenerationSummary[];
  /** What was deleted: what went earlier. */
  readonly deleted: CollectedGarbage;
}

/**
 * Takes generations out of a store, at once. Their files are deleted by a later call, or by `collectStore`, when the
 * grace is over; those for which it is over are deleted now.
 * @throws PileshufError UsageError: ERR_STORE, ERR_OPTION; SystemError, VerificationError, AbortedError
 */
export async function expireStore(
  storeDirectory: string,
  rule: ExpireRule,
  options: GarbageOptions = {},
): Promise<ExpireReport> {
  const grace = graceOf(options);
  const expiry = expiryOf(rule);
  const snapshot = openSnapshot(storeDirectory);
  await hearSignals(options.signal);
  const expired = await expireGenerations(snapshot, expiry);
  const deleted = await collectGarbage(snapshot, grace, options.signal);
  return { expired: expired.map(summaryOf), deleted };
}

/**
 * Deletes what a store does not need any more: pile sets that were taken out of it, what writers left that did not come
 * to their end, and old manifests. Others may read and write it meanwhile.
 * @throws PileshufError UsageError: ERR_STORE, ERR_OPTION; SystemError, VerificationError, AbortedError
 */
export async function collectStore(storeDirectory: string, options: GarbageOptions = {}): Promise<CollectedGarbage> {
  return await collectGarbage(openSnapshot(storeDirectory), graceOf(options), options.signal);
}

function graceOf({ graceMilliseconds }: GarbageOptions): number | undefined {
  if (graceMilliseconds === undefined || graceMilliseconds >= 0) return graceMilliseconds;
  throw new UsageError(`graceMilliseconds ${graceMilliseconds}: expected a number of at least 0`);
}

function expiryOf(rule: ExpireRule): ExpiryRule {
  if ('keepLast' in rule) {
    if (Number.isSafeInteger(rule.keepLast) && rule.keepLast >= 0) return rule;
    throw new UsageError(`keepLast ${rule.keepLast}: expected a whole number of at least 0`);
  }
  if ('keepMilliseconds' in rule) {
    if (rule.keepMilliseconds >= 0) return { before: Date.now() - rule.keepMilliseconds };
    throw new UsageError(`keepMilliseconds ${rule.keepMilliseconds}: expected a number of at least 0`);
  }
  const before = timeOfDate(rule.before);
  if (before !== undefined) return { before };
  throw new UsageError(
    `\`rule.before\` ${rule.before}: expected a date, alone or with a time, such as 2026-11-01 or 2026-11-01T06:00Z`,
  );
}
