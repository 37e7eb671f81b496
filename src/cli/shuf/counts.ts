/**
 * Whole numbers as GNU's programs read them: in decimal digits, behind blanks and a plus sign, and at most 64 bits.
 */
import { quote } from './quoted.js';
import { ShufError } from './shuf-error.js';

const MOST = 2n ** 64n - 1n;
const NUMBER = /^[ \t\n\v\f\r]*\+?(\d+)/;

interface Leading {
  readonly value: bigint;
  /** What stands behind the digits. */
  readonly rest: string;
}

/** @returns undefined: the text begins with no number. */
function leadingNumber(text: string): Leading | undefined {
  const match = NUMBER.exec(text);
  if (match === null) return undefined;
  const [all, digits = ''] = match;
  return { value: BigInt(digits), rest: text.slice(all.length) };
}

/** @returns undefined: more than 64 bits, which limit nothing. @throws ShufError */
export function parseHeadCount(text: string): bigint | undefined {
  const number = leadingNumber(text);
  if (number?.rest !== '') throw new ShufError(`invalid line count: ${quote(text)}`);
  return number.value > MOST ? undefined : number.value;
}

/** Whole numbers from `low` to `high`; none if `high` is `low` - 1. */
export interface NumberRange {
  readonly low: bigint;
  readonly high: bigint;
}

/** `LO-HI`. @throws ShufError */
export function parseRange(text: string): NumberRange {
  const invalid = (reason = '') => new ShufError(`invalid input range: ${quote(text)}${reason}`);
  const tooLarge = () => invalid(': Value too large for defined data type');
  const low = leadingNumber(text);
  if (low !== undefined && low.value > MOST) throw tooLarge();
  if (low?.rest.startsWith('-') !== true) throw invalid();
  const high = leadingNumber(low.rest.slice(1));
  if (high?.rest !== '') throw invalid();
  if (high.value > MOST) throw tooLarge();
  // A range of 2^64 numbers is one too many.
  if (high.value < low.value - 1n || high.value - low.value === MOST) throw invalid();
  return { low: low.value, high: high.value };
}
