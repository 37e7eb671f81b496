/**
 * `splits`: cuts the order into splits. Pure. A split with a share has a range of the key space, so a record stays in its
 * split when inputs with ids are added. A split with a number of records has a range of ranks. With `splitBy`, a value of
 * the record chooses: the kernel's `splitByValue` moves its key into the range of the split.
 */
import { InputError, UsageError } from '../errors.js';
import type { ValueRule } from '../formats/selector.js';
import { type Expected, inEachScenario, SCENARIO_SIGN, type Scenario, spreadOfCount } from '../plan/sampled-records.js';
import type { ShardRule } from '../plan/shard-cuts.js';
import { type HeadSpec, isHead } from './head.js';
import { type CopySpec, mayCopy } from './mix.js';
import type { SectionSpec } from './sections.js';

/** A part of the records, with shards of its own. */
export type SplitRule =
  /** About this part of all records: more than 0, at most 1. The shares of all splits add up to 1. */
  | { readonly name: string; readonly share: number }
  /** Exactly this many records, at least 1. One other split has the rest. */
  | { readonly name: string; readonly records: number }
  /** The part that the other splits leave. */
  | { readonly name: string; readonly rest: true };

export interface SplitSpec {
  readonly rule: SplitRule;
  readonly shards: ShardRule;
}

export interface ShardSpec {
  /**
   * The rule that cuts the output. Undefined: one output. With splits: how each is cut, or the number of all shards
   * together.
   */
  readonly shards: ShardRule | undefined;
  readonly shardPrefix: string;
  readonly splits: readonly SplitSpec[] | undefined;
}

/** How the order is cut into files. */
export interface CutSpec extends ShardSpec, SectionSpec {
  /** The value that chooses the split of a record. Undefined: none does. */
  readonly splitBy: ValueRule | undefined;
}

export const UNCUT: CutSpec = { shards: undefined, shardPrefix: '', splits: undefined, splitBy: undefined };

/** Returns whether values choose the splits. */
export function isSplitByValue({ splitBy }: Pick<CutSpec, 'splitBy'>): boolean {
  return splitBy !== undefined;
}

/**
 * Returns whether the key of its first copy chooses the split of a record: other copies have keys of their own, and would
 * come into several splits.
 */
export function doCopiesFollow(keep: HeadSpec & CopySpec, cut: CutSpec): boolean {
  return cut.splits !== undefined && !isSplitByValue(cut) && !areRanksCut(keep, cut) && mayCopy(keep);
}

/** Returns whether splits have ranges of ranks. */
function areRanksCut(keep: HeadSpec, { splits = [] }: ShardSpec): boolean {
  return isHead(keep) || splits.some(({ rule }) => 'records' in rule);
}

/** Fails if a split has a number of records. @param option that keeps records together. */
export function requireShares(option: string, splits: readonly Pick<SplitSpec, 'rule'>[]): void {
  if (!splits.some(({ rule }) => 'records' in rule)) return;
  throw new UsageError(
    `${option} keeps records together, so no split can have an exact number: give \`splits\` shares`,
  );
}

/** Refuses copies where splits have ranges of ranks: copies of a record would come into several of them. */
export function requireCopiesTogether(keep: HeadSpec & CopySpec, cut: CutSpec): void {
  if (cut.splits === undefined || isSplitByValue(cut) || !areRanksCut(keep, cut) || !mayCopy(keep)) return;
  const { weightBy, mix } = keep;
  throw new UsageError(
    `copies that ${weightBy === undefined ? mix.option : '`weightBy`'} makes of a record would be in several of \`splits\`: these have numbers of records, or \`headCount\` cuts them; give shares alone, or ${weightBy === undefined ? 'factors' : 'a `weightCap`'} of at most 1`,
  );
}

/** The keys at which all splits but the first begin. They must have shares. */
export function splitKeys(splits: readonly Pick<SplitSpec, 'rule'>[]): BigUint64Array {
  const { before, sum } = sharesBefore(splits.map(({ rule }) => rule));
  return BigUint64Array.from(before, (each) => (each << 64n) / sum);
}

/** The bounds at which all splits but the first begin: keys, or ranks in the whole order. They ascend. */
export type PartBounds =
  | { readonly by: 'key'; readonly bounds: readonly bigint[] }
  | { readonly by: 'rank'; readonly bounds: readonly number[] };

/** A share in decimals: `numerator` / 10^`digits`. */
interface Decimal {
  readonly numerator: bigint;
  readonly digits: number;
}

/** A double in the decimals that stand for it. */
function decimalOf(value: number): Decimal {
  const [, whole = '', fraction = '', exponent = '0'] = /^(\d+)(?:\.(\d+))?(?:e([+-]\d+))?$/.exec(String(value)) ?? [];
  const digits = fraction.length - Number(exponent);
  const numerator = BigInt(whole + fraction);
  return digits < 0 ? { numerator: numerator * 10n ** BigInt(-digits), digits: 0 } : { numerator, digits };
}

