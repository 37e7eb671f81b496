/** What a job reports of each group of inputs. */
import type { Weighing } from '../inputs/weigh-inputs.js';
import type { GroupAmount } from '../passes/group-amounts.js';
import { factorOf } from '../plan/weights.js';
import type { GroupReport } from './options.js';

export function reportGroups({ groups }: Weighing, amounts: readonly GroupAmount[]): GroupReport[] {
  return groups.flatMap(({ name, weight, inputCount, amount: inUnit }, i) => {
    const amount = amounts[i];
    if (amount === undefined) return [];
    const factor = factorOf(weight);
    const read = inUnit === undefined ? undefined : Number(inUnit);
    const unit = read === undefined ? undefined : { read, expected: Math.round(factor * read) };
    return [{ name, factor, inputCount, ...amount, unit }];
  });
}
