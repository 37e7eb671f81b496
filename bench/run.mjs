// @ts-check
// The bench: `npm run bench -- --help`. Reads the options, runs the cases one after the other, prints a table for each
// and writes the JSON. Tables go to stdout, progress to stderr. Exit status: 0 success; 1 a contestant failed or wrote
// a wrong output, or with `--quick` a figure is beyond its bound; 2 wrong options; 130 or 143 interrupted. Never fails
// because of a time.

import fs from 'node:fs';
import path from 'node:path';
import { failureOf, guardRows, judge, readBaseline, writeBaseline } from './baseline.mjs';
import { pileshufMissing } from './contestants.mjs';
import { guardFigures, measureGuardFigures } from './guard-figures.mjs';
import { readMachineClass, readVersions } from './machine.mjs';
import { Interrupted, stopOnSignals, touchMemory } from './measure.mjs';
import { helpText, readOptions, UsageError } from './options.mjs';
import { runCase } from './run-case.mjs';
import { barTable, caseTable, columns } from './table.mjs';

/** @import { Options } from './options.mjs' */
/** @import { CaseResult } from './run-case.mjs' */

const baselineFile = path.join(import.meta.dirname, 'baseline.json');

/** @param {string} line */
const say = (line) => process.stderr.write(`${line}\n`);

try {
  process.exitCode = await main(process.argv.slice(2));
} catch (error) {
  say(`bench: ${/** @type {Error} */ (error).message}`);
  process.exitCode = error instanceof UsageError ? 2 : error instanceof Interrupted ? error.exitStatus : 1;
}

/** @param {string[]} argv @returns {Promise<number>} the exit status */
async function main(argv) {
  const options = readOptions(argv);
  if (options === 'help') {
    process.stdout.write(helpText);
    return 0;
  }
  const missing = options.contestants.has('pileshuf') ? pileshufMissing() : undefined;
  if (missing) throw new Error(missing);

  stopOnSignals();
  fs.mkdirSync(options.workDir, { recursive: true });
  if (options.touch) say(`touched ${(touchMemory() / 1e9).toFixed(1)} GB of memory`);

  const results = [];
  for (const theCase of options.cases) {
    const result = await runCase(theCase, options, say);
    if (typeof result === 'string') {
      process.stdout.write(`${theCase.name}: skipped: ${result}\n\n`);
      continue;
    }
    process.stdout.write(`${caseTable(result)}\n`);
    results.push(result);
  }
  process.stdout.write(barTable(results));
  if (options.jsonFile !== undefined) writeJson(options.jsonFile, results, options);

  if (results.some((result) => result.contestants.some((each) => each.isWrong))) return 1;
  return options.baseline === undefined ? 0 : guard(results, options);
}

/** @param {CaseResult[]} results @param {Options} options @returns {number} the exit status */
function guard(results, options) {
  const measured = measureGuardFigures(results);
  if (options.baseline === 'renew') {
    writeBaseline(baselineFile, measured, readOrigin(options));
    say(`${baselineFile} is renewed`);
  }
  const judged = judge(guardFigures, measured, readBaseline(baselineFile));
  const failures = judged.flatMap((each) => failureOf(each) ?? []);
  process.stdout.write(`${columns(guardRows(judged)).join('\n')}\n`);
  for (const failure of failures) say(`bench: ${failure}`);
  return failures.length === 0 ? 0 : 1;
}

/** @param {Options} options */
function readOrigin({ workDir }) {
  const date = new Date().toISOString().slice(0, 10);
  return { date, versions: readVersions(), machine: readMachineClass(workDir) };
}

/** @param {string} file @param {CaseResult[]} results @param {Options} options */
function writeJson(file, results, options) {
  const report = {
    ...readOrigin(options),
    note: 'commands ran in the work directory; $NODE, $PILESHUF and others like them were the programs',
    cases: results.map(({ corpus, contestants, ...result }) => ({
      ...result,
      corpus: { ...corpus.parameters, bytes: corpus.bytes, lines: corpus.lines },
      // Text from stderr may have paths.
      contestants: contestants.map(({ detail: _, runs, ...contestant }) => ({
        ...contestant,
        runs: runs.map(({ stderrTail: __, ...run }) => run),
      })),
    })),
  };
  fs.mkdirSync(path.dirname(path.resolve(file)), { recursive: true });
  fs.writeFileSync(file, `${JSON.stringify(report, null, 2)}\n`);
}
