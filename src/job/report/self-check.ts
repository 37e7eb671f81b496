/**
 * Asks the sample of a job and the sizes of its piles whether they look like chance. Pure. Each check has the range in
 * which its value lies in 999 of 1000 jobs.
 */

import type { ExpectedRange, PileSizes, SampledRecord, SelfCheck } from '../../options/report-facts.js';
import { formatPlural } from '../../values/format-numbers.js';

/** 999 of 1000 normal numbers lie within this many standard deviations of the mean. */
const DEVIATIONS = 3.29;
/** Fewer records say too little. */
export const FEWEST_RECORDS = 100;
/** A chi-square test needs this many expected in each cell. */
const FEWEST_IN_CELL = 5;
const MOST_CELLS = 10;

/** A job with a number of records to write writes fewer than it orders. */
interface RecordCounts {
  readonly ordered: number;
  readonly written: number;
}

/** @param isOrdered whether places in the input may say something of places in the output, as where values choose splits. */
export function selfChecks(
  sample: readonly SampledRecord[],
  { ordered, written }: RecordCounts,
  piles: PileSizes | undefined,
  isOrdered: boolean,
): SelfCheck[] {
  if (sample.length < FEWEST_RECORDS) return pileChecks(piles);
  const ofPlaces = isOrdered ? [] : placeChecks(sample, written);
  return [...ofPlaces, ...neighbourChecks(sample, ordered), ...pileChecks(piles)];
}

function placeChecks(sample: readonly SampledRecord[], recordCount: number): SelfCheck[] {
  const n = sample.length;
  const from = ranksOf(sample.map(({ fromPart }) => fromPart));
  return [
    checked(
      'Places',
      'Correlation of the place in the input with the place in the output: 1 is the old order, -1 the old order backwards.',
      correlation(from, [...from.keys()]),
      normal(0, 1 / Math.sqrt(n - 1)),
    ),
    checked(
      'Serial correlation',
      'Correlation of the place in the input of each sampled record with that of the next one in the output.',
      correlation(from.slice(0, -1), from.slice(1)),
      normal(-1 / n, 1 / Math.sqrt(n)),
    ),
    evenness(sample, recordCount),
  ];
}

/** Returns whether the records of each part of the inputs are spread evenly over the output. */
function evenness(sample: readonly SampledRecord[], recordCount: number): SelfCheck {
  const side = Math.min(MOST_CELLS, Math.max(2, Math.floor(Math.sqrt(sample.length / FEWEST_IN_CELL))));
  const rows = ranksOf(sample.map(({ fromPart }) => fromPart)).map((rank) => Math.floor((rank * side) / sample.length));
  const columns = sample.map(({ rank }) => Math.floor((rank * side) / recordCount));
  const inRow = new Array<number>(side).fill(0);
  const inColumn = new Array<number>(side).fill(0);
  const inCell = new Array<number>(side ** 2).fill(0);
  const addTo = (counts: number[], place: number) => {
    counts[place] = (counts[place] ?? 0) + 1;
  };
  for (const [i, row] of rows.entries()) {
    const column = columns[i] ?? 0;
    addTo(inRow, row);
    addTo(inColumn, column);
    addTo(inCell, row * side + column);
  }
  const value = sum(
    inCell.map((count, cell) => {
      const expected = ((inRow[Math.floor(cell / side)] ?? 0) * (inColumn[cell % side] ?? 0)) / sample.length;
      return expected === 0 ? 0 : (count - expected) ** 2 / expected;
    }),
  );
  const question = `Chi-square of ${side} parts of the inputs by ${side} parts of the output: large if some part of the inputs is more frequent in some part of the output, near 0 if it is spread more evenly than chance does.`;
  return checked('Even spread', question, value, chiSquare((side - 1) ** 2));
}

