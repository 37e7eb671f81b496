/** Checks the option `weights`, and reads the factors as exact numbers. */
import { UsageError } from '../errors.js';
import type { WeightRule } from '../inputs/weigh-inputs.js';
import { MOST_GLOB_CHARACTERS } from '../io/path-matcher.js';
import { requireKnownOptions } from '../known-options.js';
import { fractionOf, isNothing, MOST_COPIES, weightOf } from '../plan/weights.js';
import type { InputWeight } from './options.js';

const NAMES = { glob: true, factor: true } as const;
const MOST_RULES = 10_000;

/** @throws UsageError */
export function completeWeights(weights: readonly InputWeight[] = []): readonly WeightRule[] {
  // Callers without types may pass anything.
  if (!Array.isArray(weights)) throw new UsageError('`weights`: expected an array of objects with `glob` and `factor`');
  if (weights.length > MOST_RULES)
    throw new UsageError(`\`weights\` has ${weights.length} entries; expected at most ${MOST_RULES}`);
  return weights.map(ruleOf);
}

function ruleOf(given: InputWeight): WeightRule {
  requireKnownOptions('an object of `weights`', given, NAMES);
  const { glob, factor } = given;
  if (typeof glob !== 'string' || glob === '' || glob.length > MOST_GLOB_CHARACTERS || glob.includes('\0'))
    throw new UsageError('`weights`: expected `glob` to be a path or a glob pattern, of 1 to 4096 characters');
  const text = String(factor);
  const isText = typeof factor === 'string' || typeof factor === 'number';
  const fraction = isText ? fractionOf(text) : undefined;
  if (fraction === undefined)
    throw new UsageError(`\`weights\` ${glob}=${text}: expected a number of at least 0, such as 2.5 or 0.1`);
  if (fraction.numerator > BigInt(MOST_COPIES) * fraction.denominator)
    throw new UsageError(`\`weights\` ${glob}=${text}: expected at most ${MOST_COPIES}`);
  const weight = weightOf(fraction);
  if (fraction.numerator > 0n && isNothing(weight))
    throw new UsageError(`\`weights\` ${glob}=${text}: expected 0, or a number of at least 1e-19`);
  return { glob, factor: text, weight };
}
