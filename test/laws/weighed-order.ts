/**
 * The order of inputs with weights, from docs/ORDER.md, computed in the plainest way: make each copy of each record, key it,
 * sort.
 */
import { recordKey } from '../workers/kernel/kernel-twin.js';
import { keyOf } from './reference-order.js';

/** A decimal number as whole copies, and the chance of one more as a part of 2^64. */
export function copiesAndChance(factor: string): { readonly copies: number; readonly chance: bigint } {
  const [whole = '', part = ''] = factor.split('.');
  return { copies: Number(whole), chance: (BigInt(`0${part}`) << 64n) / 10n ** BigInt(part.length) };
}

export type CopiesAndChance = ReturnType<typeof copiesAndChance>;

/** A number as whole copies and a chance. */
export function copiesOfFraction(numerator: bigint, denominator: bigint): CopiesAndChance {
  const copies = numerator / denominator;
  return { copies: Number(copies), chance: ((numerator % denominator) << 64n) / denominator };
}

/** The weight that a decimal number in a record gives, times the factor of its input. */
export function weightOfNumber(number: string, factor = '1', cap = '1000000'): CopiesAndChance {
  return weightOfParts(partsOf(number), factor, cap);
}

/** The weight that a double beside a record gives, which is exactly that of its bits. */
export function weightOfDouble(number: number, factor = '1', cap = '1000000'): CopiesAndChance {
  const [bits = 0n] = new BigUint64Array(Float64Array.of(number).buffer);
  const digits = (bits & (2n ** 52n - 1n)) | (2n ** 52n);
  const power = (bits >> 52n) - 1075n + 64n;
  return weightOfParts(power < 0n ? digits >> -power : digits << power, factor, cap);
}

/** @param number in parts of 2^64. */
function weightOfParts(number: bigint, factor: string, cap: string): CopiesAndChance {
  const least = (a: bigint, b: bigint) => (a < b ? a : b);
  const parts = least(number, partsOf(cap)) * partsOf(factor, 40);
  return { copies: Number(parts >> 128n), chance: (parts >> 64n) & (2n ** 64n - 1n) };
}

/** A decimal number, of which so many digits after the point count, in parts of 2^64. */
function partsOf(text: string, digits = 15): bigint {
  const [, whole = '', part = '', exponent = '0'] = /^(\d*)\.?(\d*)(?:e([+-]?\d+))?$/i.exec(text) ?? [];
  const power = Number(exponent) - part.length + digits;
  const counted =
    power < 0 ? BigInt(whole + part) / 10n ** BigInt(-power) : BigInt(whole + part) * 10n ** BigInt(power);
  return (counted << 64n) / 10n ** BigInt(digits);
}

/** What docs/ORDER.md says about shares. */
export interface PlainShares {
  /** Of each group, whole numbers. */
  readonly shares: readonly bigint[];
  readonly maxEpochs: readonly bigint[];
  /** Records or bytes of each group. */
  readonly amounts: readonly bigint[];
  readonly total: bigint | undefined;
}

/** @returns undefined: a group is too small. */
export function weightsOfPlainShares({
  shares,
  maxEpochs,
  amounts,
  total,
}: PlainShares): CopiesAndChance[] | undefined {
  const sum = shares.reduce((all, share) => all + share, 0n);
  /** How often group i comes if group j comes as often as it may, or if there is a total: numerator and denominator. */
  const weightOf = (i: number, j: number | undefined): [bigint, bigint] => {
    const of = (list: readonly bigint[], at: number) => list[at] ?? 0n;
    if (j === undefined) return [(total ?? 0n) * of(shares, i), sum * of(amounts, i)];
    return [of(maxEpochs, j) * of(amounts, j) * of(shares, i), of(shares, j) * of(amounts, i)];
  };
  const leaders = total === undefined ? [...shares.keys()] : [undefined];
  for (const leader of leaders) {
    const weights = shares.map((_, i) => weightOf(i, leader));
    if (weights.every(([numerator, denominator], i) => numerator <= (maxEpochs[i] ?? 0n) * denominator))
      return weights.map(([numerator, denominator]) => copiesOfFraction(numerator, denominator));
  }
  return undefined;
}

/**
 * @param recordsOfInputs of each input all that it holds.
 * @param factors of each input, as a decimal number or as copies and a chance; or of each record.
 * @param headerBytes before the first record of each input.
 * @param bounds the keys at which splits begin, the first of them 0, and 2^64: copies follow the first one of their record.
 */
export function orderCopies(
  recordsOfInputs: readonly (readonly Buffer[])[],
  factors: readonly (string | CopiesAndChance)[] | ((record: Buffer, ordinal: number) => CopiesAndChance),
  seed: string,
  headerBytes: readonly number[] = [],
  bounds: readonly bigint[] = [],
): Buffer[] {
  return keyedCopies(recordsOfInputs, factors, seed, headerBytes, bounds).map(({ record }) => record);
}

/** Returns the copies with their keys, in their order. */
export function keyedCopies(
  recordsOfInputs: readonly (readonly Buffer[])[],
  factors: Parameters<typeof orderCopies>[1],
  seed: string,
  headerBytes: readonly number[],
  bounds: readonly bigint[],
): { readonly key: bigint; readonly record: Buffer }[] {
  const keyed = recordsOfInputs.flatMap((records, ordinal) => {
    const ofInput = keyOf(seed, String(ordinal));
    const factor = typeof factors === 'function' ? undefined : (factors[ordinal] ?? '1');
    const ofAll = typeof factor === 'string' ? copiesAndChance(factor) : factor;
    let position = BigInt(headerBytes[ordinal] ?? 0);
    return records.flatMap((record) => {
      const { copies, chance } =
        ofAll ?? (typeof factors === 'function' ? factors(record, ordinal) : copiesAndChance('1'));
      const first = recordKey(position, ofInput);
      const split = bounds.findLastIndex((bound) => bound <= first);
      const [low = 0n, high = 2n ** 64n] = bounds.slice(split, split + 2);
      const isDrawn = recordKey(position, ofInput, copies, 1) < chance;
      const entries = Array.from({ length: copies + (isDrawn ? 1 : 0) }, (_, copy) => ({
        key: copy === 0 ? first : low + ((recordKey(position, ofInput, copy) * (high - low)) >> 64n),
        record,
      }));
      position += BigInt(record.byteLength);
      return entries;
    });
  });
  // The sort is stable: equal keys stay by input, position and copy.
  return keyed.sort((a, b) => (a.key < b.key ? -1 : a.key > b.key ? 1 : 0));
}
