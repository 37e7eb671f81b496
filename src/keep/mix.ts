/**
 * `weights` and `mix`: divides the inputs into groups by globs, and says how often the records of each group come. Groups
 * with shares are weighed when all inputs are counted. An input that the globs of several groups name belongs to the last
 * of them. The kernel's `weigh` makes the copies.
 */

import { UsageError } from '../errors.js';
import type { List } from '../floor/paged-list.js';
import { type FramingSpec, framingOf } from '../formats/framing-table.js';
import { pathMatcher } from '../io/list-files.js';
import type { Amount } from '../piles/pile-totals.js';
import { inputName } from '../places/inputs/input-source.js';
import { type Expected, type Scenario, spreadOfCount } from '../plan/sampled-records.js';
import { decimalOf, NO_SUMS, type ReadSums, type SumSpec } from './sum.js';
import { mostCopiesByNumber, type WeightBySpec } from './weight-by.js';
import {
  type Fraction,
  factorOf,
  fractionOfParts,
  isNothing,
  mostCopiesOf,
  numberOf,
  ONCE,
  type ShareGroup,
  type ShareMix,
  type Weight,
  weightsOfShares,
} from './weights.js';

/** Inputs that have a weight or a share together. */
export interface InputGroup {
  readonly name: string;
  readonly globs: readonly string[];
}

export interface MixSpec {
  /** Empty: each record comes once, or `shares` say how often. */
  readonly weights: readonly (InputGroup & { readonly weight: Weight })[];
  readonly shares: ShareSpec | undefined;
  /** The option that the caller gave, in backquotes. */
  readonly option: '`weights`' | '`mix`';
  /** All of it in words, to compare it when a job is resumed. */
  readonly words: readonly string[];
}

export interface ShareSpec extends ShareMix {
  readonly groups: readonly (ShareGroup & InputGroup)[];
}

/** Says how often records come. */
export interface CopySpec extends WeightBySpec {
  readonly mix: MixSpec;
}

/** Returns whether a record may come more than once. */
export function mayCopy(keep: CopySpec): boolean {
  const { weights, shares } = keep.mix;
  return (
    mostCopiesByNumber(keep) > 1 ||
    weights.some(({ weight }) => mostCopiesOf(weight) > 1) ||
    shares?.groups.some(({ maxEpochs: most }) => most.numerator > most.denominator) === true
  );
}

interface GroupedInput {
  readonly kind: string;
  readonly path: string;
}

/** A weight for each group, and for the inputs of none. */
export interface Weighing {
  /** The weights by the ordinal of the input, as `groupOf` is. */
  readonly weights: readonly Weight[];
  readonly groupOf: readonly number[];
  readonly groups: readonly WeighedGroup[];
  /** The mean of the numbers that weigh records, about, for estimates. Absent: it is unknown, or no number does. */
  readonly meanNumber?: number | undefined;
  /** True if stored records tell their groups. Absent: they do not. */
  readonly storesGroups?: boolean | undefined;
}

/** Returns the weights of a scatter that takes each record once, of the inputs that are read at all. */
export function takenOnce(weighing: Weighing | undefined): Weighing | undefined {
  if (weighing === undefined) return undefined;
  const weights = weighing.weights.map((weight) => (isNothing(weight) ? weight : ONCE));
  return { ...weighing, weights, storesGroups: weighing.groups.some(({ name }) => name !== undefined) };
}

interface WeighedGroup {
  /** The name of the group. Undefined: the inputs of no group. */
  readonly name: string | undefined;
  readonly weight: Weight;
  readonly inputCount: number;
  /** The amount that its inputs hold in the unit of shares, where they were counted. */
  readonly amount: Fraction | undefined;
}

export interface GroupedJob {
  /** The weights that the caller gave. Undefined: each record comes once, or `shared` says how often. */
  readonly given: Weighing | undefined;
  readonly shared: SharedGroups | undefined;
}

export interface SharedGroups {
  readonly shares: ShareSpec;
  /** The number after that of the last group stands for none. */
  readonly groupOf: readonly number[];
  readonly weigh: (weights: readonly Weight[], amounts: readonly (Fraction | undefined)[]) => Weighing;
}