/** Any of the ordered records may follow one that is written, also one that is not written itself. */
function neighbourChecks(sample: readonly SampledRecord[], orderedCount: number): SelfCheck[] {
  const known = sample.filter(({ keepsNeighbour }) => keepsNeighbour !== undefined);
  if (known.length === 0) return [];
  const mean = known.length / orderedCount;
  const question = `Of ${formatPlural(known.length, 'sampled record')}, how many are followed in the output by the record that followed them in their input.`;
  const kept = known.filter(({ keepsNeighbour }) => keepsNeighbour === true).length;
  const expected = { mean, standardDeviation: Math.sqrt(mean), lowest: 0, highest: poissonHighest(mean) };
  return [checked('Neighbours kept', question, kept, expected)];
}

function pileChecks(piles: PileSizes | undefined): SelfCheck[] {
  if (piles?.expected === undefined || piles.records.length < 2) return [];
  const { mean } = piles.expected;
  if (mean < FEWEST_IN_CELL) return [];
  const value = sum(piles.records.map((count) => (count - mean) ** 2 / mean));
  const question = `Chi-square of the records of ${formatPlural(piles.records.length, 'pile')}: large if piles differ more than chance allows, near 0 if they differ less.`;
  return [checked('Sizes of piles', question, value, chiSquare(piles.records.length - 1))];
}

function checked(name: string, question: string, value: number, expected: ExpectedRange): SelfCheck {
  return { name, question, value, expected, isAsExpected: value >= expected.lowest && value <= expected.highest };
}

/** A binomial number: how many of `count` have a property that each has with this chance. */
export function binomial(count: number, chance: number): ExpectedRange {
  const { mean, standardDeviation, lowest, highest } = normal(count * chance, Math.sqrt(count * chance * (1 - chance)));
  return { mean, standardDeviation, lowest: Math.max(0, lowest), highest: Math.min(count, highest) };
}

function normal(mean: number, standardDeviation: number): ExpectedRange {
  const reach = DEVIATIONS * standardDeviation;
  return { mean, standardDeviation, lowest: mean - reach, highest: mean + reach };
}

/** Returns the range by the approximation of Wilson and Hilferty: the cube root of chi-square is nearly normal. */
export function chiSquare(degrees: number): ExpectedRange {
  const spread = 2 / (9 * degrees);
  const at = (deviations: number) => degrees * Math.max(0, 1 - spread + deviations * Math.sqrt(spread)) ** 3;
  return {
    mean: degrees,
    standardDeviation: Math.sqrt(2 * degrees),
    lowest: at(-DEVIATIONS),
    highest: at(DEVIATIONS),
  };
}

/** The smallest number that a Poisson number exceeds in less than 1 of 1000 jobs. */
export function poissonHighest(mean: number): number {
  let chance = Math.exp(-mean);
  let below = chance;
  let number = 0;
  while (below < 0.999) {
    number += 1;
    chance *= mean / number;
    below += chance;
  }
  return number;
}

/** The rank of each value among all, from 0; equal ones in their order. */
function ranksOf(values: readonly number[]): number[] {
  const ranks = new Array<number>(values.length).fill(0);
  const ascending = values.map((_, i) => i).sort((a, b) => (values[a] ?? 0) - (values[b] ?? 0));
  for (const [rank, i] of ascending.entries()) ranks[i] = rank;
  return ranks;
}

/** Pearson's; 0 where one side is constant. */
export function correlation(a: readonly number[], b: readonly number[]): number {
  const meanOf = (values: readonly number[]) => sum(values) / values.length;
  const [meanA, meanB] = [meanOf(a), meanOf(b)];
  const product = sum(a.map((value, i) => (value - meanA) * ((b[i] ?? 0) - meanB)));
  const squares = sum(a.map((value) => (value - meanA) ** 2)) * sum(b.map((value) => (value - meanB) ** 2));
  return squares === 0 ? 0 : product / Math.sqrt(squares);
}

export function sum(values: readonly number[]): number {
  return values.reduce((all, value) => all + value, 0);
}
