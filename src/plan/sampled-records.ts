/**
 * Says what drawn windows tell of the number of all records: an estimate, and two limits between which the truth lies.
 * Pure.
 */

import type { Amount } from '../piles/pile-totals.js';

/** An estimate from samples. The three fields are equal if the number is exact. */
export interface Expected {
  readonly least: number;
  readonly expected: number;
  readonly most: number;
}

/** A case: as few records as the samples and chance allow, as many as are expected, or as many as there can be. */
export type Scenario = keyof Expected;

/** A part of the data in which each byte was equally likely to choose a window. */
export interface Stratum {
  readonly bytes: number;
  /** Records for a byte, in each drawn window. One window alone is all of the stratum. */
  readonly densities: readonly number[];
  /** How many times more records, or fewer, it may have, because only a part of it can be seen; 1: all of it can. */
  readonly doubt: number;
}

/** The standard errors within which 99 of 100 normal means lie from the truth. Skewed lengths make that about 95. */
const DEVIATIONS = 2.576;
/** The records that are expected in hardly one of 100 cases if a sample has none of them. */
const UNSEEN_RECORDS = 4.5;

/**
 * The number of all records, with limits within which it lies in at least 95 of 100 cases.
 * @param seenBytes of all windows.
 * @param least so many records there are in any case.
 */
export function estimateRecords(strata: readonly Stratum[], seenBytes: number, least: number): Expected {
  let [low, expected, high, variance, squares, bytes] = [0, 0, 0, 0, 0, 0];
  for (const stratum of strata) {
    const records = stratum.bytes * meanOf(stratum.densities);
    low += records / stratum.doubt;
    expected += records;
    high += records * stratum.doubt;
    bytes += stratum.bytes;
    const ofStratum = varianceOf(stratum);
    variance += ofStratum;
    squares += ofStratum ** 2 / Math.max(1, stratum.densities.length - 1);
  }
  const error = variance > 0 ? deviationsOf(variance ** 2 / squares) * Math.sqrt(variance) : 0;
  const unseen = seenBytes < bytes ? (UNSEEN_RECORDS * bytes) / Math.max(1, seenBytes) : 0;
  const from = Math.max(least, low - error);
  const about = Math.max(from, expected);
  // A few windows may have most records: sums of such numbers are more often too small than too large.
  const most = high * Math.exp(error / Math.max(1, expected)) + unseen;
  return { least: from, expected: about, most: Math.max(about, Math.min(bytes, most)) };
}

/**
 * How many strata each stratum should become, `more` in all: more where its windows differ more, from one another or
 * from those of its neighbours.
 */
export function divideStrata(strata: readonly Stratum[], more: number): readonly number[] {
  const means = strata.map(({ densities }) => meanOf(densities));
  const errors = strata.map((stratum, i) => {
    const mean = means[i] ?? 0;
    const steps = [means[i - 1] ?? mean, means[i + 1] ?? mean].map((beside) => Math.abs(mean - beside));
    return Math.max(Math.sqrt(varianceOf(stratum)), stratum.bytes * Math.max(...steps));
  });
  const all = errors.reduce((sum, error) => sum + error, 0);
  return errors.map((error) => 1 + (all > 0 ? Math.round((more * error) / all) : 0));
}

function meanOf(numbers: readonly number[]): number {
  return numbers.reduce((sum, number) => sum + number, 0) / Math.max(1, numbers.length);
}

/** The variance of the number of records of a stratum, as its windows tell it. */
function varianceOf({ bytes, densities }: Stratum): number {
  const count = densities.length;
  if (count < 2) return 0;
  const mean = meanOf(densities);
  return (bytes ** 2 * densities.reduce((sum, density) => sum + (density - mean) ** 2, 0)) / (count * (count - 1));
}

/**
 * The quantile of Student's distribution that matches `DEVIATIONS`: the first terms of its expansion in 1 / freedom. A
 * few windows that differ most decide the variance: they are its degrees of freedom.
 */
function deviationsOf(freedom: number): number {
  const z = DEVIATIONS;
  return z + (z ** 3 + z) / (4 * freedom) + (5 * z ** 5 + 16 * z ** 3 + 3 * z) / (96 * freedom ** 2);
}

/** Returns what `size` says in each case. The limits are rounded outwards, but not for the errors of floating point. */
export function inEachScenario(size: (each: Scenario) => number): Expected {
  const most = size('most');
  const slack = 1e-6 + 1e-12 * Math.abs(most);
  return {
    least: Math.floor(size('least') + slack),
    expected: Math.round(size('expected')),
    most: Math.max(0, Math.ceil(most - slack)),
  };
}

export function exactly(value: number): Expected {
  return { least: value, expected: value, most: value };
}

/** Amounts of random records, in each case. */
export type AmountsByScenario = Readonly<Record<Scenario, Amount>>;

export function amountsByScenario(amountIn: (each: Scenario) => Amount): AmountsByScenario {
  return { least: amountIn('least'), expected: amountIn('expected'), most: amountIn('most') };
}

/** The side of the expected number on which a case lies. */
export const SCENARIO_SIGN: Readonly<Record<Scenario, number>> = { least: -1, expected: 0, most: 1 };
/** Counts of random keys hardly ever vary by more standard deviations. */
const COUNT_DEVIATIONS = 4;

/** How far a random count may lie from its mean. */
export function spreadOfCount(each: Scenario, variance: number): number {
  return SCENARIO_SIGN[each] * COUNT_DEVIATIONS * Math.sqrt(variance);
}

/** The bytes of so many random records. Without more knowledge, they differ in length as exponential ones do. */
export function bytesOfSome(records: number, { expected: all }: AmountsByScenario, each: Scenario): number {
  const meanBytes = all.bytes / Math.max(1, all.records);
  return Math.max(0, meanBytes * (records + spreadOfCount(each, records)));
}
