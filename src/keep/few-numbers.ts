/** A few numbers of a long range. They are drawn one by one, because a pass over all numbers would take long (docs/ORDER.md). */
import type { NumberRange } from '../io/number-lines.js';
import { deriveNumberDraws } from '../keys.js';

const MOST_DRAWN = 2 ** 20;
/** A pass over so many numbers takes less than a second. More than that, few draws of `MOST_DRAWN` are equal. */
const MOST_PASSED = 2n ** 24n;

/** Whether the first records of this order are drawn. */
export function drawsFew({ low, high }: NumberRange, headCount: number | undefined): headCount is number {
  return headCount !== undefined && headCount <= MOST_DRAWN && high - low >= MOST_PASSED;
}

const DRAW_BYTES = 16;

/** Returns `count` numbers in ascending order; different ones, unless they are drawn with replacement. */
export function drawFew({ low, high }: NumberRange, count: number, isRepeated: boolean, seed: string): BigUint64Array {
  for (let draws = count; ; ) {
    const bytes = deriveNumberDraws(seed, `${low}-${high}`, DRAW_BYTES * draws);
    const drawn = new BigUint64Array(draws);
    for (let i = 0; i < draws; i++) {
      const draw = bytes.readBigUInt64LE(DRAW_BYTES * i) + (bytes.readBigUInt64LE(DRAW_BYTES * i + 8) << 64n);
      drawn[i] = low + ((draw * (high - low + 1n)) >> 128n);
    }
    drawn.sort();
    const kept = isRepeated ? drawn : drawn.filter((number, i) => number !== drawn[i - 1]);
    // Each of the further draws adds at most one.
    if (kept.length === count) return kept;
    draws += count - kept.length;
  }
}
