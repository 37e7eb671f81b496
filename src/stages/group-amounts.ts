/** Adds up what the tasks of pass 1 read of each group of inputs, and how much that is with all copies. */

import { factorOf } from '../keep/weights.js';
import type { Amount } from '../piles/pile-totals.js';
import { bytesWithCopies, type Coverage, readBytesOf, recordsWithCopies } from '../sources/input-part.js';
import type { Weighing } from '../sources/weigh-inputs.js';

export interface GroupAmount {
  readonly read: Amount;
  /** What the weight makes of it on average. */
  readonly expected: Amount;
  /** What came of it: records and their copies. */
  readonly weighed: Amount;
  /** What undrawn copies have of the field whose sums decided about weights, in parts of 10^-15. */
  readonly undrawnSum: bigint;
}

export class GroupAmounts {
  readonly #weighing: Weighing;
  readonly #read: { records: number; bytes: number }[];
  readonly #weighed: { records: number; bytes: number }[];
  readonly #undrawnSums: bigint[];

  constructor(weighing: Weighing) {
    this.#weighing = weighing;
    this.#read = weighing.groups.map(() => ({ records: 0, bytes: 0 }));
    this.#weighed = weighing.groups.map(() => ({ records: 0, bytes: 0 }));
    this.#undrawnSums = weighing.groups.map(() => 0n);
  }

  add(part: Coverage): void {
    const { groupOf, weights } = this.#weighing;
    const group = groupOf[part.inputOrdinal] ?? -1;
    const weight = weights[part.inputOrdinal];
    const [read, weighed] = [this.#read[group], this.#weighed[group]];
    if (read === undefined || weighed === undefined) throw new RangeError(`input ${part.inputOrdinal} has no group`);
    read.records += part.weighed?.records ?? 0;
    read.bytes += readBytesOf(part);
    weighed.records += recordsWithCopies(part, weight);
    weighed.bytes += bytesWithCopies(part, weight);
    this.#undrawnSums[group] = (this.#undrawnSums[group] ?? 0n) + BigInt(part.weighed?.undrawnSum ?? 0);
  }

  get amounts(): readonly GroupAmount[] {
    return this.#weighing.groups.map(({ weight }, group) => {
      const read = { records: 0, bytes: 0, ...this.#read[group] };
      const factor = factorOf(weight);
      const expected = { records: Math.round(factor * read.records), bytes: Math.round(factor * read.bytes) };
      const weighed = { records: 0, bytes: 0, ...this.#weighed[group] };
      return { read, expected, weighed, undrawnSum: this.#undrawnSums[group] ?? 0n };
    });
  }
}