/** The shares as whole numbers of one unit, and what they must add up to. The rest has what is left. */
function wholeShares(rules: readonly SplitRule[]): { readonly shares: readonly bigint[]; readonly sum: bigint } {
  const decimals = rules.map((rule) => ('share' in rule ? decimalOf(rule.share) : undefined));
  const digits = Math.max(0, ...decimals.map((decimal) => decimal?.digits ?? 0));
  const sum = 10n ** BigInt(digits);
  const shares = decimals.map((decimal) =>
    decimal === undefined ? 0n : decimal.numerator * 10n ** BigInt(digits - decimal.digits),
  );
  const rest = sum - shares.reduce((all, share) => all + share, 0n);
  return { shares: rules.map((rule, i) => ('rest' in rule ? rest : (shares[i] ?? 0n))), sum };
}

/** Refuses shares that do not add up to 1, or that leave nothing for the rest. */
export function requireWholeOrder(rules: readonly SplitRule[]): void {
  if (rules.some((rule) => 'records' in rule)) return;
  const { shares, sum } = wholeShares(rules);
  const rest = rules.findIndex((rule) => 'rest' in rule);
  const total = shares.reduce((all, share) => all + share, 0n);
  if (rest === -1 ? total === sum : (shares[rest] ?? 0n) > 0n) return;
  const given = Number(rest === -1 ? total : total - (shares[rest] ?? 0n)) / Number(sum);
  throw new UsageError(
    rest === -1
      ? `the shares of \`splits\` add up to ${given}; expected 1: give ${rules.at(-1)?.name} the rest (${rules.at(-1)?.name}=rest)`
      : `the shares of \`splits\` add up to ${given} and leave nothing for the rest; expected less than 1`,
  );
}

/** @param records of the output. Those of a head have small keys, so shares are parts of their number. */
export function splitBounds(splits: readonly SplitSpec[], records: number, keep: HeadSpec): PartBounds {
  const rules = splits.map(({ rule }) => rule);
  if (rules.some((rule) => 'records' in rule)) return { by: 'rank', bounds: boundsByCounts(rules, records) };
  if (!isHead(keep)) return { by: 'key', bounds: [...splitKeys(splits)] };
  const { before, sum } = sharesBefore(rules);
  return { by: 'rank', bounds: before.map((each) => Number((each * BigInt(records)) / sum)) };
}

/** Returns what lies before each split but the first, as whole numbers of one unit, and what all shares add up to. */
function sharesBefore(rules: readonly SplitRule[]): { readonly before: readonly bigint[]; readonly sum: bigint } {
  const { shares, sum } = wholeShares(rules);
  let share = 0n;
  const before = shares.slice(0, -1).map((each) => {
    share += each;
    return share;
  });
  return { before, sum };
}

function boundsByCounts(rules: readonly SplitRule[], records: number): number[] {
  const requested = countsOf(rules);
  if (requested > records) {
    throw new InputError(
      'ERR_TOO_FEW_RECORDS',
      `there are ${records} records, and \`splits\` asks for ${requested}; ask for fewer`,
    );
  }
  let before = 0;
  return rules.slice(0, -1).map((rule) => {
    before += 'records' in rule ? rule.records : records - requested;
    return before;
  });
}

/** The size of a split. Undefined: records come into it together, with equal values or as copies. */
type SizeOfSplit = { readonly count: (all: number) => number } | { readonly share: number } | undefined;

/** How many of all records each split has: so many, or each record with this chance. */
export function sizesOfSplits(keep: HeadSpec & CopySpec, cut: CutSpec): readonly SizeOfSplit[] {
  const rules = (cut.splits ?? []).map(({ rule }) => rule);
  const shares = rules.reduce((sum, rule) => sum + ('share' in rule ? rule.share : 0), 0);
  const counts = countsOf(rules);
  return rules.map((rule) => {
    if ('records' in rule) return { count: () => rule.records };
    if (counts > 0) return { count: (all) => Math.max(0, all - counts) };
    if (isSplitByValue(cut) || doCopiesFollow(keep, cut)) return undefined;
    return { share: 'share' in rule ? rule.share : Math.max(0, 1 - shares) };
  });
}

/** @param records of the output; undefined: it has no end, or too little is known. */
export function expectSplits(
  keep: HeadSpec & CopySpec,
  cut: CutSpec,
  records: Expected | undefined,
): readonly PreviewedSplit[] | undefined {
  const sizes = sizesOfSplits(keep, cut);
  return cut.splits?.map(({ rule: { name } }, i) => {
    const size = sizes[i];
    if (size === undefined || records === undefined) return { name };
    const recordsIn = (each: Scenario) => {
      const all = records[each];
      if ('count' in size) return size.count(all);
      // The first records are divided by their number.
      const variance = isHead(keep) ? 0 : all * size.share * (1 - size.share);
      return Math.max(0, Math.min(all, all * size.share + spreadOfCount(each, variance) + SCENARIO_SIGN[each]));
    };
    return { name, records: inEachScenario(recordsIn) };
  });
}

export interface PreviewedSplit {
  readonly name: string;
  readonly records?: Expected | undefined;
}

function countsOf(rules: readonly SplitRule[]): number {
  return rules.reduce((sum, rule) => sum + ('records' in rule ? rule.records : 0), 0);
}
