/** Tells a kernel before a task which records are equal. */
import { MOST_SPLITS_BYTES } from '../../src/plan/arena-sizes.js';
import type { Kernel } from '../kernel/kernel.js';
import type { UniqueField } from '../settings.js';

/** @param uniqueField undefined: those with the same bytes. */
export function prepareEquality({ wasm, bytes }: Kernel, uniqueField: UniqueField | undefined): void {
  if (uniqueField === undefined) {
    wasm.equalByBytes();
    return;
  }
  const { path, missing } = uniqueField;
  // A string counts by its characters behind a quote.
  const value = Buffer.from(missing === undefined ? '' : `"${missing}`);
  if (path.byteLength + value.byteLength > MOST_SPLITS_BYTES)
    throw new RangeError(`the field of equal records has ${path.byteLength + value.byteLength} bytes`);
  const place = wasm.splitsPlace() >>> 0;
  bytes.set(path, place);
  bytes.set(value, place + path.byteLength);
  wasm.equalByField(path.byteLength, missing !== undefined, value.byteLength);
}
