// @ts-check
// The measured rows of the table in README.md: `npm run bench:peers` measures pileshuf beside other tools and writes the
// result to bench/results/DATE-peers.json and the rows to README.md. Options after `--` are those of the bench;
// `--table-only` writes the rows of the last result.

import { spawnSync } from 'node:child_process';
import fs from 'node:fs';
import path from 'node:path';

/** @typedef {{ name: string, outcome: string, figures: { wallSeconds: { median: number } } | null }} Measured */
/** @typedef {{ case: { name: string }, corpus: { bytes: number }, contestants: Measured[], comparisons: { name: string, median: number | null }[] }} Result */

const root = path.join(import.meta.dirname, '..');
const resultsDir = path.join(import.meta.dirname, 'results');
const readme = path.join(root, 'README.md');

/** The cases, and what the rows of the table say of them behind the size of the data. */
const labels = new Map([
  ['peers', ''],
  ['peers-cgroup', ' in 512 MB of memory'],
]);
/** In the order of the columns. */
const columns = ['pileshuf', 'shuf', 'terashuf', 'duckdb', 'buffer'];

/** @param {Result[]} cases @returns {string[]} the rows of the table */
export function peerRows(cases) {
  return cases.flatMap((result) => {
    const label = labels.get(result.case.name);
    if (label === undefined) return [];
    const data = `${Number((result.corpus.bytes / 1e9).toFixed(1))} GB of lines${label}`;
    return [`| ${[data, ...columns.map((name) => cellOf(result, name))].join(' | ')} |`];
  });
}

/** @param {Result} result @param {string} name */
function cellOf({ contestants, comparisons }, name) {
  const { figures = null, outcome = '' } = contestants.find((each) => each.name === name) ?? {};
  if (figures === null) return /memory|killed/.test(outcome) ? '**cannot**' : 'not measured';
  const seconds = `${digits(figures.wallSeconds.median)} s`;
  if (name === 'pileshuf') return `**${seconds}**`;
  const ratio = comparisons.find((each) => each.name === `${name} / pileshuf`)?.median ?? null;
  return ratio === null ? seconds : `${seconds}, ${digits(ratio)} x`;
}

/** @param {number} value */
const digits = (value) => value.toFixed(value < 10 ? 1 : 0);

/**
 * The text with these rows in place of its measured ones, in columns as wide as those of the row before.
 * @param {string} text @param {string[]} rows
 */
export function withRows(text, rows) {
  const old = /^(.*)\n(?:\| [\d.]+ GB of lines.*\n)+/m;
  if (!old.test(text)) throw new Error('README.md has no rows that begin with "| 2 GB of lines"');
  return text.replace(old, (_, before) => {
    const widths = cellsOf(before).map((cell) => cell.length);
    const lines = rows.map(
      (row) =>
        `|${cellsOf(row)
          .map((cell, i) => cell.padEnd(widths[i] ?? 0))
          .join('|')}|`,
    );
    return [before, ...lines, ''].join('\n');
  });
}

/** @param {string} row */
const cellsOf = (row) => row.split('|').slice(1, -1);

/** @returns {Result[]} the cases of the last result */
export function lastPeerResult() {
  const [last] = fs
    .readdirSync(resultsDir)
    .filter((name) => name.endsWith('-peers.json'))
    .sort()
    .slice(-1);
  if (last === undefined) throw new Error('bench/results has no file named DATE-peers.json');
  return JSON.parse(fs.readFileSync(path.join(resultsDir, last), 'utf8')).cases;
}

function measure() {
  const date = new Date().toISOString().slice(0, 10);
  const json = path.join(resultsDir, `${date}-peers.json`);
  const argv = [
    path.join(import.meta.dirname, 'run.mjs'),
    '--cases',
    [...labels.keys()].join(),
    '--json',
    json,
    ...process.argv.slice(2),
  ];
  const { status } = spawnSync(process.execPath, argv, { stdio: 'inherit' });
  if (status !== 0) throw new Error(`the bench ended with exit status ${status}`);
}

if (path.resolve(process.argv[1] ?? '') === import.meta.filename) {
  if (!process.argv.includes('--table-only')) measure();
  fs.writeFileSync(readme, withRows(fs.readFileSync(readme, 'utf8'), peerRows(lastPeerResult())));
}
