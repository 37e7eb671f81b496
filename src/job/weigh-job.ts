import { fractionOfParts } from '../../workers/read/field-sum.js';
import { UsageError } from '../errors.js';
import { inputName } from '../io/input-source.js';
import type { JobManifest } from '../job-directory/job-manifest.js';
import type { GroupReport } from '../options/reports.js';
import { type Fraction, factorOf, mostCopiesOf, numberOf, type Weight, weightsOfShares } from '../plan/weights.js';
import type { Input } from '../sources/source.js';
import type { Weighing } from '../sources/weigh-inputs.js';
import { type Grouping, groupInputs, refuseCopiesOfSamples, weighInputs } from '../sources/weigh-inputs.js';
import type { ReadSpec, ShareSpec, ShuffleSpec } from '../spec.js';
import type { CountedGroup } from '../stages/count-pass.js';
import type { GroupAmount } from '../stages/group-amounts.js';

export interface GroupedJob {
  /** Undefined: each record comes once, or `shared` says how often. */
  readonly given: Weighing | undefined;
  readonly shared: SharedGroups | undefined;
}

export interface SharedGroups {
  readonly shares: ShareSpec;
  readonly grouping: Grouping;
}

export async function groupJob(
  { read: { framing }, keep: { mix } }: ShuffleSpec,
  inputs: readonly Input[],
): Promise<GroupedJob> {
  const { weights, shares, option } = mix;
  if (shares !== undefined) {
    const grouping = await groupInputs(shares.groups, inputs, option);
    requireCountable(shares, grouping, inputs);
    return { given: undefined, shared: { shares, grouping } };
  }
  if (weights.length === 0) return { given: undefined, shared: undefined };
  const grouping = await groupInputs(weights, inputs, option);
  const given = weighInputs(
    weights,
    grouping,
    weights.map(({ weight }) => weight),
  );
  refuseCopiesOfSamples(given, framing);
  return { given, shared: undefined };
}

/** All inputs belong to a group, and can be read twice. */
function requireCountable({ groups }: ShareSpec, { groupOf }: Grouping, inputs: readonly Input[]): void {
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

export function weighByShares(
  shared: SharedGroups,
  counted: readonly CountedGroup[],
  framing: ReadSpec['framing'],
): Weighing {
  const { shares } = shared;
  const { unit } = shares;
  const amounts = counted.map(({ records, bytes, sum }) =>
    unit === 'records' ? wholeFraction(records) : unit === 'bytes' ? wholeFraction(bytes) : fractionOfParts(sum),
  );
  const weights = weightsOfShares(shares, amounts);
  const weighing = weighAs(shared, weights, amounts);
  refuseCopiesOfSamples(weighing, framing);
  return weighing;
}

function wholeFraction(number: number): Fraction {
  return { numerator: BigInt(number), denominator: 1n };
}

export function weighAsNoted(shared: SharedGroups, noted: NonNullable<JobManifest['shareWeights']>): Weighing {
  return weighAs(
    shared,
    noted.map(({ weight }) => weight),
    noted.map(({ amount }) => amount),
  );
}

function weighAs(
  { shares, grouping }: SharedGroups,
  weights: readonly Weight[],
  amounts: readonly (Fraction | undefined)[],
): Weighing {
  const weighing = weighInputs(shares.groups, grouping, weights);
  return { ...weighing, groups: weighing.groups.map((group, i) => ({ ...group, amount: amounts[i] })) };
}

/** @param unit of shares: `records`, `bytes` or a field; undefined: weights are given. */
export function reportGroups(
  { groups }: Weighing,
  amounts: readonly GroupAmount[],
  unit: string | undefined,
): GroupReport[] {
  return groups.flatMap(({ name, weight, inputCount, amount: inUnit }, i) => {
    const found = amounts[i];
    if (found === undefined) return [];
    const { undrawnSum, ...counted } = found;
    const { read, weighed } = counted;
    const epochs = read.records === 0 ? 0 : weighed.records / read.records;
    const isCounted = unit === 'records' || unit === 'bytes';
    const written = isCounted ? weighed[unit] : inUnit && writtenSum(inUnit, weight, undrawnSum);
    const factor = factorOf(weight);
    const ofUnit = inUnit && written !== undefined ? amountsInUnit(inUnit, factor, written) : undefined;
    return [{ name, factor, inputCount, ...counted, epochs, unit: ofUnit && { name: unit ?? '', ...ofUnit } }];
  });
}

/** The sum of a field over all copies; `undrawnSum` is that of the copies that were not drawn. */
function writtenSum(amount: Fraction, weight: Weight, undrawnSum: bigint): number {
  const undrawn = fractionOfParts(undrawnSum);
  return numberOf({
    numerator:
      BigInt(mostCopiesOf(weight)) * amount.numerator * undrawn.denominator - undrawn.numerator * amount.denominator,
    denominator: amount.denominator * undrawn.denominator,
  });
}

function amountsInUnit(amount: Fraction, factor: number, weighed: number) {
  const read = numberOf(amount);
  const expected = factor * read;
  // A product of two numbers has 15 digits that are exact.
  const digits = Number(expected.toPrecision(15));
  return { read, expected: amount.denominator === 1n ? Math.round(expected) : digits, weighed };
}
