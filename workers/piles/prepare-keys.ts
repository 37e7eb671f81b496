/** Tells a kernel before a task where keys come from. `RecordReader` tells it weights and ordinals. */
import type { ValueRule } from '../../src/formats/selector.js';
import type { ContentRule } from '../../src/keep/content-rule.js';
import { MOST_SPLITS_BYTES } from '../../src/plan/arena-sizes.js';
import type { Kernel } from '../kernel/kernel.js';
import { placeSelector, selectorByteLength } from './record-values.js';

export function prepareKeys(kernel: Kernel, content: ContentRule | undefined, byContent: boolean): void {
  const { wasm, bytes } = kernel;
  wasm.keepAll();
  wasm.weigh(1, 0n);
  wasm.keyByContent(byContent);
  prepareEquality(kernel, content);
  wasm.splitByNone();
  if (content?.splits === undefined) return;
  const { bounds, key } = content.splits;
  bytes.set(new Uint8Array(bounds.buffer, bounds.byteOffset, bounds.byteLength), wasm.splitsPlace() >>> 0);
  wasm.splitByValue(bounds.length, key);
  placeValue(kernel, wasm.splitSelector() >>> 0, bounds.byteLength, content.value);
}

/** Prepares equality: without a value, records with the same bytes are equal. */
export function prepareEquality(kernel: Kernel, content: ContentRule | undefined): void {
  const { wasm } = kernel;
  const value = content?.splits === undefined ? content?.value : undefined;
  placeValue(kernel, wasm.splitsPlace() >>> 0, 0, value);
  wasm.equalBy(value !== undefined);
}

function placeValue(kernel: Kernel, address: number, bytesBefore: number, value: ValueRule | undefined): void {
  if (value === undefined) return;
  const byteLength = bytesBefore + selectorByteLength(value);
  if (byteLength > MOST_SPLITS_BYTES) throw new RangeError(`the selector of a value has ${byteLength} bytes`);
  placeSelector(kernel, address, value);
}
