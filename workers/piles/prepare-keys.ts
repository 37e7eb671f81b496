/** Tells a kernel before a task where the keys of records come from, and that it keeps all of them, each once. */
import { MOST_SPLIT_FIELD_BYTES } from '../../src/plan/arena-sizes.js';
import type { Kernel } from '../kernel/kernel.js';
import type { ScatterSettings, SplitField } from '../settings.js';
import { prepareEquality } from './prepare-equality.js';

/** The weight of an input and its ordinals are told with its records. */
export function prepareKeys(
  kernel: Kernel,
  { splitField, unique = false, uniqueField }: Pick<ScatterSettings, 'splitField' | 'unique' | 'uniqueField'>,
): void {
  const { wasm } = kernel;
  wasm.keepAll();
  wasm.weigh(1, 0n);
  wasm.keyByContent(unique);
  prepareEquality(kernel, uniqueField);
  if (splitField === undefined) wasm.splitByNone();
  else splitBy(kernel, splitField);
}

function splitBy({ wasm, bytes }: Kernel, { path, bounds, key, missing }: SplitField): void {
  if (bounds.byteLength + path.byteLength > MOST_SPLIT_FIELD_BYTES)
    throw new RangeError(`the field of splits has ${bounds.byteLength + path.byteLength} bytes`);
  const place = wasm.splitFieldPlace() >>> 0;
  // A string counts by its characters behind a quote. Its hash reads up to 15 bytes past its end.
  const value = Buffer.from(`"${missing ?? ''}`);
  bytes.set(value, place);
  const hashOfMissing = wasm.recordHash(place, value.byteLength);
  bytes.set(new Uint8Array(bounds.buffer, bounds.byteOffset, bounds.byteLength), place);
  bytes.set(path, place + bounds.byteLength);
  wasm.splitByField(bounds.length, key, missing !== undefined, hashOfMissing);
}
