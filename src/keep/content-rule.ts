/** Says what the content of a record decides: which records are equal, and which split a record is in. */

import { deriveSplitKey } from '../floor/keys.js';
import type { FoundHeader } from '../formats/header.js';
import { type SeekColumn, type ValueRule, withColumnNumber, withRowColumn } from '../formats/selector.js';
import { isDistinct, type UniqueSpec } from './distinct.js';
import { type MixSpec, withUnitColumn } from './mix.js';
import { type CutSpec, splitKeys } from './splits.js';

interface RuledSpec {
  readonly key: { readonly seed: string };
  readonly keep: UniqueSpec;
  readonly cut: CutSpec;
}

/** What a value of a record decides. */
export type ValuePurpose = 'equal' | 'split';

export interface ValueUse {
  readonly purpose: ValuePurpose;
  readonly rule: ValueRule;
}

export interface ContentRule {
  /** True if of equal records one stays. */
  readonly isDistinct: boolean;
  /** The values of records that decide, at most one for each purpose. */
  readonly values: readonly ValueUse[];
  /** The bounds of splits that values choose. Undefined: no value chooses a split. */
  readonly splits: SplitBounds | undefined;
}

interface SplitBounds {
  /** Keys at which all splits but the first begin. */
  readonly bounds: BigUint64Array;
  /** The key of the draw that puts the records of a value into a split. */
  readonly key: bigint;
}

/** Returns the values of records that the rules ask for. */
export function valueUsesOf({ keep, cut }: Omit<RuledSpec, 'key'>): readonly ValueUse[] {
  const rules = { equal: keep.unique?.by, split: cut.splitBy };
  return PURPOSES.flatMap((purpose) => {
    const rule = rules[purpose];
    return rule === undefined ? [] : [{ purpose, rule }];
  });
}

const PURPOSES: readonly ValuePurpose[] = ['equal', 'split'];

/** Returns the spec with each selector changed. */
function withSelectors<Spec extends RuledSpec>(spec: Spec, change: (rule: ValueRule) => ValueRule): Spec {
  const { unique } = spec.keep;
  const { splitBy } = spec.cut;
  return {
    ...spec,
    keep: { ...spec.keep, unique: unique && { by: unique.by && change(unique.by) } },
    cut: { ...spec.cut, splitBy: splitBy && change(splitBy) },
  };
}

/** Returns the spec whose selectors have numbers of columns in place of names, which the header has. */
export function withColumns<Spec extends RuledSpec>(spec: Spec, header: FoundHeader | undefined): Spec {
  return withSelectors(spec, (rule) => withColumnNumber(rule, header));
}

/** Returns the spec whose selectors and mix have columns of rows, found by `seek`, in place of fields. */
export function withRowColumns<Spec extends RuledSpec & { readonly keep: { readonly mix: MixSpec } }>(
  spec: Spec,
  seek: SeekColumn,
): Spec {
  const found = withSelectors(spec, (rule) => withRowColumn(rule, seek));
  return { ...found, keep: { ...found.keep, mix: withUnitColumn(spec.keep.mix, seek) } };
}

/** @param hasIds whether the inputs have ids of their own: then the order in which they are read decides nothing. */
export function orderRuleOf(spec: RuledSpec, hasIds: boolean) {
  return { content: contentRuleOf(spec), tiesByBytes: hasIds || isDistinct(spec.keep) };
}

/** Returns the rule. Undefined: keys follow from places alone, and all records stay. */
export function contentRuleOf(spec: RuledSpec): ContentRule | undefined {
  const { splitBy, splits } = spec.cut;
  if (splitBy === undefined && !isDistinct(spec.keep)) return undefined;
  return {
    isDistinct: isDistinct(spec.keep),
    values: valueUsesOf(spec),
    splits: splitBy && { bounds: splitKeys(splits ?? []), key: deriveSplitKey(spec.key.seed) },
  };
}
