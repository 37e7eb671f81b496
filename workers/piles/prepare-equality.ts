/** Tells a kernel before a task which records are equal. */
import { MOST_SPLITS_BYTES } from '../../src/plan/arena-sizes.js';
import type { Kernel } from '../kernel/kernel.js';
import type { ValueRule } from '../settings.js';
import { placeSelector, selectorByteLength } from './record-values.js';

/** @param uniqueBy undefined: those with the same bytes. */
export function prepareEquality(kernel: Kernel, uniqueBy: ValueRule | undefined): void {
  const { wasm } = kernel;
  if (uniqueBy === undefined) {
    wasm.equalByBytes();
    return;
  }
  const byteLength = selectorByteLength(uniqueBy);
  if (byteLength > MOST_SPLITS_BYTES) throw new RangeError(`the selector of equal records has ${byteLength} bytes`);
  placeSelector(kernel, wasm.splitsPlace() >>> 0, uniqueBy);
  wasm.equalByValue();
}
