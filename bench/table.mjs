// @ts-check
// Formats the result of a case as text: a table of contestants and a table of comparisons with their bars. Pure.

/** @import { Bar } from './cases.mjs' */
/** @import { Comparison } from './figures.mjs' */
/** @import { CaseResult, ContestantResult } from './run-case.mjs' */

const contestantHeads = ['contestant', 'median s', 'best s', 'worst s', 'user s', 'sys s', 'CPU s/GB', 'user s/GB'];
const unitHeads = ['MB/s', 'RSS MB'];
const leastBytesForRates = 1e6; // with less data the time is mostly the start, and a rate means nothing

/** @param {CaseResult} result @returns {string} */
export function caseTable(result) {
  const hasRates = result.corpus.bytes >= leastBytesForRates;
  const absent = result.contestants.filter((each) => !each.figures);
  const lines = [
    title(result),
    ...columns([
      [...contestantHeads, ...unitHeads],
      ...result.contestants.flatMap((each) => contestantRow(each, hasRates)),
    ]),
    ...absent.map((each) => `  ${each.name}: ${each.outcome}${each.detail && `: ${each.detail}`}`),
  ];
  if (result.comparisons.length > 0) {
    const rows = result.comparisons.map((each) => [
      each.name,
      each.ofMedians === null ? '' : ratio(each.ofMedians),
      each.median === null ? '' : ratio(each.median),
      ...barCells(each),
    ]);
    lines.push('', ...columns([['comparison', 'of medians', 'in rounds', 'bar', ''], ...rows]));
  }
  return `${lines.join('\n')}\n`;
}

/** Every bar and what was measured for it, of all cases. @param {CaseResult[]} results @returns {string} */
export function barTable(results) {
  const rows = results.flatMap(({ case: { name }, comparisons }) =>
    comparisons.flatMap((each) =>
      each.bar === null
        ? []
        : [[`${name}: ${each.name}`, each.median === null ? '' : ratio(each.median), ...barCells(each)]],
    ),
  );
  return rows.length === 0 ? '' : `${columns([['figure', 'measured', 'bar', ''], ...rows]).join('\n')}\n`;
}

/** @param {Comparison} comparison @returns {string[]} */
function barCells({ bar, median, isMet }) {
  if (bar === null) return ['', ''];
  return [barText(bar), median === null ? 'not measured' : isMet ? 'met' : 'missed'];
}

/** @param {CaseResult} result */
function title({ case: { name, memory, cgroupLimitBytes }, corpus, rounds }) {
  const parts = [
    `${size(corpus.bytes)} in ${corpus.files.length} ${corpus.files.length === 1 ? 'file' : 'files'}`,
    `${corpus.lines.toLocaleString('en-US')} lines`,
    memory === undefined ? 'default memory' : `-S ${memory}`,
    cgroupLimitBytes === undefined ? 'no cgroup' : `memory cgroup of ${cgroupLimitBytes / 2 ** 20} MiB`,
    `${rounds} ${rounds === 1 ? 'round' : 'rounds'}`,
  ];
  return `${name}: ${parts.join(', ')}`;
}

/** @param {ContestantResult} contestant @param {boolean} hasRates @returns {string[][]} */
function contestantRow({ name, figures }, hasRates) {
  if (!figures) return [];
  const { wallSeconds } = figures;
  const times = [wallSeconds.median, wallSeconds.best, wallSeconds.worst, figures.userSeconds, figures.sysSeconds];
  const rates = [figures.cpuSecondsPerGb, figures.userSecondsPerGb, figures.megabytesPerSecond].map(significant);
  return [
    [
      name,
      ...times.map(seconds),
      ...(hasRates ? rates : ['', '', '']),
      figures.peakRssBytes === null ? '' : (figures.peakRssBytes / 1e6).toFixed(0),
    ],
  ];
}

/** @param {number} value */
const seconds = (value) => value.toFixed(value < 1 ? 3 : 2);
/** @param {number} value */
const significant = (value) => value.toFixed(value < 10 ? 2 : 0);
/** @param {number} value */
const ratio = (value) => value.toFixed(value < 10 ? 3 : 1);
/** @param {Bar} bar */
const barText = ({ atMost, atLeast }) =>
  [atLeast === undefined ? [] : `>= ${atLeast}`, atMost === undefined ? [] : `<= ${atMost}`].flat().join(', ');
/** @param {number} bytes */
const size = (bytes) => (bytes >= 1e9 ? `${(bytes / 1e9).toFixed(2)} GB` : `${(bytes / 1e6).toFixed(1)} MB`);

/** @param {string[][]} rows @returns {string[]} the first column to the left, the others to the right */
export function columns(rows) {
  const widths = (rows[0] ?? []).map((_, i) => Math.max(...rows.map((row) => (row[i] ?? '').length)));
  return rows.map((row) => {
    const cells = row.map((cell, i) => (i === 0 ? cell.padEnd(widths[i] ?? 0) : cell.padStart(widths[i] ?? 0)));
    return `  ${cells.join('  ')}`.trimEnd();
  });
}
