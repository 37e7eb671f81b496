/** Upkeep of stores: expires generations, and deletes files that the store no longer needs. Reads no record. */
import { requireWhole, UsageError } from '../errors.js';
import { yieldAndCheckAbort } from '../floor/pause.js';
import {
  COLLECT_OPTIONS,
  type CollectOptions,
  type ExpireRule,
  GARBAGE_OPTIONS,
  type GarbageOptions,
} from '../options/store-options.js';
import { type CollectedGarbage, collectGarbage } from '../store/collect-garbage.js';
import {
  type ExpiryRule,
  expireGenerations,
  type GenerationSummary,
  summaryOf,
  timeOfDate,
} from '../store/generations.js';
import { openEvenIfLost, openSnapshot } from '../store/store-snapshot.js';
import { requireKnownOptions } from '../values/known-options.js';

const EXPIRE_RULES = { before: true, keepMilliseconds: true, keepLast: true } as const;

export interface ExpireReport {
  /** The generations that this call expired, oldest first. */
  readonly expired: readonly GenerationSummary[];
  /** The files that this call deleted, of pile sets that were removed earlier. */
  readonly deleted: CollectedGarbage;
}

/**
 * Removes generations from a store in one commit. A later call, of this function or of `collectStore`, deletes their files
 * when `graceMilliseconds` have passed. This call deletes the files whose time has passed already.
 * @throws UsageError ERR_STORE or ERR_OPTION; SystemError; VerificationError; AbortError
 */
export async function expireStore(
  storeDirectory: string,
  rule: ExpireRule,
  options: GarbageOptions = {},
): Promise<ExpireReport> {
  requireKnownOptions('expireStore()', options, GARBAGE_OPTIONS);
  const grace = graceOf(options);
  const expiry = expiryOf(rule);
  const snapshot = openSnapshot(storeDirectory);
  await yieldAndCheckAbort(options.signal);
  const expired = await expireGenerations(snapshot, expiry);
  const deleted = await collectGarbage(snapshot, grace, options.signal);
  return { expired: expired.map(summaryOf), deleted };
}

/**
 * Deletes files that a store no longer needs: removed pile sets, files of writers that ended without a commit, and old
 * manifests. Others may read and write the store meanwhile.
 * @throws UsageError ERR_STORE or ERR_OPTION; SystemError; VerificationError; AbortError
 */
export async function collectStore(storeDirectory: string, options: CollectOptions = {}): Promise<CollectedGarbage> {
  requireKnownOptions('collectStore()', options, COLLECT_OPTIONS);
  const grace = graceOf(options);
  const { signal, giveUpLost } = options;
  return await collectGarbage(openEvenIfLost(storeDirectory).snapshot, grace, signal, giveUpLost);
}

export function graceOf({ graceMilliseconds }: GarbageOptions): number | undefined {
  if (graceMilliseconds === undefined || graceMilliseconds >= 0) return graceMilliseconds;
  throw new UsageError(`\`graceMilliseconds\` is ${graceMilliseconds}; expected a number of at least 0`);
}

function expiryOf(rule: ExpireRule): ExpiryRule {
  requireKnownOptions('`rule`', rule, EXPIRE_RULES);
  const names = Object.keys(rule);
  if (names.length !== 1) {
    const given = names.map((name) => `\`${name}\``).join(' and ') || 'nothing';
    throw new UsageError(`\`rule\`: expected one of ${Object.keys(EXPIRE_RULES).join(', ')}, got ${given}`);
  }
  if ('keepLast' in rule) {
    requireWhole('`rule.keepLast`', rule.keepLast, 0);
    return rule;
  }
  if ('keepMilliseconds' in rule) {
    if (rule.keepMilliseconds >= 0) return { before: Date.now() - rule.keepMilliseconds };
    throw new UsageError(`\`rule.keepMilliseconds\` is ${rule.keepMilliseconds}; expected a number of at least 0`);
  }
  const before = timeOfDate(rule.before);
  if (before !== undefined) return { before };
  throw new UsageError(
    `\`rule.before\` ${rule.before}: expected a date, alone or with a time, such as 2026-11-01 or 2026-11-01T06:00Z`,
  );
}