/** Finds the group of each input, and its weight if that does not depend on the records. */
export async function groupInputsOfJob(
  {
    read: { framing },
    keep,
  }: { readonly read: { readonly framing: FramingSpec | undefined }; readonly keep: CopySpec },
  inputs: List<GroupedInput>,
): Promise<GroupedJob> {
  const { weights: given, shares, option } = keep.mix;
  const groups = shares?.groups ?? given;
  if (groups.length === 0 && keep.weightBy === undefined) return { given: undefined, shared: undefined };
  const groupOf = await groupInputs(groups, inputs, option);
  const weigh: SharedGroups['weigh'] = (weights, amounts) => {
    const weighing = weighInputs(groups, groupOf, weights, amounts);
    if (framing !== undefined && framingOf(framing).sampleKeys !== undefined) refuseWeighedCopies(keep, weighing);
    return weighing;
  };
  if (shares === undefined)
    return {
      given: weigh(
        given.map(({ weight }) => weight),
        [],
      ),
      shared: undefined,
    };
  requireCountable(shares, groupOf, inputs);
  return { given: undefined, shared: { shares, groupOf, weigh } };
}

async function groupInputs(
  groups: readonly InputGroup[],
  inputs: List<GroupedInput>,
  option: string,
): Promise<readonly number[]> {
  const isNamedBy = await Promise.all(groups.map(async ({ globs }) => Promise.all(globs.map(pathMatcher))));
  const isMet = new Set<InputGroup>();
  const groupOf = inputs.map(({ kind, path }) => {
    let last = groups.length;
    for (const [number, group] of groups.entries()) {
      if (kind === 'list' || isNamedBy[number]?.some((isNamed) => isNamed(path)) !== true) continue;
      isMet.add(group);
      last = number;
    }
    return last;
  });
  const taken = new Set(groupOf.map((number) => groups[number]));
  const without = groups.find((group) => !taken.has(group));
  if (without === undefined) return groupOf;
  const { name, globs } = without;
  const what = globs.length === 1 && globs[0] === name ? name : `the group ${name}`;
  throw new UsageError(
    isMet.has(without)
      ? `${option}: ${what} names only inputs that later globs name, too; the last one counts, so put the general ones first`
      : `${option}: ${what} names no input; a glob is compared with the paths as given or found, one without a slash with each name in them`,
  );
}

/** All inputs belong to a group, and can be read twice. */
function requireCountable({ groups }: ShareSpec, groupOf: readonly number[], inputs: List<GroupedInput>): void {
  for (const [ordinal, { kind, path }] of inputs.entries()) {
    if (groupOf[ordinal] === groups.length)
      throw new UsageError(
        `\`mix\`: ${inputName(path)} is in no group; name it in one, or put a group with '**' before the others`,
      );
    if (kind === 'stream')
      throw new UsageError(
        `\`mix\`: ${inputName(path)} cannot be read twice, and inputs with shares are counted first; name a file, or give weights`,
      );
  }
}

function weighInputs(
  groups: readonly InputGroup[],
  groupOf: readonly number[],
  weights: readonly Weight[],
  amounts: readonly (Fraction | undefined)[],
): Weighing {
  const inputCounts = new Float64Array(groups.length + 1);
  for (const group of groupOf) inputCounts[group] = (inputCounts[group] ?? 0) + 1;
  const all = [...weights, ONCE].map((weight, group) => ({
    name: groups[group]?.name,
    weight,
    inputCount: inputCounts[group] ?? 0,
    amount: amounts[group],
  }));
  const ofInputs = groupOf.map((group) => weights[group] ?? ONCE);
  if (ofInputs.length > 0 && ofInputs.every(isNothing))
    throw new UsageError('all inputs have the weight 0; expected a weight above 0');
  return { weights: ofInputs, groupOf, groups: all.filter(({ inputCount }) => inputCount > 0) };
}

/** Readers of tar files join neighbouring copies of a sample to one. */
function refuseWeighedCopies(keep: CopySpec, { groups }: Weighing): void {
  if (mostCopiesByNumber(keep) > 1)
    throw new UsageError(
      'samples of tar files cannot come more than once, because readers join copies that are neighbours: give `weightBy` a `weightCap` of at most 1',
    );
  const group = groups.find(({ weight }) => mostCopiesOf(weight) > 1);
  if (group === undefined) return;
  throw new UsageError(
    `${group.name} has the weight ${factorOf(group.weight)}, and samples of tar files cannot come more than once, because readers join copies that are neighbours; expected at most 1`,
  );
}

/** The mean of squared lengths, over the square of their mean, may be this squared. */
const SQUARED_LENGTHS = 2;

