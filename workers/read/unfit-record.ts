/** The words for a record that can have no value, whatever selector looks for one. */
import type { Kernel } from '../kernel/kernel.js';

/** The record of the boundary table that begins at `address`, in which the kernel has found no value. */
interface RecordOfTable {
  readonly kernel: Kernel;
  readonly table: number;
  readonly address: number;
  /** At the end of a record, which only end it. */
  readonly delimiterBytes: number;
}

/**
 * @param isOfJson whether the record should be a JSON object.
 * @returns what completes "the record at byte N"; undefined: it lacks the value alone.
 */
export function whyUnfit(
  { kernel: { wasm, view }, table, address, delimiterBytes }: RecordOfTable,
  isOfJson: boolean,
): string | undefined {
  let mark = table;
  while (view.getUint32(mark, true) !== address) mark += 8;
  const end = view.getUint32(mark + 4, true);
  if (wasm.isBlank(address, end, delimiterBytes) !== 0) return 'is blank; give `skipBlank` to leave such records out';
  if (isOfJson && wasm.isBroken(address, end) !== 0)
    return 'begins as a JSON object and does not end as one; mend it, or leave it out';
  return undefined;
}
