/** Adds up what the tasks of pass 1 read of each group of inputs, and how much that is with all copies. */
import type { GroupAmount, Weighing } from '../keep/mix.js';
import { bytesWithCopies, type Coverage, readBytesOf, recordsWithCopies } from '../sources/input-part.js';

export class GroupAmounts {
  readonly #weighing: Weighing;
  readonly amounts: GroupAmount[];

  constructor(weighing: Weighing) {
    this.#weighing = weighing;
    const nothing = { records: 0, bytes: 0 };
    this.amounts = weighing.groups.map(() => ({ read: nothing, weighed: nothing, undrawnSum: 0n }));
  }

  add(part: Coverage): void {
    const { groupOf, weights } = this.#weighing;
    const group = groupOf[part.inputOrdinal] ?? -1;
    const weight = weights[part.inputOrdinal];
    const before = this.amounts[group];
    if (before === undefined) throw new RangeError(`input ${part.inputOrdinal} has no group`);
    const { read, weighed, undrawnSum } = before;
    this.amounts[group] = {
      read: { records: read.records + (part.weighed?.records ?? 0), bytes: read.bytes + readBytesOf(part) },
      weighed: {
        records: weighed.records + recordsWithCopies(part, weight),
        bytes: weighed.bytes + bytesWithCopies(part, weight),
      },
      undrawnSum: undrawnSum + BigInt(part.weighed?.undrawnSum ?? 0),
    };
  }
}
