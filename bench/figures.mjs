// @ts-check
// Computes figures from runs. Pure. Medians, because one slow round says nothing; ratios, because seconds of another
// machine or another day say little. A ratio is given twice: of the two medians, and as the median of the ratios within
// each round. Bars apply to the second: both runs of a round had the same conditions. Ratios compare the time per byte,
// which equals the time if both contestants read the same inputs.

/** @import { Bar } from './cases.mjs' */
/** @import { Run } from './measure.mjs' */

/**
 * @typedef {object} Figures
 * @property {{ median: number, best: number, worst: number }} wallSeconds
 * @property {number} userSeconds median
 * @property {number} sysSeconds median
 * @property {number} cpuSecondsPerGb user and system, a GB (1e9 bytes) of data
 * @property {number} userSecondsPerGb
 * @property {number} megabytesPerSecond of data, at the median
 * @property {number | null} peakRssBytes the largest seen
 */

/**
 * @typedef {object} Comparison
 * @property {FigureName} name
 * @property {number | null} ofMedians
 * @property {number | null} median within rounds, or the figure itself; null: there is a bar, but no measurement
 * @property {Bar | null} bar
 * @property {boolean | null} isMet
 */

/** @typedef {{ runs: Run[], dataBytes: number }} Measured one or more runs of a contestant, and the bytes it reads */
/** @typedef {{ bytes: number, lines: number }} Data */

/** @typedef {(typeof comparedPairs)[number]} Pair */
/** @typedef {(typeof comparedReaders)[number]} Reader */
/** @typedef {`${Pair[0]} / ${Pair[1]}` | `${Reader} / pileshuf pass 1` | keyof typeof ownFigures} FigureName */
/** @typedef {Partial<Record<FigureName, Bar>>} Bars */

const comparedPairs = /** @type {const} */ ([
  ['resumable', 'pileshuf'],
  ['pileshuf', 'zstd-recode'],
  ['pileshuf', 'floor'],
  ['pileshuf', 'floor-fsync'],
  ['pileshuf', 'cat-fsync'],
  ['terashuf', 'pileshuf'],
  ['shuf', 'pileshuf'],
  ['duckdb', 'pileshuf'],
  ['buffer', 'pileshuf'],
  ['pyarrow', 'pileshuf'],
  ['datasets', 'pileshuf'],
  ['pileshuf', 'as-lines'],
  ['pileshuf', 'uncapped'],
  ['one-worker', 'pileshuf'],
  ['former', 'pileshuf'],
  ['in-piles', 'pileshuf'],
  ['shards', 'pileshuf'],
  ['shuf-sample', 'sample'],
  ['sample', 'read'],
  ['pileshuf', 'eighth'],
  ['sort-u', 'unique'],
  ['unique-shards', 'unique'],
]);

/** Contestants that only read are compared with pass 1, which reads. */
const comparedReaders = /** @type {const} */ (['read', 'pigz-dc', 'igzip-dc', 'zstd-dc']);

/** Figures of pileshuf alone; shown if there is a bar. */
const ownFigures = {
  'pileshuf user CPU s/GB': (/** @type {Figures} */ own) => own.userSecondsPerGb,
  'pileshuf user CPU ns/record': (/** @type {Figures} */ own, /** @type {Data} */ data) =>
    (own.userSeconds / data.lines) * 1e9,
  'pileshuf wall s': (/** @type {Figures} */ own) => own.wallSeconds.median,
};

/** @param {Measured} measured @returns {Figures} */
export function figuresOf({ runs, dataBytes }) {
  const walls = runs.map((run) => run.wallSeconds);
  const userSeconds = medianOf(runs.map((run) => run.userSeconds ?? 0));
  const sysSeconds = medianOf(runs.map((run) => run.sysSeconds ?? 0));
  const median = medianOf(walls);
  return {
    wallSeconds: { median, best: Math.min(...walls), worst: Math.max(...walls) },
    userSeconds,
    sysSeconds,
    cpuSecondsPerGb: ((userSeconds + sysSeconds) / dataBytes) * 1e9,
    userSecondsPerGb: (userSeconds / dataBytes) * 1e9,
    megabytesPerSecond: dataBytes / median / 1e6,
    peakRssBytes: largestOf(runs.map((run) => run.peakRssBytes)),
  };
}

/**
 * @param {Map<string, Measured>} measuredByName of the contestants without an error
 * @param {Data} data everything that pileshuf reads
 * @param {Bars} bars
 * @returns {Comparison[]}
 */
