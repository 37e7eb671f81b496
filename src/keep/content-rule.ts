/**
 * Says what the content of a record decides: which records are equal, and which split a record is in. Of the two, at
 * most one asks for a value of the record.
 */

import { deriveSplitKey } from '../floor/keys.js';
import type { FoundHeader } from '../formats/header.js';
import { type SeekColumn, type ValueRule, withColumnNumber, withRowColumn } from '../formats/selector.js';
import { equalityValueOf, isDistinct, type UniqueSpec, withColumn } from './distinct.js';
import { type MixSpec, withUnitColumn } from './mix.js';
import { type CutSpec, splitKeys } from './splits.js';

interface RuledSpec {
  readonly key: { readonly seed: string };
  readonly keep: UniqueSpec;
  readonly cut: CutSpec;
}

export interface ContentRule {
  /** True if of equal records one stays. */
  readonly isDistinct: boolean;
  /** Chooses the split, if there are bounds; else it tells which records are equal. Undefined: all bytes do. */
  readonly value: ValueRule | undefined;
  /** The bounds of splits that values choose. Undefined: no value chooses a split. */
  readonly splits: SplitBounds | undefined;
}

interface SplitBounds {
  /** Keys at which all splits but the first begin. */
  readonly bounds: BigUint64Array;
  /** The key of the draw that puts the records of a value into a split. */
  readonly key: bigint;
}

/** The value of a record that a rule asks for. */
export function valueRuleOf({ keep, cut }: Omit<RuledSpec, 'key'>): ValueRule | undefined {
  return cut.splitBy ?? equalityValueOf(keep);
}

/** Returns the spec whose selectors have numbers of columns in place of names, which the header has. */
export function withColumns<Spec extends RuledSpec>(spec: Spec, header: FoundHeader | undefined): Spec {
  const { splitBy } = spec.cut;
  const cut = { ...spec.cut, splitBy: splitBy && withColumnNumber(splitBy, header) };
  return { ...spec, keep: withColumn(spec.keep, header), cut };
}

/** Returns the spec whose selectors and mix have columns of rows, found by `seek`, in place of fields. */
export function withRowColumns<Spec extends RuledSpec & { readonly keep: { readonly mix: MixSpec } }>(
  spec: Spec,
  seek: SeekColumn,
): Spec {
  const { unique, mix } = spec.keep;
  const { splitBy } = spec.cut;
  const by = unique?.by && withRowColumn(unique.by, seek);
  return {
    ...spec,
    keep: { ...spec.keep, unique: unique && { by }, mix: withUnitColumn(mix, seek) },
    cut: { ...spec.cut, splitBy: splitBy && withRowColumn(splitBy, seek) },
  };
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
    value: valueRuleOf(spec),
    splits: splitBy && { bounds: splitKeys(splits ?? []), key: deriveSplitKey(spec.key.seed) },
  };
}
