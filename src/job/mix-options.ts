/** Reads `weights` and `mix` as exact numbers. A mix of shares becomes weights when the inputs are counted. */
import { createHash } from 'node:crypto';
import { requireWhole, UsageError } from '../errors.js';
import { parseFieldPath } from '../formats/selector.js';
import type { InputGroup, MixSpec } from '../keep/mix.js';
import {
  type Fraction,
  fractionOf,
  isNothing,
  MOST_COPIES,
  type ShareGroup,
  type Weight,
  weightOf,
} from '../keep/weights.js';
import type { ShuffleOptions } from '../options/shuffle-options.js';
import { requireGlob } from '../options/value-checks.js';
import type { InputWeight, Mix, MixGroup } from '../options/values.js';
import { requireKnownOptions } from '../values/known-options.js';

type WeightRule = MixSpec['weights'][number];

const WEIGHT = { glob: true, factor: true } as const;
const MIX = { groups: true, unit: true, total: true, max_epochs: true } as const;
const GROUP = { name: true, inputs: true, weight: true, share: true, max_epochs: true } as const;
const MOST_GROUPS = 10_000;
const MOST_NAME_CHARACTERS = 200;
const MOST_UNIT_CHARACTERS = 2000;
const ONE_EPOCH = 1;

export function completeMix({ weights, mix }: Pick<ShuffleOptions, 'weights' | 'mix'>): MixSpec {
  if (mix !== undefined) return requestOfMix(mix);
  // Callers without types may pass anything.
  if (weights !== undefined && !Array.isArray(weights))
    throw new UsageError('`weights`: expected an array of objects with `glob` and `factor`');
  requireFew('`weights`', weights ?? []);
  const rules = (weights ?? []).map(ruleOf);
  return { weights: rules, shares: undefined, option: '`weights`', words: rules.map(({ words }) => words) };
}

function ruleOf(given: InputWeight): WeightRule & { readonly words: string } {
  requireKnownOptions('an object of `weights`', given, WEIGHT);
  const { glob, factor } = given;
  requireGlob('`weights`: expected `glob`', glob);
  const weight = readWeight(`\`weights\` ${glob}=${String(factor)}`, factor);
  return { name: glob, globs: [glob], weight, words: `${glob}=${String(factor)}` };
}

function requestOfMix(mix: Mix): MixSpec {
  requireKnownOptions('`mix`', mix, MIX);
  const { groups, unit, total, max_epochs: maxEpochs } = mix;
  if (!Array.isArray(groups) || groups.length === 0)
    throw new UsageError('`mix`: expected groups to be a list of at least one group');
  requireFew('`mix`', groups);
  const named = groups.map(groupOf);
  const names = new Set<string>();
  for (const { name } of named) {
    if (names.has(name))
      throw new UsageError(`\`mix\`: two groups have the name ${name}; expected a name that no other has`);
    names.add(name);
  }
  const sharedGroups = groups.filter(({ share }) => share !== undefined);
  if (sharedGroups.length > 0 && sharedGroups.length < groups.length)
    throw new UsageError(
      '`mix`: some groups have a share and others have none; give each group a share, or each a weight',
    );
  const words = [wordOf(mix, named)];
  if (sharedGroups.length === 0) {
    const extra = Object.entries({ unit, total, max_epochs: maxEpochs }).find(([, value]) => value !== undefined);
    if (extra !== undefined)
      throw new UsageError(`\`mix\`: ${extra[0]} goes with shares, and no group has one; give each group a share`);
    const weights = named.map((group, i) => weightRuleOf(group, groups[i]));
    return { weights, shares: undefined, option: '`mix`', words: words };
  }
  const ofAll = maxEpochs ?? ONE_EPOCH;
  const shareGroups = named.map((group, i) => shareGroupOf(group, groups[i], ofAll));
  const shares = { unit: readUnit(unit), total: readTotal(total), groups: shareGroups };
  return { weights: [], shares, option: '`mix`', words: words };
}

/** A mix may be long: it goes by its digest, which does not depend on the order of fields. */
function wordOf({ groups, unit, total, max_epochs: maxEpochs }: Mix, named: readonly InputGroup[]): string {
  const fields = groups.map(({ weight, share, max_epochs: ofGroup }, i) => {
    const { name, globs } = named[i] ?? { name: '', globs: [] };
    return [name, globs, weight, share, ofGroup].map((field) => field ?? null);
  });
  const text = JSON.stringify([unit ?? null, total ?? null, maxEpochs ?? null, fields]);
  return `mix ${createHash('sha256').update(text).digest('hex').slice(0, 16)}`;
}