export function comparisonsOf(measuredByName, data, bars) {
  /** @type {Comparison[]} */
  const comparisons = [];
  for (const [above, below] of comparedPairs) {
    const aboveMeasured = measuredByName.get(above);
    const belowMeasured = measuredByName.get(below);
    if (!aboveMeasured || !belowMeasured) continue;
    comparisons.push(compared(`${above} / ${below}`, aboveMeasured, secondsPerByte(belowMeasured), bars));
  }
  const own = measuredByName.get('pileshuf');
  const pass1 = new Map(own?.runs.map((run) => [run.round, (run.pass1Seconds ?? Number.NaN) / own.dataBytes]));
  for (const reader of comparedReaders) {
    const measured = measuredByName.get(reader);
    if (own && measured) comparisons.push(compared(`${reader} / pileshuf pass 1`, measured, pass1, bars));
  }
  for (const [name, figure] of entriesOf(ownFigures)) {
    const value = own && bars[name] ? figure(figuresOf(own), data) : null;
    if (value !== null) comparisons.push(held(name, null, value, bars));
  }
  const found = new Set(comparisons.map(({ name }) => name));
  const missing = entriesOf(bars).flatMap(([name]) => (found.has(name) ? [] : [held(name, null, null, bars)]));
  return [...comparisons, ...missing];
}

/**
 * The time of the first divided by the time of the second in the same round: the median over their common rounds.
 *
 * @param {Run[]} above
 * @param {Run[]} below
 * @param {(run: Run) => number | null} figure
 * @returns {number | null} null if there is no common round
 */
export function ratioInRounds(above, below, figure) {
  const belowOfRound = new Map(below.map((run) => [run.round, figure(run)]));
  const ratios = above.flatMap((run) => {
    const [upper, lower] = [figure(run), belowOfRound.get(run.round) ?? null];
    return upper === null || lower === null ? [] : [upper / lower];
  });
  return ratios.length === 0 ? null : medianOf(ratios);
}

/**
 * @param {FigureName} name
 * @param {Measured} above
 * @param {Map<number, number>} belowSecondsPerByte by round
 * @param {Bars} bars
 * @returns {Comparison}
 */
function compared(name, above, belowSecondsPerByte, bars) {
  const aboveSecondsPerByte = secondsPerByte(above);
  const ratios = [...aboveSecondsPerByte].map(
    ([round, seconds]) => seconds / (belowSecondsPerByte.get(round) ?? Number.NaN),
  );
  const [upper, lower] = [aboveSecondsPerByte, belowSecondsPerByte].map((each) => medianOf([...each.values()]));
  return held(name, (upper ?? Number.NaN) / (lower ?? Number.NaN), medianOf(ratios), bars);
}

/** @param {Measured} measured @returns {Map<number, number>} by round */
function secondsPerByte({ runs, dataBytes }) {
  return new Map(runs.map((run) => [run.round, run.wallSeconds / dataBytes]));
}

/**
 * @param {FigureName} name
 * @param {number | null} ofMedians
 * @param {number | null} median
 * @param {Bars} bars
 * @returns {Comparison}
 */
function held(name, ofMedians, median, bars) {
  const bar = bars[name] ?? null;
  return { name, ofMedians, median, bar, isMet: bar === null || median === null ? null : isWithin(bar, median) };
}

/** @param {Bar} bar @param {number} value */
function isWithin({ atMost = Number.POSITIVE_INFINITY, atLeast = 0 }, value) {
  return value >= atLeast && value <= atMost;
}

/** @param {(number | null)[]} values */
function largestOf(values) {
  const known = values.filter((value) => value !== null);
  return known.length === 0 ? null : Math.max(...known);
}

/**
 * `Object.entries` with the types of the keys.
 *
 * @template {string} Key
 * @template Value
 * @param {Partial<Record<Key, Value>>} object
 */
function entriesOf(object) {
  return /** @type {[Key, Value][]} */ (Object.entries(object));
}

/** @param {number[]} values at least one */
export function medianOf(values) {
  const sorted = [...values].sort((a, b) => a - b);
  const at = (/** @type {number} */ index) => sorted[index] ?? Number.NaN;
  const half = Math.floor(sorted.length / 2);
  return sorted.length % 2 === 1 ? at(half) : (at(half - 1) + at(half)) / 2;
}
