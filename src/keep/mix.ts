/** `weights` and `mix`: groups of inputs, and how often their records come. */
import { UsageError } from '../errors.js';
import type { NumberField } from '../formats/selector.js';
import { type CutSpec, isSplitByValue } from './splits.js';
import { mostCopiesOf, type ShareGroup, type ShareMix, type Weight } from './weights.js';

/** Inputs that have a weight or a share together. */
export interface InputGroup {
  readonly name: string;
  readonly globs: readonly string[];
}

export interface MixSpec {
  /** Empty: each record comes once, or `shares` say how often. */
  readonly weights: readonly (InputGroup & { readonly weight: Weight })[];
  readonly shares: ShareSpec | undefined;
  /** The option that the caller gave, in backquotes. */
  readonly option: '`weights`' | '`mix`';
  /** All of it in words, to compare it when a job is resumed. */
  readonly words: readonly string[];
}

export interface ShareSpec extends ShareMix {
  readonly groups: readonly (ShareGroup & InputGroup)[];
  /** The field whose sum is the unit; undefined if the unit is records or bytes. */
  readonly field: NumberField | undefined;
}

/** Copies have keys of their own, so they would come into several splits. */
export function requireNoCopies({ weights, shares, option }: MixSpec, cut: CutSpec): void {
  if (cut.splits === undefined || isSplitByValue(cut)) return;
  const hasCopies =
    weights.some(({ weight }) => mostCopiesOf(weight) > 1) ||
    shares?.groups.some(({ maxEpochs: most }) => most.numerator > most.denominator) === true;
  if (!hasCopies) return;
  throw new UsageError(
    `copies that ${option} makes of a record would be in several of \`splits\`; give factors of at most 1, or \`splitBy\` a value that tells records apart, such as an id`,
  );
}
