/** Tells a kernel how the values of a field choose the splits of records, or that no field does. */
import { MOST_SPLIT_FIELD_BYTES } from '../../src/plan/arena-sizes.js';
import type { Kernel } from '../kernel/kernel.js';
import type { SplitField } from '../settings.js';

/** @param splitField absent: the kernel takes the keys of records as they are. */
export function applySplitField({ wasm, bytes }: Kernel, splitField: SplitField | undefined): void {
  if (splitField === undefined) {
    wasm.splitByNone();
    return;
  }
  const { path, bounds, key, missing } = splitField;
  if (bounds.byteLength + path.byteLength > MOST_SPLIT_FIELD_BYTES)
    throw new RangeError(`a splitField of ${bounds.byteLength + path.byteLength} bytes`);
  const place = wasm.splitFieldPlace() >>> 0;
  // A string counts by its characters behind a quote. Its hash reads up to 15 bytes past its end.
  const value = Buffer.from(`"${missing ?? ''}`);
  bytes.set(value, place);
  const hashOfMissing = wasm.recordHash(place, value.byteLength);
  bytes.set(new Uint8Array(bounds.buffer, bounds.byteOffset, bounds.byteLength), place);
  bytes.set(path, place + bounds.byteLength);
  wasm.splitByField(bounds.length, key, missing !== undefined, hashOfMissing);
}
