// @ts-check
// The regression guard: compares the present measurements with the committed baseline. Judging is pure.

import fs from 'node:fs';

/** @import { GuardFigure } from './guard-figures.mjs' */

/** @typedef {Pick<GuardFigure, 'name' | 'slack'>} Guarded */

/**
 * @typedef {object} Judged
 * @property {string} name
 * @property {number | null} measured
 * @property {number | null} baseline null when the baseline has no such figure
 * @property {number | null} bound
 * @property {'within' | 'beyond' | 'better' | 'not measured' | 'not in the baseline'} verdict
 */

export const renewCommand = 'npm run bench -- --renew-baseline';

/**
 * @param {Guarded[]} guarded
 * @param {Map<string, number | null>} measuredByName
 * @param {Map<string, number>} baselineByName
 * @returns {Judged[]}
 */
export function judge(guarded, measuredByName, baselineByName) {
  return guarded.map(({ name, slack }) => {
    const measured = measuredByName.get(name) ?? null;
    const baseline = baselineByName.get(name) ?? null;
    if (baseline === null) return { name, measured, baseline, bound: null, verdict: 'not in the baseline' };
    const bound = baseline * slack;
    if (measured === null) return { name, measured, baseline, bound, verdict: 'not measured' };
    const verdict = measured * slack < baseline ? 'better' : measured <= bound ? 'within' : 'beyond';
    return { name, measured, baseline, bound, verdict };
  });
}

/** @param {Judged} judged @returns {string | undefined} why the guard fails; undefined when it does not */
export function failureOf({ name, measured, baseline, bound, verdict }) {
  const renew = `if that is meant, renew the baseline with "${renewCommand}"`;
  if (verdict === 'not in the baseline') return `${name}: not in the baseline; ${renew}`;
  if (verdict !== 'beyond' || measured === null || baseline === null || bound === null) return undefined;
  const [is, limit, was] = [measured, bound, baseline].map(figureText);
  return `${name}: ${is}, expected at most ${limit} (baseline ${was}); ${renew}`;
}

/** @param {Judged[]} all @returns {string[][]} rows of a table */
export function guardRows(all) {
  const text = (/** @type {number | null} */ value) => (value === null ? '' : figureText(value));
  return [
    ['figure', 'measured', 'baseline', 'bound', ''],
    ...all.map(({ name, measured, baseline, bound, verdict }) => [
      name,
      text(measured),
      text(baseline),
      text(bound),
      verdict === 'better' ? 'better: renew the baseline' : verdict,
    ]),
  ];
}

/** @param {number} value */
function figureText(value) {
  return value < 100 ? value.toFixed(2) : value.toFixed(0);
}

/** @param {string} file @returns {Map<string, number>} @throws if the file is not a baseline */
export function readBaseline(file) {
  const figures = Object.entries(JSON.parse(fs.readFileSync(file, 'utf8')).figures ?? {});
  const wrong = figures.find(([, value]) => typeof value !== 'number' || !(value > 0));
  if (wrong) throw new Error(`${file}: ${wrong[0]}: expected a number above 0, got ${JSON.stringify(wrong[1])}`);
  return new Map(/** @type {[string, number][]} */ (figures));
}

/**
 * @param {string} file
 * @param {Map<string, number | null>} measuredByName
 * @param {object} origin where it was measured
 * @throws if a figure was not measured: it would no longer be guarded
 */
export function writeBaseline(file, measuredByName, origin) {
  const missing = [...measuredByName].find(([, value]) => value === null);
  if (missing) throw new Error(`the baseline is left as it is: ${missing[0]}: not measured here`);
  const figures = Object.fromEntries([...measuredByName].map(([name, value]) => [name, Number(value?.toPrecision(4))]));
  fs.writeFileSync(file, `${JSON.stringify({ renewedWith: renewCommand, ...origin, figures }, null, 2)}\n`);
}
