/** Says what the content of a record decides: how often it comes, which records are equal or together, and which split or section it is in. */

import { deriveSplitKey } from '../floor/keys.js';
import type { FoundHeader } from '../formats/header.js';
import { type SeekColumn, type ValueRule, withColumnNumber, withRowColumn } from '../formats/selector.js';
import { type BundleSpec, isBundled } from './bundles.js';
import { isDistinct, type UniqueSpec } from './distinct.js';
import type { HeadSpec } from './head.js';
import type { CopySpec } from './mix.js';
import type { SectionRule } from './sections.js';
import { type CutSpec, doCopiesFollow, splitKeys } from './splits.js';
import type { SumSpec } from './sum.js';
import { MOST_NUMBER } from './weight-by.js';
import type { Weight } from './weights.js';

interface RuledSpec {
  readonly key: { readonly seed: string };
  readonly keep: UniqueSpec & BundleSpec & CopySpec & HeadSpec & SumSpec;
  readonly cut: CutSpec;
}

/** A value of a record decides one of these, or is added up. */
export type ValuePurpose = 'equal' | 'bundle' | 'split' | 'weight' | 'section' | 'sum';

export interface ValueUse {
  readonly purpose: ValuePurpose;
  readonly rule: ValueRule;
}

export interface ContentRule {
  /** True if of equal records one stays. */
  readonly isDistinct: boolean;
  /** True if records of one value stay together. Absent: no. */
  readonly isBundled?: boolean | undefined;
  /** The values of records that decide, at most one for each purpose. */
  readonly values: readonly ValueUse[];
  /** The bounds of splits that values or first copies choose. Undefined: each key chooses the split of its record. */
  readonly splits: SplitBounds | undefined;
  /** The rule that divides records into sections. Absent: none does. */
  readonly sections?: SectionRule | undefined;
  /** The most that a number of a record may be; larger ones count as that if it is a cap. Absent: no number weighs a record. */
  readonly limit?: NumberLimit | undefined;
}

export interface NumberLimit {
  readonly most: Weight;
  readonly isCap: boolean;
  /** The number of records whose files have none. Absent: there must be one. */
  readonly missing?: string | undefined;
}

interface SplitBounds {
  /** Keys at which all splits but the first begin. */
  readonly bounds: BigUint64Array;
  /** The key of the draw that puts the records of a value into a split. Undefined: copies follow the first of a record. */
  readonly key: bigint | undefined;
}

/** Returns whether a value of each record is added up. */
export function isSummed(rule: ContentRule | undefined): boolean {
  return rule?.values.some(({ purpose }) => purpose === 'sum') === true;
}

/** Returns the values of records that the rules ask for. */
export function valueUsesOf({ keep, cut }: Omit<RuledSpec, 'key'>): readonly ValueUse[] {
  const { unique, bundleBy: bundle, weightBy, sum } = keep;
  const { splitBy: split, each } = cut;
  const rules = { equal: unique?.by, bundle, split, weight: weightBy?.value, section: each?.value, sum };
  return PURPOSES.flatMap((purpose) => {
    const rule = rules[purpose];
    return rule === undefined ? [] : [{ purpose, rule }];
  });
}

const PURPOSES: readonly ValuePurpose[] = ['equal', 'bundle', 'split', 'weight', 'section', 'sum'];

/** Returns the spec with each selector changed. */
function withSelectors<Spec extends RuledSpec>(
  spec: Spec,
  change: (rule: ValueRule, purpose: ValuePurpose) => ValueRule,
): Spec {
  const { unique, bundleBy, weightBy, sum } = spec.keep;
  const { splitBy, each } = spec.cut;
  return {
    ...spec,
    keep: {
      ...spec.keep,
      unique: unique && { by: unique.by && change(unique.by, 'equal') },
      bundleBy: bundleBy && change(bundleBy, 'bundle'),
      weightBy: weightBy && { ...weightBy, value: weightBy.value && change(weightBy.value, 'weight') },
      sum: sum && change(sum, 'sum'),
    },
    cut: {
      ...spec.cut,
      splitBy: splitBy && change(splitBy, 'split'),
      each: each && { ...each, value: change(each.value, 'section') },
    },
  };
}

