/**
 * What the content of a record decides: which records are equal, and which split a record is in. Of the two, at most one
 * asks for a value of the record.
 */
import type { FoundHeader } from '../formats/header.js';
import { type ValueRule, withColumnNumber } from '../formats/selector.js';
import { deriveSplitKey } from '../keys.js';
import { isDistinct, type UniqueSpec } from './distinct.js';
import { type CutSpec, splitKeys } from './splits.js';

interface RuledSpec {
  readonly key: { readonly seed: string };
  readonly keep: UniqueSpec;
  readonly cut: CutSpec;
}

export interface ContentRule {
  /** Whether of equal records one stays. */
  readonly isDistinct: boolean;
  /** Chooses the split, if there are bounds; else it tells which records are equal. Undefined: all bytes do. */
  readonly value: ValueRule | undefined;
  /** Undefined: no value chooses a split. */
  readonly splits: SplitBounds | undefined;
}

interface SplitBounds {
  /** Keys at which all splits but the first begin. */
  readonly bounds: BigUint64Array;
  /** Of the draw that puts the records of a value into a split. */
  readonly key: bigint;
}

/** The value of a record that a rule asks for. */
export function valueRuleOf({ keep: { unique }, cut: { splitBy } }: Omit<RuledSpec, 'key'>): ValueRule | undefined {
  return splitBy ?? unique?.by;
}

/** The same spec with the numbers of columns, once the header is known that names them. */
export function withColumns<Spec extends RuledSpec>(spec: Spec, header: FoundHeader | undefined): Spec {
  const { unique } = spec.keep;
  const { splitBy } = spec.cut;
  return {
    ...spec,
    keep: { ...spec.keep, unique: unique && { by: unique.by && withColumnNumber(unique.by, header) } },
    cut: { ...spec.cut, splitBy: splitBy && withColumnNumber(splitBy, header) },
  };
}

/** Undefined: keys follow from places alone, and all records stay. */
export function contentRuleOf(spec: RuledSpec): ContentRule | undefined {
  const { splitBy, splits } = spec.cut;
  if (splitBy === undefined && !isDistinct(spec.keep)) return undefined;
  return {
    isDistinct: isDistinct(spec.keep),
    value: valueRuleOf(spec),
    splits: splitBy && { bounds: splitKeys(splits ?? []), key: deriveSplitKey(spec.key.seed) },
  };
}
