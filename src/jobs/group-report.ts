import { fractionOfParts } from '../../workers/read/field-sum.js';
import type { Weighing } from '../inputs/weigh-inputs.js';
import type { GroupAmount } from '../passes/group-amounts.js';
import { type Fraction, factorOf, mostCopiesOf, numberOf, type Weight } from '../plan/weights.js';
import type { GroupReport } from './options.js';

/** @param unit of shares: `records`, `bytes` or a field; undefined: weights are given. */
export function reportGroups(
  { groups }: Weighing,
  amounts: readonly GroupAmount[],
  unit: string | undefined,
): GroupReport[] {
  return groups.flatMap(({ name, weight, inputCount, amount: inUnit }, i) => {
    const found = amounts[i];
    if (found === undefined) return [];
    const { undrawnSum, ...counted } = found;
    const { read, weighed } = counted;
    const epochs = read.records === 0 ? 0 : weighed.records / read.records;
    const isCounted = unit === 'records' || unit === 'bytes';
    const written = isCounted ? weighed[unit] : inUnit && writtenSum(inUnit, weight, undrawnSum);
    const factor = factorOf(weight);
    const ofUnit = inUnit && written !== undefined ? amountsInUnit(inUnit, factor, written) : undefined;
    return [{ name, factor, inputCount, ...counted, epochs, unit: ofUnit && { name: unit ?? '', ...ofUnit } }];
  });
}

/** The sum of a field over all copies; `undrawnSum` is that of the copies that were not drawn. */
function writtenSum(amount: Fraction, weight: Weight, undrawnSum: bigint): number {
  const undrawn = fractionOfParts(undrawnSum);
  return numberOf({
    numerator:
      BigInt(mostCopiesOf(weight)) * amount.numerator * undrawn.denominator - undrawn.numerator * amount.denominator,
    denominator: amount.denominator * undrawn.denominator,
  });
}

function amountsInUnit(amount: Fraction, factor: number, weighed: number) {
  const read = numberOf(amount);
  const expected = factor * read;
  // A product of two numbers has 15 digits that are exact.
  const digits = Number(expected.toPrecision(15));
  return { read, expected: amount.denominator === 1n ? Math.round(expected) : digits, weighed };
}
