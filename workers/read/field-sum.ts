/**
 * Adds up a field of JSON records, or a column of rows, exactly: in parts of 10^-15, so the sum does not depend on the order.
 */

import { finderOfRows } from '../../src/formats/rows/registry.js';
import type { RowValueSpec } from '../../src/formats/rows/row-format.js';
import type { NumberField } from '../../src/formats/selector.js';
import type { ReadSums } from '../../src/keep/sum.js';
import { PARTS_OF_ONE } from '../../src/keep/weights.js';
import type { Kernel } from '../kernel/kernel.js';

/** A longer path has no room in the kernel while it scatters. */
export const MOST_PATH_BYTES = 2048;
/** A sum has room for numbers below it. */
const END_OF_NUMBERS = 10 ** 15;
/** A value that is not a number is shown up to here. */
const MOST_SHOWN_BYTES = 40;

interface RecordWithoutNumber {
  readonly address: number;
  /** The value that it has in the field, as text; undefined: it has no such field. */
  readonly value: string | undefined;
}

/**
 * The sum over the first records of a boundary table, in parts of 10^-15. It ends before the first record without a number.
 * @param delimiterBytes the last bytes of a record, which only end it.
 */
export function sumOfField(
  { wasm }: Kernel,
  pathAt: number,
  delimiterBytes: number,
  table: number,
  count: number,
): bigint {
  wasm.setFieldPath(pathAt, delimiterBytes);
  const whole = BigInt.asUintN(64, wasm.sumOfField(table, count));
  return whole * PARTS_OF_ONE + BigInt.asUintN(64, wasm.partsOfSum.value);
}

/** Returns the sums of the kernel since `clearSums`. */
export function readSums({ wasm, view }: Kernel): ReadSums {
  const at = wasm.sumsAddress() >>> 0;
  const whole = (place: number) => view.getBigUint64(place, true) + (view.getBigUint64(place + 8, true) << 64n);
  const sumAt = (place: number) => whole(place) * PARTS_OF_ONE + whole(place + 16);
  return { read: sumAt(at), made: sumAt(at + 32) };
}

interface SumOfRows {
  /** The sum in parts of 10^-15. */
  readonly sum: bigint;
  /** The first row without a number, which ended the sum. */
  readonly without: { readonly index: number; readonly value: string | undefined } | undefined;
}

/** The sum over the first rows of a boundary table. */
export function sumOfRows({ bytes, view }: Kernel, value: RowValueSpec, table: number, count: number): SumOfRows {
  const memory = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const find = finderOfRows(value);
  let sum = 0n;
  let without: SumOfRows['without'];
  for (let index = 0; index < count && without === undefined; index++) {
    const text = find(memory, view.getUint32(table + 8 * index, true))?.text;
    const number = Number(text);
    if (number >= 0 && number < END_OF_NUMBERS) sum += BigInt(number);
    else without = { index, value: text };
  }
  return { sum: sum * PARTS_OF_ONE, without };
}

/** The kernel weighs so many records at a time. */
const WEIGHED_TOGETHER = 128;

/**
 * Adds up a field, times the weights of the records of a boundary table, or the copies that they get.
 * @param field absent: the records are only weighed.
 * @param weigh has the kernel weigh a block of records, of which the first has this index.
 * @returns parts of 10^-15: those of whole copies, and those of chances, parts of 2^64.
 */
export function sumOfWeighed(
  kernel: Kernel,
  field: NumberField | undefined,
  delimiterBytes: number,
  { table, count }: { readonly table: number; readonly count: number },
  weigh: (block: number, count: number, index: number) => void,
): { readonly copies: bigint; readonly chances: bigint } {
  const { bytes, view, wasm } = kernel;
  const addresses = [wasm.weightsAddress(), wasm.weighedSumsAddress(), wasm.fieldPathAddress()];
  const [weights = 0, sums = 0, pathAt = 0] = addresses.map((address) => address >>> 0);
  let [copies, chances] = [0n, 0n];
  bytes.fill(0, sums, sums + 64);
  for (let index = 0; index < count; index += WEIGHED_TOGETHER) {
    const [block, records] = [table + 8 * index, Math.min(WEIGHED_TOGETHER, count - index)];
    weigh(block, records, index);
    if (field === undefined) continue;
    if (field.value === undefined) {
      bytes.set(field.path, pathAt);
      wasm.addWeighed(block, records, pathAt, delimiterBytes);
      continue;
    }
    for (let i = 0; i < records; i++) {
      const { sum } = sumOfRows(kernel, field.value, block + 8 * i, 1);
      copies += sum * BigInt(view.getUint32(weights + 16 * i + 8, true));
      chances += sum * view.getBigUint64(weights + 16 * i, true);
    }
  }
  const sumAt = (i: number) =>
    view.getBigUint64(sums + 16 * i, true) + (view.getBigUint64(sums + 16 * i + 8, true) << 64n);
  return {
    copies: copies + sumAt(0) * PARTS_OF_ONE + sumAt(1),
    chances: chances + sumAt(2) * PARTS_OF_ONE + sumAt(3),
  };
}

/** Returns the first record without a number. Undefined: all records of the last sum had a number. */
export function recordWithoutNumber({ wasm, bytes }: Kernel): RecordWithoutNumber | undefined {
  const address = wasm.recordWithoutNumber.value >>> 0;
  if (address === 0) return undefined;
  const value = wasm.nonNumberValue.value >>> 0;
  return {
    address,
    value: value === 0 ? undefined : shownText(bytes.subarray(value, wasm.nonNumberValueEnd.value >>> 0)),
  };
}

/** Returns the value as one line, whatever its bytes are; in quotes if it begins or ends with white space. */
export function shownText(value: Uint8Array): string {
  const text = Buffer.from(value.subarray(0, MOST_SHOWN_BYTES)).toString().replace(/\p{C}/gu, '\ufffd');
  const shown = text === text.trim() ? text : JSON.stringify(text);
  return value.byteLength > MOST_SHOWN_BYTES ? `${shown}...` : shown;
}
