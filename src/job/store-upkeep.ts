/** Upkeep of stores: expires generations, and deletes files that the store no longer needs. Reads no record. */
import { requireWhole, UsageError } from '../errors.js';
import { type OptionNames, requireKnownOptions } from '../known-options.js';
import { hearSignals } from '../pause.js';
import { type CollectedGarbage, collectGarbage } from '../store/collect-garbage.js';
import {
  type ExpiryRule,
  expireGenerations,
  type GenerationSummary,
  summaryOf,
  timeOfDate,
} from '../store/generations.js';
import { openRemains, openSnapshot } from '../store/store-snapshot.js';

export interface GarbageOptions {
  /**
   * How many milliseconds to keep pile sets that were removed from the store, for readers that started earlier, and files
   * of writers whose state is unknown, such as writers on other machines. Default 86,400,000, one day.
   */
  readonly graceMilliseconds?: number | undefined;
  /** Stops the call, which then throws an AbortError. A later call deletes the rest. */
  readonly signal?: AbortSignal | undefined;
}

export interface CollectOptions extends GarbageOptions {
  /**
   * Gives up what a lost manifest named: the store continues from the newest manifest that is left, and pile sets that
   * belong to no state and to no writer are deleted, whatever their age. Default: a store whose newest manifest is lost is
   * an error, and such pile sets stay.
   */
  readonly giveUpLost?: boolean | undefined;
}

/** Which generations to expire. The time of a generation is the time of its first commit. */
export type ExpireRule =
  /** Older than this date, alone or with a time: 2026-11-01 or 2026-11-01T06:00Z. Default zone: UTC. */
  | { readonly before: string }
  /** Older than this many milliseconds. */
  | { readonly keepMilliseconds: number }
  /** All but this many of the newest generations. */
  | { readonly keepLast: number };

const GARBAGE_OPTIONS: OptionNames<GarbageOptions> = { graceMilliseconds: true, signal: true };
const COLLECT_OPTIONS: OptionNames<CollectOptions> = { ...GARBAGE_OPTIONS, giveUpLost: true };
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
  await hearSignals(options.signal);
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
  return await collectGarbage(openRemains(storeDirectory).snapshot, grace, signal, giveUpLost);
}

function graceOf({ graceMilliseconds }: GarbageOptions): number | undefined {
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