/** Returns what a weight makes of records. The draws of few records vary around their mean. */
export function expectCopies(
  { records, bytes }: { readonly records: Expected; readonly bytes: Expected },
  weight: Weight,
  each: Scenario,
  numbers?: { readonly mean: number; readonly most: number },
): Amount {
  if (numbers !== undefined) return expectByNumbers({ records, bytes }, factorOf(weight), each, numbers);
  const { copies } = weight;
  const factor = factorOf(weight);
  const chance = factor - copies;
  const spread = spreadOfCount(each, records.most * chance * (1 - chance));
  const meanBytes = bytes.expected / Math.max(1, records.expected);
  const made = (amount: number, more: number) =>
    Math.min(amount * mostCopiesOf(weight), Math.max(amount * copies, amount * factor + more));
  return { records: made(records[each], spread), bytes: made(bytes[each], SQUARED_LENGTHS * meanBytes * spread) };
}

/** The mean of numbers comes from a sample. */
const NUMBERS_ERROR = 2;

/** Returns what numbers in records make of these, times the factor of their input. */
function expectByNumbers(
  all: { readonly records: Expected; readonly bytes: Expected },
  factor: number,
  each: Scenario,
  { mean, most }: { readonly mean: number; readonly most: number },
): Amount {
  const made = { least: 0, expected: mean, most: Math.min(most, NUMBERS_ERROR * mean) }[each] * factor;
  return { records: all.records[each] * made, bytes: all.bytes[each] * made };
}

export interface CountedGroup extends Amount {
  /** The sum of the field, in parts of 10^-15; 0 without one. */
  readonly sum: bigint;
  /** The same times the numbers that weigh records, in parts of 2^64. Absent: no numbers do, or they are not counted. */
  readonly weighed?: Readonly<Record<'records' | 'bytes' | 'sum', bigint>> | undefined;
}

export function weighByShares({ shares, weigh }: SharedGroups, counted: readonly CountedGroup[]): Weighing {
  const { unit } = shares;
  const amounts = counted.map(({ weighed, ...group }): Fraction => {
    const isCounted = unit === 'records' || unit === 'bytes';
    const { numerator, denominator } = isCounted
      ? { numerator: weighed?.[unit] ?? BigInt(group[unit]), denominator: 1n }
      : fractionOfParts(weighed?.sum ?? group.sum);
    return { numerator, denominator: weighed === undefined ? denominator : denominator << 64n };
  });
  return weigh(weightsOfShares(shares, amounts), amounts);
}

/** The amount that was found of a group of inputs. */
export interface GroupAmount {
  readonly read: Amount;
  /** The result: records and their copies. */
  readonly weighed: Amount;
  /** The weights of its records, and those times their bytes, added up in parts of 2^64. Absent: its factor says the same. */
  readonly expected?: { readonly records: bigint; readonly bytes: bigint } | undefined;
  /** The sums of a number in its records. Absent: nothing is added up. */
  readonly sums?: ReadSums | undefined;
}

/** Returns what a report says of each group. */
export function reportGroups(
  { groups }: Weighing,
  found: readonly GroupAmount[],
  { mix, sum: rule }: CopySpec & SumSpec,
) {
  const unit = mix.shares?.unit;
  return groups.map(({ name, weight, inputCount, amount: inUnit }, i) => {
    const { read, weighed, expected: byNumbers, sums = NO_SUMS } = found[i] ?? NOTHING_FOUND;
    const factor = factorOf(weight);
    const expected =
      byNumbers === undefined
        ? { records: Math.round(factor * read.records), bytes: Math.round(factor * read.bytes) }
        : { records: nearestWhole(byNumbers.records), bytes: nearestWhole(byNumbers.bytes) };
    const epochs = read.records === 0 ? 0 : weighed.records / read.records;
    const isCounted = unit === 'records' || unit === 'bytes';
    const ofUnit = inUnit && {
      name: unit ?? '',
      ...amountsInUnit(inUnit, factor, isCounted ? weighed[unit] : numberOf(fractionOfParts(sums.made))),
    };
    const sum = rule ? { read: decimalOf(sums.read), weighed: decimalOf(sums.made) } : undefined;
    return { name, factor, inputCount, read, expected, weighed, epochs, unit: ofUnit, sum };
  });
}

/** @param parts of 2^64. */
function nearestWhole(parts: bigint): number {
  return Number((parts + 2n ** 63n) >> 64n);
}

const NOTHING_FOUND: GroupAmount = {
  read: { records: 0, bytes: 0 },
  weighed: { records: 0, bytes: 0 },
};

function amountsInUnit(amount: Fraction, factor: number, weighed: number) {
  const read = numberOf(amount);
  const expected = factor * read;
  // A product of two numbers has 15 digits that are exact.
  const digits = Number(expected.toPrecision(15));
  return { read, expected: amount.denominator === 1n ? Math.round(expected) : digits, weighed };
}
