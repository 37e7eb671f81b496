// @ts-check
// Turns runs into figures: pure. Medians, because one slow round says nothing; ratios, because seconds of another
// machine or another day mean little. A ratio is given twice: of the two medians, and as the median of the ratios
// within each round. The second is the one a bar is held against: both runs of a pair lived through the same weather.

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
 * @property {string} name
 * @property {number | null} ofMedians
 * @property {number} median within rounds, or the figure itself
 * @property {Bar | null} bar
 * @property {boolean | null} isMet
 */

const comparedPairs = /** @type {const} */ ([
  ['resumable', 'pileshuf'],
  ['gzip-program', 'pileshuf'],
  ['pileshuf', 'zstd-recode'],
  ['pileshuf', 'floor'],
  ['terashuf', 'pileshuf'],
  ['shuf', 'pileshuf'],
]);

/** What only reads is compared with pass 1, which reads. */
const comparedReaders = ['read', 'pigz-dc', 'igzip-dc', 'zstd-dc'];

/** @param {Run[]} runs at least one @param {number} dataBytes @returns {Figures} */
export function figuresOf(runs, dataBytes) {
  const walls = runs.map((run) => run.wallSeconds);
  const userSeconds = medianOf(runs.map((run) => run.userSeconds ?? 0));
  const sysSeconds = medianOf(runs.map((run) => run.sysSeconds ?? 0));
  const median = medianOf(walls);
  const peaks = runs.flatMap((run) => (run.peakRssBytes === null ? [] : [run.peakRssBytes]));
  return {
    wallSeconds: { median, best: Math.min(...walls), worst: Math.max(...walls) },
    userSeconds,
    sysSeconds,
    cpuSecondsPerGb: ((userSeconds + sysSeconds) / dataBytes) * 1e9,
    userSecondsPerGb: (userSeconds / dataBytes) * 1e9,
    megabytesPerSecond: dataBytes / median / 1e6,
    peakRssBytes: peaks.length === 0 ? null : Math.max(...peaks),
  };
}

/**
 * @param {Map<string, Run[]>} runsByName of the contestants that came through
 * @param {number} dataBytes
 * @param {Record<string, Bar>} bars
 * @returns {Comparison[]}
 */
export function comparisonsOf(runsByName, dataBytes, bars) {
  /** @type {Comparison[]} */
  const comparisons = [];
  for (const [above, below] of comparedPairs) {
    const aboveRuns = runsByName.get(above);
    const belowRuns = runsByName.get(below);
    if (!aboveRuns || !belowRuns) continue;
    const secondsByRound = new Map(belowRuns.map((run) => [run.round, run.wallSeconds]));
    comparisons.push(compared(`${above} / ${below}`, aboveRuns, secondsByRound, bars));
  }
  const pass1ByRound = new Map((runsByName.get('pileshuf') ?? []).map((run) => [run.round, run.pass1Seconds ?? 0]));
  for (const reader of comparedReaders) {
    const runs = runsByName.get(reader);
    if (runs) comparisons.push(compared(`${reader} / pileshuf pass 1`, runs, pass1ByRound, bars));
  }
  const ownRuns = runsByName.get('pileshuf');
  if (ownRuns) {
    const own = figuresOf(ownRuns, dataBytes);
    for (const [name, figure] of Object.entries({
      'pileshuf user CPU s/GB': own.userSecondsPerGb,
      'pileshuf wall s': own.wallSeconds.median,
    })) {
      if (bars[name]) comparisons.push(held(name, null, figure, bars));
    }
  }
  return comparisons;
}

/**
 * @param {string} name
 * @param {Run[]} aboveRuns
 * @param {Map<number, number>} secondsByRound what their wall times are divided by
 * @param {Record<string, Bar>} bars
 * @returns {Comparison}
 */
function compared(name, aboveRuns, secondsByRound, bars) {
  const ratios = aboveRuns.map((run) => run.wallSeconds / (secondsByRound.get(run.round) ?? Number.NaN));
  const ofMedians = medianOf(aboveRuns.map((run) => run.wallSeconds)) / medianOf([...secondsByRound.values()]);
  return held(name, ofMedians, medianOf(ratios), bars);
}

/**
 * @param {string} name
 * @param {number | null} ofMedians
 * @param {number} median
 * @param {Record<string, Bar>} bars
 * @returns {Comparison}
 */
function held(name, ofMedians, median, bars) {
  const bar = bars[name] ?? null;
  const isMet = bar === null ? null : 'atMost' in bar ? median <= bar.atMost : median >= bar.atLeast;
  return { name, ofMedians, median, bar, isMet };
}

/** @param {number[]} values at least one */
export function medianOf(values) {
  const sorted = [...values].sort((a, b) => a - b);
  const at = (/** @type {number} */ index) => sorted[index] ?? Number.NaN;
  const half = Math.floor(sorted.length / 2);
  return sorted.length % 2 === 1 ? at(half) : (at(half - 1) + at(half)) / 2;
}