function groupOf(group: MixGroup): InputGroup {
  requireKnownOptions('a group of `mix`', group, GROUP);
  const { name, inputs } = group;
  if (typeof name !== 'string' || name === '' || name.length > MOST_NAME_CHARACTERS || /\p{Cc}/u.test(name))
    throw new UsageError(
      `\`mix\`: expected each group to have a name of 1 to ${MOST_NAME_CHARACTERS} printable characters`,
    );
  const globs = Array.isArray(inputs) ? inputs : [inputs];
  if (globs.length === 0) throw new UsageError(`\`mix\`: the group ${name} has no inputs; expected a path or a glob`);
  for (const glob of globs) requireGlob(`\`mix\`: expected the inputs of the group ${name}`, glob);
  return { name, globs };
}

function weightRuleOf({ name, globs }: InputGroup, group: MixGroup | undefined): WeightRule {
  if (group?.max_epochs !== undefined)
    throw new UsageError(`\`mix\`: the group ${name} has max_epochs, which goes with a share; leave it out`);
  if (group?.weight === undefined)
    throw new UsageError(`\`mix\`: the group ${name} has neither a weight nor a share; give one`);
  return {
    name,
    globs,
    weight: readWeight(`\`mix\`: weight ${String(group.weight)} of the group ${name}`, group.weight),
  };
}

function shareGroupOf(
  { name, globs }: InputGroup,
  group: MixGroup | undefined,
  ofAll: number | string,
): ShareGroup & InputGroup {
  if (group?.weight !== undefined)
    throw new UsageError(`\`mix\`: the group ${name} has both a weight and a share; give one of them`);
  const share = readFraction(group?.share);
  if (share === undefined || share.numerator === 0n)
    throw new UsageError(
      `\`mix\`: share ${String(group?.share)} of the group ${name}: expected a number of more than 0`,
    );
  const epochs = group?.max_epochs ?? ofAll;
  const maxEpochs = readFraction(epochs);
  if (maxEpochs === undefined || maxEpochs.numerator === 0n || isOver(maxEpochs))
    throw new UsageError(
      `\`mix\`: max_epochs ${String(epochs)}: expected a number of more than 0, at most ${MOST_COPIES}`,
    );
  return { name, globs, share, maxEpochs };
}

function readUnit(unit: unknown): string {
  if (unit === 'records' || unit === 'bytes') return unit;
  if (typeof unit !== 'string' || !unit.startsWith('.'))
    throw new UsageError('`mix`: expected unit to be records, bytes or a field with a number, such as .n_tokens');
  if (unit.length > MOST_UNIT_CHARACTERS)
    throw new UsageError(`\`mix\`: unit has ${unit.length} characters; expected at most ${MOST_UNIT_CHARACTERS}`);
  parseFieldPath(unit, '`mix`: unit');
  return unit;
}

function readTotal(total: unknown): bigint | undefined {
  if (total === undefined) return undefined;
  if (typeof total !== 'number') throw new UsageError('`mix`: expected total to be a whole number');
  return BigInt(requireWhole('`mix`: total', total, 1));
}

export function readWeight(what: string, factor: unknown): Weight {
  const fraction = readFraction(factor);
  if (fraction === undefined) throw new UsageError(`${what}: expected a number of at least 0, such as 2.5 or 0.1`);
  if (isOver(fraction)) throw new UsageError(`${what}: expected at most ${MOST_COPIES}`);
  const weight = weightOf(fraction);
  if (fraction.numerator > 0n && isNothing(weight))
    throw new UsageError(`${what}: expected 0, or a number of at least 1e-19`);
  return weight;
}

function readFraction(value: unknown): Fraction | undefined {
  return typeof value === 'string' || typeof value === 'number' ? fractionOf(String(value)) : undefined;
}

function isOver({ numerator, denominator }: Fraction): boolean {
  return numerator > BigInt(MOST_COPIES) * denominator;
}

function requireFew(option: string, list: readonly unknown[]): void {
  if (list.length <= MOST_GROUPS) return;
  throw new UsageError(`${option} has ${list.length} entries; expected at most ${MOST_GROUPS}`);
}
