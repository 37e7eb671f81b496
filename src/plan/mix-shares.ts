/**
 * Turns target shares of groups into weights, exactly. With the amounts A, the shares s of their sum S and the total T, the
 * weight of a group is T * s / (S * A), which may be at most its epochs E. Without a total, T is the largest for which all
 * are: the least E * A * S / s. Pure.
 */
import { UsageError } from '../errors.js';
import { type Fraction, numberOf, type Weight, weightOf } from './weights.js';

export interface ShareGroup {
  readonly name: string;
  /** In relation to those of the others; more than 0. */
  readonly share: Fraction;
  /** The group may come so often. */
  readonly maxEpochs: Fraction;
}

export interface ShareMix {
  /** What the shares are shares of: `records`, `bytes`, or the sum of a field, as in `.n_tokens`. */
  readonly unit: string;
  /** Of the output; undefined: as large as the epochs of the groups allow. */
  readonly total: bigint | undefined;
  readonly groups: readonly ShareGroup[];
}

const NONE: Fraction = { numerator: 0n, denominator: 1n };
const LONG_AMOUNT = 100_000n;

/**
 * @param amounts of each group, in the unit.
 * @throws UsageError for a group that is empty, or too small for its share of the total.
 */
export function weightsOfShares({ unit, total, groups }: ShareMix, amounts: readonly Fraction[]): Weight[] {
  const parts = partsOf(groups);
  const sum = parts.reduce((all, part) => all + part, 0n);
  const sized = groups.map((group, i) => ({ ...group, part: parts[i] ?? 0n, amount: amounts[i] ?? NONE }));
  const empty = sized.find(({ amount }) => amount.numerator === 0n);
  if (empty !== undefined)
    throw new UsageError(`\`mix\`: the group ${empty.name} has 0 ${unit} and cannot have a share; leave it out`);
  const most = sized.map(({ part, amount, maxEpochs }) => ({
    numerator: maxEpochs.numerator * amount.numerator * sum,
    denominator: maxEpochs.denominator * amount.denominator * part,
  }));
  const least = most.reduce((a, b) => (b.numerator * a.denominator < a.numerator * b.denominator ? b : a));
  const target = total === undefined ? least : { numerator: total, denominator: 1n };
  return sized.map(({ name, part, amount, maxEpochs }, i) => {
    const { numerator, denominator } = target;
    const share = { numerator: numerator * part, denominator: denominator * sum };
    const weight = {
      numerator: share.numerator * amount.denominator,
      denominator: share.denominator * amount.numerator,
    };
    const limit = most[i] ?? least;
    if (numerator * limit.denominator > limit.numerator * denominator) {
      const epochs = Number((100n * weight.numerator) / weight.denominator) / 100;
      throw new UsageError(
        `\`mix\`: the group ${name} has ${amountText(amount)} ${unit}, and its share of the total is ${amountText(share)}, ${epochs} times as many; expected at most its max_epochs, ${amountText(maxEpochs)}: give it more, or a smaller total or share`,
      );
    }
    return weightOf(weight);
  });
}

/** The shares as whole numbers, in the same relation. */
function partsOf(groups: readonly ShareGroup[]): bigint[] {
  // Denominators are powers of ten: the largest is a multiple of all.
  const common = groups.reduce((most, { share }) => (share.denominator > most ? share.denominator : most), 1n);
  return groups.map(({ share }) => (share.numerator * common) / share.denominator);
}

/** All digits before the point, or six that count. */
function amountText(amount: Fraction): string {
  const { numerator, denominator } = amount;
  const whole = numerator / denominator;
  return whole >= LONG_AMOUNT ? String(whole) : String(Number(numberOf(amount).toPrecision(6)));
}
