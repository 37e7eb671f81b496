/** Gives each input its weight by the rules of the job: the last rule that names an input counts. */
import { UsageError } from '../errors.js';
import type { FramingSpec } from '../formats/framing-table.js';
import { pathMatcher } from '../io/path-matcher.js';
import { isNothing, mostCopiesOf, ONCE, type Weight } from '../plan/weights.js';
import type { Input } from './list-inputs.js';

/** A rule for inputs. */
export interface WeightRule {
  readonly glob: string;
  /** As the caller gave it. */
  readonly factor: string;
  readonly weight: Weight;
}

/** Inputs of one rule; undefined: those that no rule names. */
export interface WeighedGroup {
  readonly rule: WeightRule | undefined;
  readonly weight: Weight;
  readonly inputCount: number;
}

/** The weights of all inputs. */
export interface Weighing {
  /** Of each input. */
  readonly weights: readonly Weight[];
  /** The group of each input. */
  readonly groupOf: readonly number[];
  readonly groups: readonly WeighedGroup[];
}

/** Readers of tar files join neighbouring copies of a sample to one. @throws UsageError */
export function refuseCopiesOfSamples({ groups }: Weighing, framing: FramingSpec | undefined): void {
  const group = groups.find(({ weight }) => mostCopiesOf(weight) > 1);
  if (framing?.kind !== 'webdataset' || group === undefined) return;
  throw new UsageError(
    `\`weights\` ${group.rule?.glob}=${group.rule?.factor}: samples of tar files cannot come more than once, because readers join copies that are neighbours; expected at most 1`,
  );
}

/**
 * @returns undefined without rules.
 * @throws UsageError for a glob that names no input, and for one whose inputs all have later rules.
 */
export async function weighInputs(
  rules: readonly WeightRule[],
  inputs: readonly Input[],
): Promise<Weighing | undefined> {
  if (rules.length === 0) return undefined;
  const matchers = await Promise.all(rules.map(({ glob }) => pathMatcher(glob)));
  const isMet = rules.map(() => false);
  const groupOf = inputs.map(({ kind, path }) => {
    let group = rules.length;
    // Records in memory have no name.
    if (kind === 'list') return group;
    for (const [number, isNamed] of matchers.entries()) {
      if (!isNamed(path)) continue;
      isMet[number] = true;
      group = number;
    }
    return group;
  });
  const counts = [...rules, undefined].map(() => 0);
  for (const group of groupOf) counts[group] = (counts[group] ?? 0) + 1;
  for (const [number, { glob }] of rules.entries()) {
    if (counts[number] !== 0) continue;
    const reason =
      isMet[number] === true
        ? 'names only inputs that later globs name, too; the last one counts, so put the general ones first'
        : 'names no input; it is compared with the paths as given or found, or with single names if it has no slash';
    throw new UsageError(`\`weights\`: ${glob} ${reason}`);
  }
  const weights = groupOf.map((group) => rules[group]?.weight ?? ONCE);
  if (weights.every(isNothing)) throw new UsageError('`weights`: all inputs have the weight 0; expected one that stays');
  const groups = [...rules, undefined].map((rule, number) => ({
    rule,
    weight: rule?.weight ?? ONCE,
    inputCount: counts[number] ?? 0,
  }));
  return { weights, groupOf, groups: groups.filter(({ rule, inputCount }) => rule !== undefined || inputCount > 0) };
}
