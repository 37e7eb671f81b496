/**
 * Divides the inputs into groups by globs, and gives each group its weight. An input that the globs of several groups
 * name belongs to the last of them.
 */
import { UsageError } from '../errors.js';
import { type FramingSpec, framingOf } from '../formats/framing-table.js';
import { pathMatcher } from '../io/list-files.js';
import { type Fraction, factorOf, isNothing, mostCopiesOf, ONCE, type Weight } from '../plan/weights.js';
import type { InputGroup } from '../spec.js';
import type { Input } from './source.js';

/** The number after that of the last group stands for none. */
export interface Grouping {
  readonly groupOf: readonly number[];
  /** For each group, then for none. */
  readonly inputCounts: readonly number[];
}

/** Without a name: the inputs of no group. */
interface WeighedGroup {
  readonly name: string | undefined;
  readonly weight: Weight;
  readonly inputCount: number;
  /** What its inputs hold in the unit of shares, where they were counted. */
  readonly amount?: Fraction | undefined;
}

export interface Weighing {
  /** By the ordinal of the input, as `groupOf` is. */
  readonly weights: readonly Weight[];
  readonly groupOf: readonly number[];
  readonly groups: readonly WeighedGroup[];
}

export async function groupInputs(
  groups: readonly InputGroup[],
  inputs: readonly Input[],
  option: string,
): Promise<Grouping> {
  const isNamedBy = await Promise.all(groups.map(async ({ globs }) => Promise.all(globs.map(pathMatcher))));
  const isMet = groups.map(() => false);
  const groupOf = inputs.map(({ kind, path }) => {
    let group = groups.length;
    if (kind === 'list') return group;
    for (const [number, matchers] of isNamedBy.entries()) {
      if (!matchers.some((isNamed) => isNamed(path))) continue;
      isMet[number] = true;
      group = number;
    }
    return group;
  });
  const inputCounts = [...groups, undefined].map(() => 0);
  for (const group of groupOf) inputCounts[group] = (inputCounts[group] ?? 0) + 1;
  for (const [number, { name, globs }] of groups.entries()) {
    if (inputCounts[number] !== 0) continue;
    const [glob = ''] = globs;
    const what = globs.length === 1 && glob === name ? name : `the group ${name}`;
    throw new UsageError(
      isMet[number] === true
        ? `${option}: ${what} names only inputs that later globs name, too; the last one counts, so put the general ones first`
        : `${option}: ${what} names no input; a glob is compared with the paths as given or found, one without a slash with each name in them`,
    );
  }
  return { groupOf, inputCounts };
}

export function weighInputs(
  groups: readonly InputGroup[],
  { groupOf, inputCounts }: Grouping,
  weights: readonly Weight[],
): Weighing {
  const all = [...weights, ONCE].map((weight, group) => ({
    name: groups[group]?.name,
    weight,
    inputCount: inputCounts[group] ?? 0,
  }));
  const ofInputs = groupOf.map((group) => weights[group] ?? ONCE);
  if (ofInputs.length > 0 && ofInputs.every(isNothing))
    throw new UsageError('all inputs have the weight 0; expected one that stays');
  return { weights: ofInputs, groupOf, groups: all.filter(({ inputCount }) => inputCount > 0) };
}

/** Readers of tar files join neighbouring copies of a sample to one. */
export function refuseCopiesOfSamples({ groups }: Weighing, framing: FramingSpec | undefined): void {
  const group = groups.find(({ weight }) => mostCopiesOf(weight) > 1);
  if (group === undefined || framing === undefined || framingOf(framing).sampleKeys === undefined) return;
  throw new UsageError(
    `${group.name} has the weight ${factorOf(group.weight)}, and samples of tar files cannot come more than once, because readers join copies that are neighbours; expected at most 1`,
  );
}
