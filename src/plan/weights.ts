/**
 * Weights: how often the records of an input come. A weight is exact: a number of whole copies of each record, and one more
 * copy of those whose draw is below a chance, a part of 2^64. Pure.
 */

/** How often each record of an input comes. */
export interface Weight {
  /** Whole copies of each record. */
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

/** Each record once. */
export const ONCE: Weight = { copies: 1, chance: 0n };

/** @returns undefined: the text is no decimal number. */
export function fractionOf(text: string): Fraction | undefined {
  const [, whole = '', part = '', exponent = '0'] = DECIMAL.exec(text) ?? [];
  if (whole === '' && part === '') return undefined;
  const power = Number(exponent) - part.length;
  const digits = BigInt(whole + part);
  return power >= 0
    ? { numerator: digits * 10n ** BigInt(power), denominator: 1n }
    : { numerator: digits, denominator: 10n ** BigInt(-power) };
}

/** The nearest number, or one beside it. */
export function numberOf({ numerator, denominator }: Fraction): number {
  const whole = numerator / denominator;
  return Number(whole) + Number(numerator - whole * denominator) / Number(denominator);
}

/** A chance is rounded down to a part of 2^64. */
export function weightOf({ numerator, denominator }: Fraction): Weight {
  const copies = numerator / denominator;
  return { copies: Number(copies), chance: ((numerator - copies * denominator) << 64n) / denominator };
}

/** As a number, for estimates. */
export function factorOf({ copies, chance }: Weight): number {
  return copies + Number(chance) / 2 ** 64;
}

/** Whether the records are left out: they are not even read. */
export function isNothing({ copies, chance }: Weight): boolean {
  return copies === 0 && chance === 0n;
}

/** The most copies that a record may have. */
export function mostCopiesOf({ copies, chance }: Weight): number {
  return copies + (chance === 0n ? 0 : 1);
}
