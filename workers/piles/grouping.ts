/** Tells a kernel how the values of a field choose the splits of records, or that no field does. */
import { MOST_GROUPING_BYTES } from '../../src/plan/arena-sizes.js';
import type { Kernel } from '../kernel/kernel.js';
import type { Grouping } from '../settings.js';

/** @param grouping absent: the kernel takes the keys of records as they are. */
export function applyGrouping({ wasm, bytes }: Kernel, grouping: Grouping | undefined): void {
  if (grouping === undefined) {
    wasm.ungroup();
    return;
  }
  const { path, bounds, key, missing } = grouping;
  if (bounds.byteLength + path.byteLength > MOST_GROUPING_BYTES)
    throw new RangeError(`a grouping of ${bounds.byteLength + path.byteLength} bytes`);
  const place = wasm.groupingPlace() >>> 0;
  // A string counts by its characters behind a quote. Its hash reads up to 15 bytes past its end.
  const value = Buffer.from(`"${missing ?? ''}`);
  bytes.set(value, place);
  const hashOfMissing = wasm.recordHash(place, value.byteLength);
  bytes.set(new Uint8Array(bounds.buffer, bounds.byteOffset, bounds.byteLength), place);
  bytes.set(path, place + bounds.byteLength);
  wasm.groupByField(bounds.length, key, missing !== undefined, hashOfMissing);
}
