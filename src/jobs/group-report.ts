/** What a job reports of each group of inputs. */
import type { Weighing } from '../inputs/weigh-inputs.js';
import type { GroupAmount } from '../passes/group-amounts.js';
import { type Fraction, factorOf, numberOf } from '../plan/weights.js';
import type { GroupReport } from './options.js';

export function reportGroups({ groups }: Weighing, amounts: readonly GroupAmount[]): GroupReport[] {
  return groups.flatMap(({ name, weight, inputCount, amount: inUnit }, i) => {
    const amount = amounts[i];
    if (amount === undefined) return [];
    const factor = factorOf(weight);
    const unit = inUnit === undefined ? undefined : reportUnit(inUnit, factor);
    return [{ name, factor, inputCount, ...amount, unit }];
  });
}

function reportUnit(amount: Fraction, factor: number): NonNullable<GroupReport['unit']> {
  const read = numberOf(amount);
  const expected = factor * read;
  // A product of two numbers has 15 digits that are exact.
  const digits = Number(expected.toPrecision(15));
  return { read, expected: amount.denominator === 1n ? Math.round(expected) : digits };
}
