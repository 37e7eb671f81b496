/** Adds up a number field of JSON records, exactly: in parts of 10^-15, so the sum does not depend on the order. */
import type { NumberField } from '../../src/formats/selector.js';
import { PARTS_OF_ONE } from '../../src/keep/weights.js';
import type { Kernel } from '../kernel/kernel.js';

/** A longer path has no room in the kernel while it scatters. */
export const MOST_PATH_BYTES = 2048;
/** A value that is no number is shown up to here. */
const MOST_SHOWN_BYTES = 40;

interface RecordWithoutNumber {
  readonly address: number;
  /** What it has in the field, as text; undefined: it has no such field. */
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
  wasm.seekField(pathAt, delimiterBytes);
  const whole = BigInt.asUintN(64, wasm.sumOfField(table, count));
  return whole * PARTS_OF_ONE + BigInt.asUintN(64, wasm.partsOfSum.value);
}

/**
 * `sumOfField` over records that do not have the copy that is drawn, by the weight that the kernel was told last.
 * @param records as `RecordTaker.take` gets them.
 */
export function undrawnSumOf(
  { wasm, bytes }: Kernel,
  { path }: NumberField,
  delimiterBytes: number,
  ...[table, count, base, basePosition, inputKey]: [number, number, number, number, bigint]
): bigint {
  bytes.set(path, wasm.fieldPlace() >>> 0);
  const whole = BigInt.asUintN(
    64,
    wasm.undrawnField(delimiterBytes, table, count, base, BigInt(basePosition), inputKey),
  );
  return whole * PARTS_OF_ONE + BigInt.asUintN(64, wasm.undrawnParts.value);
}

/** Undefined: all records of the last sum had a number. */
export function recordWithoutNumber({ wasm, bytes }: Kernel): RecordWithoutNumber | undefined {
  const address = wasm.recordWithoutNumber.value >>> 0;
  if (address === 0) return undefined;
  const value = wasm.valueWithoutNumber.value >>> 0;
  return { address, value: value === 0 ? undefined : textOf(bytes.subarray(value, wasm.endOfOtherValue.value >>> 0)) };
}

/** One line, whatever the bytes are. */
function textOf(value: Uint8Array): string {
  const text = Buffer.from(value.subarray(0, MOST_SHOWN_BYTES)).toString().replace(/\p{C}/gu, '\ufffd');
  return value.byteLength > MOST_SHOWN_BYTES ? `${text}...` : text;
}
