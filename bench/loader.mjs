// @ts-check
// `npm run bench:loader`: shows how fast a loader reads a pile store, compared with a plain read of its files, how long
// a consumer waits, and how long it waits for the first record. Tables go to stdout, progress to stderr. Fails only
// when records are missing.

import { spawnSync } from 'node:child_process';
import fs from 'node:fs';
import path from 'node:path';
import { parseArgs } from 'node:util';
import { columns } from './columns.mjs';
import { pileshufMain, pileshufMissing } from './contestants.mjs';
import { makeCorpus } from './corpus.mjs';
import { medianOf } from './figures.mjs';
import { readMachineClass, readVersions } from './machine.mjs';
import { prepareRun } from './measure.mjs';

/** @import { CorpusKind } from './corpus.mjs' */
/** @import { Consumed } from './loader/consume.mjs' */

/** The consumers, and the epoch of each. @type {readonly (readonly [name: string, how: string, epoch: string])[]} */
const consumers = [
  ['plain read', 'read', '0'],
  ['batches, epoch 0', 'batches', '0'],
  ['batches, epoch 1', 'batches', '1'],
  ['records, epoch 1', 'records', '1'],
  ['training, epoch 1', 'training', '1'],
];
const slowestRead = 0.7;
const longestWait = 0.01;

const { values } = parseArgs({
  options: {
    kinds: { type: 'string', default: 'sentences,documents' },
    size: { type: 'string', default: '2000000000' },
    rounds: { type: 'string', default: '5' },
    cached: { type: 'boolean', default: false },
    work: { type: 'string', default: path.join(import.meta.dirname, 'work') },
    json: { type: 'string' },
  },
});
const rounds = Number(values.rounds);
const workDir = path.resolve(values.work);

/** @param {string} line */
const say = (line) => process.stderr.write(`${line}\n`);

const missing = pileshufMissing();
if (missing) throw new Error(missing);
fs.mkdirSync(workDir, { recursive: true });
const results = [];
for (const kind of /** @type {CorpusKind[]} */ (values.kinds.split(','))) {
  const corpus = makeCorpus(workDir, { kind, seed: '1', sizeBytes: Number(values.size) });
  const store = path.join(workDir, `store-${kind}`);
  fs.rmSync(store, { recursive: true, force: true });
  run([
    pileshufMain,
    'append',
    store,
    ...corpus.files,
    '--seed',
    '1',
    '--input-ids',
    'name',
    '--expected-bytes',
    `${values.size}B`,
    '--quiet',
  ]);
  const measured = measure(store, corpus.lines, corpus.bytes);
  process.stdout.write(
    `${kind}, ${(corpus.bytes / 1e9).toFixed(2)} GB, ${corpus.lines} records\n${tableOf(measured)}\n`,
  );
  results.push({ kind, bytes: corpus.bytes, records: corpus.lines, measured });
  fs.rmSync(store, { recursive: true, force: true });
}
if (values.json !== undefined) {
  const report = { date: new Date().toISOString().slice(0, 10), versions: readVersions() };
  const machine = readMachineClass(workDir);
  const { cached } = values;
  fs.writeFileSync(values.json, `${JSON.stringify({ ...report, machine, rounds, cached, results }, null, 1)}\n`);
}

/** @param {string} store @param {number} records @param {number} bytes */
function measure(store, records, bytes) {
  const folder = path.join(store, 'pile-sets');
  const files = fs.readdirSync(folder).map((name) => path.join(folder, name));
  const entries = consumers.map(([name, how, epoch]) => ({ name, how, epoch, runs: /** @type {Consumed[]} */ ([]) }));
  for (let round = -1; round < rounds; round++) {
    for (const { name, how, epoch, runs } of entries) {
      if (!values.cached) prepareRun(workDir, files);
      const consumed = JSON.parse(run([path.join(import.meta.dirname, 'loader/consume.mjs'), store, how, epoch]));
      if ((how === 'batches' || how === 'records') && (consumed.records !== records || consumed.bytes !== bytes)) {
        throw new Error(`${name}: expected ${records} records, got ${consumed.records}`);
      }
      // The first round warms up.
      if (round >= 0) runs.push(consumed);
      say(`${name}: ${consumed.seconds.toFixed(2)} s`);
    }
  }
  return entries;
}

/** @param {ReturnType<typeof measure>} entries */
function tableOf(entries) {
  const reads = entries[0]?.runs ?? [];
  const rows = entries.map(({ name, how, runs }) => {
    const median = (/** @type {(run: Consumed, round: number) => number} */ figure) => medianOf(runs.map(figure));
    // All rates count the bytes of the data files, which have 12 bytes more for each record.
    const ofRead = median(({ seconds }, round) => (reads[round]?.seconds ?? Number.NaN) / seconds);
    const waits = median((each) => each.waitSeconds / each.seconds);
    return [
      name,
      `${median((each) => each.seconds).toFixed(2)} s`,
      `${median((each) => each.bytes / each.seconds / 1e6).toFixed(0)} MB/s`,
      how === 'read' ? '' : `${median((each) => each.records / each.seconds / 1e6).toFixed(2)} M records/s`,
      how === 'read' || how === 'training' ? '' : `${(100 * ofRead).toFixed(0)} % of plain read`,
      how === 'training' ? `waits ${(100 * waits).toFixed(2)} %` : '',
      how === 'read' ? '' : `first after ${(1000 * median((each) => each.firstSeconds)).toFixed(0)} ms`,
      how === 'batches' ? barOf(ofRead >= slowestRead) : how === 'training' ? barOf(waits < longestWait) : '',
    ];
  });
  return columns(rows)
    .map((line) => `${line}\n`)
    .join('');
}

/** @param {boolean} isMet */
function barOf(isMet) {
  return isMet ? 'bar met' : 'bar missed';
}

/** @param {readonly string[]} argv @returns {string} */
function run(argv) {
  const { status, stdout, stderr } = spawnSync(process.execPath, argv, { encoding: 'utf8' });
  if (status !== 0) throw new Error(`${argv.join(' ')} ended with ${status}: ${stderr}`);
  return stdout;
}
