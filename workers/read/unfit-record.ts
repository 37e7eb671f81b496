import type { Kernel } from '../kernel/kernel.js';

/** The record at `address`, in which the kernel has found no value. */
interface RecordOfTable {
  readonly kernel: Kernel;
  readonly table: number;
  readonly address: number;
  /** The last bytes of a record, which only end it. */
  readonly delimiterBytes: number;
}

/** Completes "the record at byte N"; undefined: the record only lacks the value. @param isOfJson it should be an object. */
export function whyUnfit(
  { kernel: { wasm, view }, table, address, delimiterBytes }: RecordOfTable,
  isOfJson: boolean,
): string | undefined {
  let mark = table;
  while (view.getUint32(mark, true) !== address) mark += 8;
  const end = view.getUint32(mark + 4, true);
  if (wasm.isBlank(address, end, delimiterBytes)) return 'is blank; give `skipBlank` to leave such records out';
  if (isOfJson && wasm.isBroken(address, end))
    return 'begins as a JSON object and does not end as one; mend it, or leave it out';
  return undefined;
}
