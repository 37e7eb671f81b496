/** What a job reports of each group of inputs. */
import type { Weighing } from '../inputs/weigh-inputs.js';
import type { GroupAmount } from '../passes/group-amounts.js';
import { factorOf } from '../plan/weights.js';
import type { GroupReport } from './options.js';

export function reportGroups({ groups }: Weighing, amounts: readonly GroupAmount[]): GroupReport[] {
  return groups.flatMap(({ name, weight, inputCount }, i) => {
    const amount = amounts[i];
    return amount === undefined ? [] : [{ name, factor: factorOf(weight), inputCount, ...amount }];
  });
}
