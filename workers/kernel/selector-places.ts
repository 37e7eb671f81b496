/** The places of selectors in the scratch of a kernel. */
import type { ValuePurpose } from '../../src/keep/content-rule.js';
import { MOST_SPLITS_BYTES, MOST_WEIGHT_SELECTOR_BYTES } from '../../src/plan/arena-sizes.js';
import type { Kernel } from './kernel.js';

/** Returns the address of the selector for a purpose, and the end of its room. */
export function placeOfSelector(
  { wasm }: Kernel,
  purpose: ValuePurpose,
): { readonly at: number; readonly end: number } {
  if (purpose === 'weight') {
    const at = wasm.weightSelectorAddress() >>> 0;
    return { at, end: at + MOST_WEIGHT_SELECTOR_BYTES };
  }
  const splits = wasm.splitsAddress() >>> 0;
  return { at: purpose === 'split' ? wasm.splitSelectorAddress() >>> 0 : splits, end: splits + MOST_SPLITS_BYTES };
}
