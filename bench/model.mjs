// @ts-check
// `npm run bench:model`: fits the cost model to measured jobs, prints its predictions and their errors, and writes them
// into docs/SCALE.md, docs/SCALE-MODEL.md and docs/CLUSTER-SCALE.md. With `--measure` it measures the jobs first, which takes some minutes on a quiet machine, and
// keeps the measurements in bench/results. Otherwise it uses the latest measurements there.

import fs from 'node:fs';
import path from 'node:path';
import { parseArgs } from 'node:util';
import { pileshufMissing } from './contestants.mjs';
import { readMachineClass, readVersions } from './machine.mjs';
import { stopOnSignals, touchMemory } from './measure.mjs';
import { modelCases } from './model/model-cases.mjs';
import { scaleDocuments, scaleParts, withParts } from './model/scale-document.mjs';
import { runCase } from './run-case.mjs';

/** @import { CaseRuns, Measurements } from './model/measured-jobs.mjs' */
/** @import { Options } from './options.mjs' */

const repositoryDir = path.join(import.meta.dirname, '..');
const resultsDir = path.join(import.meta.dirname, 'results');
const documents = scaleDocuments.map((name) => path.join(repositoryDir, 'docs', name));
const suffix = '-model.json';

const { values } = parseArgs({
  options: {
    measure: { type: 'boolean', default: false },
    rounds: { type: 'string', default: '3' },
    size: { type: 'string', default: '2000000000' },
    work: { type: 'string', default: path.join(import.meta.dirname, 'work') },
  },
});

if (values.measure) await measure();
const parts = scaleParts(readLast());
for (const [name, lines] of Object.entries(parts)) process.stdout.write(`${name}\n\n${lines.join('\n')}\n\n`);
for (const document of documents) fs.writeFileSync(document, withParts(fs.readFileSync(document, 'utf8'), parts));

/** @returns {Measurements} the latest; file names start with the date */
function readLast() {
  const name = fs
    .readdirSync(resultsDir)
    .filter((each) => each.endsWith(suffix))
    .sort()
    .at(-1);
  if (name === undefined) throw new Error('there are no measurements yet: run "npm run bench:model -- --measure"');
  return JSON.parse(fs.readFileSync(path.join(resultsDir, name), 'utf8'));
}

async function measure() {
  const missing = pileshufMissing();
  if (missing) throw new Error(missing);
  stopOnSignals();
  const workDir = path.resolve(values.work);
  fs.mkdirSync(workDir, { recursive: true });
  touchMemory();
  /** @type {Options} */
  const options = {
    workDir,
    seed: '1',
    sizeBytes: Number(values.size),
    rounds: Number(values.rounds),
    warmup: 0,
    cases: modelCases,
    contestants: new Set(['pileshuf', 'read', 'floor']),
    check: false,
    touch: true,
    baseline: undefined,
    breakdown: true,
    jsonFile: undefined,
  };
  /** @type {CaseRuns[]} */
  const cases = [];
  for (const modelCase of modelCases) {
    const result = await runCase(modelCase, options, (line) => process.stderr.write(`${line}\n`));
    if (typeof result === 'string') throw new Error(`${modelCase.name} cannot be measured: ${result}`);
    const { corpus, contestants } = result;
    const [contestant] = contestants;
    if (contestant === undefined || contestant.outcome !== 'done') {
      throw new Error(`${modelCase.name}: ${contestant?.outcome} ${contestant?.detail}`);
    }
    const runs = contestant.runs.map(({ wallSeconds, userSeconds, sysSeconds, profile }) => {
      return { wallSeconds, userSeconds, sysSeconds, profile };
    });
    cases.push({ case: modelCase, bytes: corpus.bytes, records: corpus.lines, runs });
  }
  const date = new Date().toISOString().slice(0, 10);
  const report = { date, versions: readVersions(), machine: readMachineClass(workDir), cases };
  fs.writeFileSync(path.join(resultsDir, `${date}${suffix}`), `${JSON.stringify(report, null, 1)}\n`);
}