/** Returns the spec whose selectors have numbers of columns in place of names, which the header has. */
export function withColumns<Spec extends RuledSpec>(spec: Spec, header: FoundHeader | undefined): Spec {
  return withSelectors(spec, (rule) => withColumnNumber(rule, header));
}

/** Returns the spec whose selectors have columns of rows, found by `seek`, in place of fields. */
export function withRowColumns<Spec extends RuledSpec>(spec: Spec, seek: SeekColumn): Spec {
  return withSelectors(spec, (rule, purpose) =>
    withRowColumn(rule, seek, purpose === 'weight' || purpose === 'sum' ? 'number' : 'value'),
  );
}

/**
 * Returns whether the records that are kept of equal ones are scattered once more: how often they come, or the value that
 * chooses their split, is of the kept ones alone, while the keys by which equal records meet follow from what they share.
 */
export function isScatteredTwice({ keep, cut: { splitBy } }: Omit<RuledSpec, 'key'>): boolean {
  const { unique, weightBy, mix } = keep;
  const isSplitApart =
    unique?.by !== undefined && splitBy !== undefined && unique.by.selector.text !== splitBy.selector.text;
  return unique !== undefined && (isSplitApart || weightBy !== undefined || mix.weights.length > 0);
}

/** Returns whether stored records of the first scatter tell the groups of their inputs, as second keys. */
function storesGroups(spec: Omit<RuledSpec, 'key'>): boolean {
  return isScatteredTwice(spec) && spec.keep.mix.weights.length > 0;
}

/** Returns the rule by which records are weighed, and the unit of a mix is counted. Undefined: no number in them matters. */
export function countRuleOf(spec: RuledSpec): ContentRule | undefined {
  const { values: all = [], limit } = wholeRuleOf(spec) ?? {};
  const values = all.filter(({ purpose, rule }) => purpose === 'weight' || rule.isUnit === true);
  return limit || values.length > 0 ? { isDistinct: false, values, splits: undefined, limit } : undefined;
}

/**
 * Returns whether stored records have second keys: the groups of their inputs, their own keys beside those of sections, or the
 * places of the values that make bundles of them.
 */
export function hasSecondKeys(spec: Omit<RuledSpec, 'key'>): boolean {
  return storesGroups(spec) || spec.cut.each !== undefined || isBundled(spec.keep);
}

/** @param hasIds whether the inputs have ids of their own: then the order in which they are read decides nothing. */
export function orderRuleOf(spec: RuledSpec, hasIds: boolean) {
  return { content: contentRuleOf(spec), tiesByBytes: hasIds || isDistinct(spec.keep) || isBundled(spec.keep) };
}

/** Returns the rule of the only scatter, or of the first. Undefined: keys follow from places alone, and all records stay. */
export function contentRuleOf(spec: RuledSpec): ContentRule | undefined {
  const rule = wholeRuleOf(spec);
  if (rule === undefined || !isScatteredTwice(spec)) return rule;
  const values = rule.values.filter(({ purpose }) => purpose === 'equal' || purpose === 'sum');
  return { isDistinct: true, values, splits: undefined };
}

/** Returns the rule of the second scatter, of the records that are kept. Undefined: there is none. */
export function keptRuleOf(spec: RuledSpec): ContentRule | undefined {
  const rule = wholeRuleOf(spec);
  return rule !== undefined && isScatteredTwice(spec) ? { ...rule, isDistinct: false } : undefined;
}

function wholeRuleOf(spec: RuledSpec): ContentRule | undefined {
  const { keep, cut, key } = spec;
  const { splitBy, splits = [], each } = cut;
  const { weightBy, sum } = keep;
  const isFollowed = doCopiesFollow(keep, cut);
  const hasValues = [splitBy, weightBy, each, sum].some((rule) => rule !== undefined);
  if (!hasValues && !isFollowed && !isDistinct(keep) && !isBundled(keep)) return undefined;
  return {
    isDistinct: isDistinct(keep),
    isBundled: isBundled(keep),
    values: valueUsesOf(spec),
    splits:
      splitBy === undefined && !isFollowed
        ? undefined
        : { bounds: splitKeys(splits), key: splitBy && deriveSplitKey(key.seed) },
    sections: each,
    limit: weightBy && {
      most: weightBy.cap ?? MOST_NUMBER,
      isCap: weightBy.cap !== undefined,
      missing: weightBy.beside?.missing,
    },
  };
}
