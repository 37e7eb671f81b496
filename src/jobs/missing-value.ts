/** The value that stands for a field where a record has none. */
import { UsageError } from '../errors.js';

/** What is left for a value beside the bytes that its hash reads behind it. */
export const MOST_MISSING_BYTES = 4096;

/** @param missing callers without types may pass anything. @throws UsageError */
export function requireMissingValue(missing: unknown): asserts missing is string | undefined {
  if (missing === undefined) return;
  if (typeof missing !== 'string' || Buffer.byteLength(missing) > MOST_MISSING_BYTES)
    throw new UsageError(`\`missing\`: expected a string of at most ${MOST_MISSING_BYTES} bytes`);
}
