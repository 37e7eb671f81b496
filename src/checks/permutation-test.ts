/**
 * Permutation tests of exchangeability: statistics of a sequence of rows are compared with those of the same rows in random
 * orders. If the rows are in random order already, all orders are equally likely, so the test is exact whatever the rows are.
 * Several statistics are tested together by the largest of them (Westfall and Young), so their number costs no false alarms.
 * Probabilities below 1 / orders come from a gamma distribution with the first three moments of the statistics in the random
 * orders (Pearson type III). docs/CHECKING.md explains it. Pure: all chance comes from a seed.
 */

/** A sequence of numbers from 0 to 1, always the same for a seed: sfc32, of PractRand. */
export function drawsOf(seed: number): () => number {
  let [a, b, c, count] = [seed | 0, 0x9e3779b9, 0x243f6a88, 1];
  const next = () => {
    const sum = (a + b + count) | 0;
    count = (count + 1) | 0;
    a = b ^ (b >>> 9);
    b = (c + (c << 3)) | 0;
    c = (c << 21) | (c >>> 11);
    c = (c + sum) | 0;
    return (sum >>> 0) / 2 ** 32;
  };
  for (let i = 0; i < 12; i++) next();
  return next;
}

export function shuffleRange(order: Uint32Array, from: number, to: number, draw: () => number): void {
  for (let i = to - 1; i > from; i--) {
    const j = from + Math.floor(draw() * (i - from + 1));
    const former = order[i] ?? 0;
    order[i] = order[j] ?? 0;
    order[j] = former;
  }
}

export function identityOrder(count: number): Uint32Array {
  return Uint32Array.from({ length: count }, (_, i) => i);
}

/** The random orders of a test; more make small probabilities more precise. */
const ORDERS = 499;
/** A test is wrong with about this probability, so that thousands of checks have no false verdict. */
const LARGEST_TAIL = 1e-6;

export interface NullDistribution {
  readonly moments: readonly { readonly mean: number; readonly deviation: number; readonly skewness: number }[];
  /** The largest statistic of each random order, in standard deviations from its mean. */
  readonly largest: readonly number[];
}

export interface TestResult {
  readonly isSeen: boolean;
  /** Probability of so large a statistic in a random order: of all statistics together, from the gamma distributions. */
  readonly probability: number;
  /** The probability of each statistic, not corrected for their number. */
  readonly tails: readonly number[];
}

export function nullDistribution(
  rowCount: number,
  statisticsOf: (order: Uint32Array) => readonly number[],
  shuffle: (order: Uint32Array, draw: () => number) => void,
): NullDistribution {
  const draw = drawsOf(1);
  const order = identityOrder(rowCount);
  const drawn = Array.from({ length: ORDERS }, () => {
    shuffle(order, draw);
    return statisticsOf(order);
  });
  const moments = (drawn[0] ?? []).map((_, i) => momentsOf(drawn.map((statistics) => statistics[i] ?? 0)));
  const largest = drawn.map((statistics) => Math.max(0, ...statistics.map((value, i) => distance(value, moments[i]))));
  return { moments, largest };
}

export function testAgainst({ moments, largest }: NullDistribution, statistics: readonly number[]): TestResult {
  const distances = statistics.map((value, i) => distance(value, moments[i]));
  const tails = distances.map((value, i) => tailOf(value, moments[i]?.skewness ?? 0));
  const most = Math.max(0, ...distances);
  const count = moments.filter(({ deviation }) => deviation > 0).length;
  const probability = Math.min(1, count * Math.min(1, ...tails));
  return {
    isSeen: largest.every((value) => value < most) && probability <= LARGEST_TAIL,
    probability,
    tails,
  };
}

function momentsOf(values: readonly number[]) {
  const mean = values.reduce((sum, value) => sum + value, 0) / values.length;
  const central = (power: number) => values.reduce((sum, value) => sum + (value - mean) ** power, 0) / values.length;
  const deviation = Math.sqrt(central(2));
  // What differs in rounding alone does not vary.
  if (deviation <= 1e-9 * Math.abs(mean) || deviation === 0) return { mean, deviation: 0, skewness: 0 };
  return { mean, deviation, skewness: central(3) / deviation ** 3 };
}

function distance(value: number, moments: NullDistribution['moments'][number] | undefined): number {
  return moments === undefined || moments.deviation === 0 ? 0 : (value - moments.mean) / moments.deviation;
}

const LEAST_SKEWNESS = 0.02;

/** Probability of more than `distance` standard deviations, for a gamma distribution of this skewness. */
function tailOf(distance: number, skewness: number): number {
  if (distance <= 0) return 1;
  // A distribution that leans to the other side has a shorter tail than this.
  const shape = 4 / Math.max(LEAST_SKEWNESS, skewness) ** 2;
  return upperGamma(shape, shape + distance * Math.sqrt(shape));
}

/** The regularized upper incomplete gamma function Q(shape, x), for x > shape: a continued fraction (Lentz). */
export function upperGamma(shape: number, x: number): number {
  const TINY = 1e-300;
  let b = x + 1 - shape;
  let c = 1 / TINY;
  let d = 1 / b;
  let fraction = d;
  for (let i = 1; i < 2000; i++) {
    const a = -i * (i - shape);
    b += 2;
    d = a * d + b;
    if (Math.abs(d) < TINY) d = TINY;
    c = b + a / c;
    if (Math.abs(c) < TINY) c = TINY;
    d = 1 / d;
    fraction *= d * c;
    if (Math.abs(d * c - 1) < 1e-12) break;
  }
  return Math.min(1, Math.exp(shape * Math.log(x) - x - logGamma(shape)) * fraction);
}

/** The logarithm of the gamma function, by Stirling's series. */
function logGamma(x: number): number {
  let [shifted, before] = [x, 0];
  for (; shifted < 12; shifted++) before += Math.log(shifted);
  const square = shifted * shifted;
  const series = (1 / 12 - (1 / 360 - 1 / (1260 * square)) / square) / shifted;
  return (shifted - 0.5) * Math.log(shifted) - shifted + Math.log(2 * Math.PI) / 2 + series - before;
}
