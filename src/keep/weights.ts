/**
 * Weights: how often the records of an input come. A weight is exact: a number of whole copies of each record, and one more
 * copy of those whose draw is below a chance, a part of 2^64. Pure.
 */
import { UsageError } from '../errors.js';

export interface Weight {
  readonly copies: number;
  /** Each record has one more copy with a chance of this / 2^64. */
  readonly chance: bigint;
}

/** An exact number of at least 0. */
export interface Fraction {
  readonly numerator: bigint;
  readonly denominator: bigint;
}

/** More are a mistake: a file that must come as often as that is better made once. */
export const MOST_COPIES = 1_000_000;
const DECIMAL = /^(\d{0,30})(?:\.(\d{0,30}))?(?:e([+-]?\d{1,2}))?$/i;

export const ONCE: Weight = { copies: 1, chance: 0n };

export function fractionOf(text: string): Fraction | undefined {
  const [, whole = '', part = '', exponent = '0'] = DECIMAL.exec(text) ?? [];
  if (whole === '' && part === '') return undefined;
  const power = Number(exponent) - part.length;
  const digits = BigInt(whole + part);
  return power >= 0
    ? { numerator: digits * 10n ** BigInt(power), denominator: 1n }
    : { numerator: digits, denominator: 10n ** BigInt(-power) };
}

/** Sums of a field count 15 digits after the point; the kernel leaves out the others. */
export const PARTS_OF_ONE = 10n ** 15n;

export function fractionOfParts(parts: bigint): Fraction {
  return { numerator: parts, denominator: PARTS_OF_ONE };
}

/** The nearest number, or one beside it. */
export function numberOf({ numerator, denominator }: Fraction): number {
  const whole = numerator / denominator;
  return Number(whole) + Number(numerator - whole * denominator) / Number(denominator);
}

/** Returns the weight of a factor. A chance is rounded down to a part of 2^64. */
export function weightOf({ numerator, denominator }: Fraction): Weight {
  const copies = numerator / denominator;
  return { copies: Number(copies), chance: ((numerator - copies * denominator) << 64n) / denominator };
}

/** Returns the weight as a number, for estimates. */
export function factorOf({ copies, chance }: Weight): number {
  return copies + Number(chance) / 2 ** 64;
}

/** Returns whether the records are left out: they are not even read. */
export function isNothing({ copies, chance }: Weight): boolean {
  return copies === 0 && chance === 0n;
}

export function mostCopiesOf({ copies, chance }: Weight): number {
  return copies + (chance === 0n ? 0 : 1);
}

export interface ShareGroup {
  readonly name: string;
  /** The share in relation to those of the others; more than 0. */
  readonly share: Fraction;
  readonly maxEpochs: Fraction;
}

export interface ShareMix {
  /** The unit of the shares: `records`, `bytes`, or the sum of a field, as in `.n_tokens`. */
  readonly unit: string;
  /** The total of all shares. Undefined: as large as the epochs of the groups allow. */
  readonly total: bigint | undefined;
  readonly groups: readonly ShareGroup[];
}

const NONE: Fraction = { numerator: 0n, denominator: 1n };
const LONG_AMOUNT = 100_000n;

/** @param amounts of each group, in the unit of the mix. */
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
        `\`mix\`: the group ${name} has ${amountText(amount)} ${unit} and its share asks for ${amountText(share)}, ${epochs} times as many; its max_epochs allows ${amountText(maxEpochs)} times: raise max_epochs, or lower its share or the total`,
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

/** All digits before the point of a large number, else six digits that count. */
function amountText(amount: Fraction): string {
  const { numerator, denominator } = amount;
  const whole = numerator / denominator;
  return whole >= LONG_AMOUNT ? String(whole) : String(Number(numberOf(amount).toPrecision(6)));
}
