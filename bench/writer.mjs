// @ts-check
// `npm run bench:writer`: shows what it costs a program to write its records into a store through a PileWriter,
// compared with writing them to one plain file through a stream. Tables go to stdout, progress to stderr. Fails only
// when records are missing.

import { spawnSync } from 'node:child_process';
import fs from 'node:fs';
import path from 'node:path';
import { parseArgs } from 'node:util';
import { columns } from './columns.mjs';
import { pileshufMissing } from './contestants.mjs';
import { makeCorpus } from './corpus.mjs';
import { medianOf } from './figures.mjs';
import { readMachineClass, readVersions } from './machine.mjs';
import { prepareRun } from './measure.mjs';

/** @import { CorpusKind } from './corpus.mjs' */
/** @import { Written } from './writer/write-records.mjs' */

const ways = ['stream', 'wide-stream', 'synced-stream', 'writer'];
/** Compared with a stream, which does not sync its file; a PileWriter does. */
const mostTime = 1.25;
/** The lines that are written repeatedly. */
const linesBytes = 64_000_000;

const { values } = parseArgs({
  options: {
    kinds: { type: 'string', default: 'sentences,documents' },
    pieces: { type: 'string', default: 'bytes,text' },
    size: { type: 'string', default: '1000000000' },
    rounds: { type: 'string', default: '5' },
    work: { type: 'string', default: path.join(import.meta.dirname, 'work') },
    json: { type: 'string' },
  },
});
const rounds = Number(values.rounds);
const workDir = path.resolve(values.work);

const missing = pileshufMissing();
if (missing) throw new Error(missing);
fs.mkdirSync(workDir, { recursive: true });
const results = [];
for (const kind of /** @type {CorpusKind[]} */ (values.kinds.split(','))) {
  const corpus = makeCorpus(workDir, { kind, seed: '1', sizeBytes: 8 * linesBytes, lineCount: undefined });
  for (const pieces of values.pieces.split(',')) {
    const measured = measure(corpus.files[0] ?? '', pieces);
    const [first] = measured[0]?.runs ?? [];
    process.stdout.write(
      `${kind} as ${pieces}, ${((first?.bytes ?? 0) / 1e9).toFixed(2)} GB, ${first?.records} records\n`,
    );
    process.stdout.write(`${tableOf(measured)}\n`);
    results.push({ kind, pieces, measured });
  }
}
if (values.json !== undefined) {
  const report = { date: new Date().toISOString().slice(0, 10), versions: readVersions() };
  const machine = readMachineClass(workDir);
  fs.writeFileSync(values.json, `${JSON.stringify({ ...report, machine, rounds, results }, null, 1)}\n`);
}

/** @param {string} file @param {string} pieces */
function measure(file, pieces) {
  const entries = ways.map((way) => ({ way, runs: /** @type {Written[]} */ ([]) }));
  const directory = path.join(workDir, 'tmp', 'writer');
  for (let round = -1; round < rounds; round++) {
    for (const { way, runs } of entries) {
      prepareRun(workDir, []);
      fs.mkdirSync(directory, { recursive: true });
      const written = run([
        path.join(import.meta.dirname, 'writer/write-records.mjs'),
        way,
        pieces,
        file,
        values.size,
        directory,
      ]);
      // The first round warms up.
      if (round >= 0) runs.push(written);
      process.stderr.write(`${way}: ${written.seconds.toFixed(2)} s\n`);
    }
  }
  fs.rmSync(directory, { recursive: true });
  return entries;
}

/** @param {ReturnType<typeof measure>} entries */
function tableOf(entries) {
  const writes = entries.find(({ way }) => way === 'writer')?.runs ?? [];
  const rows = entries.map(({ way, runs }) => {
    const median = (/** @type {(run: Written, round: number) => number} */ figure) => medianOf(runs.map(figure));
    const ofThis = median(({ seconds }, round) => (writes[round]?.seconds ?? Number.NaN) / seconds);
    return [
      way,
      `${median((each) => each.seconds).toFixed(2)} s`,
      `${median((each) => each.writtenSeconds).toFixed(2)} s to the last record`,
      `${median((each) => each.cpuSeconds).toFixed(2)} s CPU`,
      `${median((each) => each.bytes / each.seconds / 1e6).toFixed(0)} MB/s`,
      `${median((each) => each.records / each.seconds / 1e6).toFixed(2)} M records/s`,
      way === 'writer' ? '' : `writer / ${way} ${ofThis.toFixed(2)}`,
      way === 'writer' ? '' : ofThis <= mostTime ? 'bar met' : 'bar missed',
    ];
  });
  return columns(rows)
    .map((line) => `${line}\n`)
    .join('');
}

/** @param {readonly string[]} argv @returns {Written} */
function run(argv) {
  const { status, stdout, stderr } = spawnSync(process.execPath, argv, { encoding: 'utf8' });
  if (status !== 0) throw new Error(`${argv.join(' ')} ended with ${status}: ${stderr}`);
  return JSON.parse(stdout);
}
