// @ts-check
// docs/SCALE.md, docs/SCALE-MODEL.md and docs/CLUSTER-SCALE.md: text by hand, and tables of the model between these marks.
// Pure.
//
//     <!-- model: NAME -->
//     ...
//     <!-- model: end -->

import { clusterTable, publishedTable } from './cluster-table.mjs';
import { fitCosts } from './fit.mjs';
import { measuredJobs } from './measured-jobs.mjs';
import { costsTable, errorTable, memoryTable, planTable, timeTable, workersTable } from './scale-tables.mjs';

/** @import { Measurements } from './measured-jobs.mjs' */

/** Their names in docs/. */
export const scaleDocuments = ['SCALE.md', 'SCALE-MODEL.md', 'CLUSTER-SCALE.md'];

const mark = /<!-- model: (\w+) -->\n[\s\S]*?<!-- model: end -->/g;

/** @param {Measurements} measurements @returns {Record<string, string[]>} lines of each part */
export function scaleParts(measurements) {
  const fitted = measuredJobs(measurements, 'fit');
  const checked = measuredJobs(measurements, 'check');
  const costs = fitCosts(fitted);
  return {
    times: timeTable(costs),
    plans: planTable(),
    memory: memoryTable(),
    workers: workersTable(costs),
    costs: costsTable(costs),
    errors: errorTable(costs, fitted, checked),
    cluster: clusterTable(costs),
    published: publishedTable(),
  };
}

/**
 * @param {string} text of the document
 * @param {Record<string, string[]>} parts
 * @returns {string}
 */
export function withParts(text, parts) {
  return text.replace(mark, (_, name) => {
    const lines = parts[name];
    if (lines === undefined) throw new Error(`a document has a mark "${name}", and the model has no such part`);
    return [`<!-- model: ${name} -->`, '', ...lines, '', '<!-- model: end -->'].join('\n');
  });
}
