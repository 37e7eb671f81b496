import { MOST_SPLITS_BYTES } from '../../src/plan/arena-sizes.js';
import type { UniqueSpec } from '../../src/spec.js';
import type { Kernel } from '../kernel/kernel.js';
import type { ScatterSettings, SplitValues } from '../settings.js';
import { placeSelector, selectorByteLength } from './record-values.js';

/** Tells a kernel before a task where keys come from. `RecordReader` tells it weights and ordinals. */
export function prepareKeys(
  kernel: Kernel,
  { splitBy, unique }: Pick<ScatterSettings, 'splitBy' | 'unique'>,
  byContent: boolean,
): void {
  const { wasm } = kernel;
  wasm.keepAll();
  wasm.weigh(1, 0n);
  wasm.keyByContent(byContent);
  prepareEquality(kernel, unique);
  if (splitBy === undefined) wasm.splitByNone();
  else splitByValue(kernel, splitBy);
}

function splitByValue(kernel: Kernel, rule: SplitValues): void {
  const { wasm, bytes } = kernel;
  const { bounds, key } = rule;
  const byteLength = bounds.byteLength + selectorByteLength(rule);
  if (byteLength > MOST_SPLITS_BYTES)
    throw new RangeError(`the bounds and the selector of splits have ${byteLength} bytes`);
  bytes.set(new Uint8Array(bounds.buffer, bounds.byteOffset, bounds.byteLength), wasm.splitsPlace() >>> 0);
  wasm.splitByValue(bounds.length, key);
  placeSelector(kernel, wasm.splitSelector() >>> 0, rule);
}

/** @param unique without a value: records with the same bytes are equal. */
export function prepareEquality(kernel: Kernel, unique: UniqueSpec | undefined): void {
  const { wasm } = kernel;
  const rule = unique?.by;
  if (rule !== undefined) {
    const byteLength = selectorByteLength(rule);
    if (byteLength > MOST_SPLITS_BYTES) throw new RangeError(`the selector of equal records has ${byteLength} bytes`);
    placeSelector(kernel, wasm.splitsPlace() >>> 0, rule);
  }
  wasm.equalBy(rule !== undefined);
}
