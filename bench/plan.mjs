// @ts-check
// `npm run bench:plan`: previews jobs of different shapes, does them, and compares what the preview said with what came
// of it: the time of the job and of each pass with the range that was told, and the bytes of temp data and output with
// the expected ones. Then what the live view said while the job ran: the end that it expected after a fifth of the job,
// over the real one. Prints a table; never fails because of a time or a size.

import { spawnSync } from 'node:child_process';
import fs from 'node:fs';
import path from 'node:path';
import { parseArgs } from 'node:util';
import { previewShuffle, shuffle } from 'pileshuf';
import { JobMeter } from '#src/cli/measured-job.js';
import { columns } from './columns.mjs';
import { makeCorpus } from './corpus.mjs';
import { encodeCorpus, encodingUnavailable } from './encode.mjs';

/** @import { ShuffleOptions, ShuffleProgress } from 'pileshuf' */

const { values } = parseArgs({
  options: {
    size: { type: 'string', default: '200000000' },
    jobs: { type: 'string' },
    rounds: { type: 'string', default: '1' },
    'no-probe': { type: 'boolean', default: false },
    work: { type: 'string', default: path.join(import.meta.dirname, 'work') },
  },
});
const workDir = path.resolve(values.work);
const jobDir = path.join(workDir, 'plan');
fs.mkdirSync(workDir, { recursive: true });

const MIB = 2 ** 20;
/** A size is right within this part. */
const mostSizeError = 0.05;
const manyFiles = 1000;

const sizeBytes = Number(values.size);
const corpusOf = (/** @type {'sentences' | 'documents' | 'tiny'} */ kind, share = 1) =>
  makeCorpus(workDir, { kind, seed: '1', sizeBytes: sizeBytes * share });
const sentences = corpusOf('sentences');
const onDisk = { memoryBytes: Math.round(sizeBytes / 8) };
const inMemory = { memoryBytes: 4 * sizeBytes + 256 * MIB };
const encoded = (/** @type {'gzip' | 'bgzf' | 'zstd'} */ encoding) =>
  encodingUnavailable(encoding) === undefined ? encodeCorpus(sentences, encoding).files : undefined;

/** @type {Readonly<Record<string, Omit<Partial<ShuffleOptions>, 'inputs'> & { inputs: readonly string[] | undefined }>>} */
const jobs = {
  'in memory': { inputs: sentences.files, ...inMemory },
  piles: { inputs: sentences.files, ...onDisk },
  'two levels': { inputs: sentences.files, memoryBytes: 8 * MIB, workers: 2 },
  documents: { inputs: corpusOf('documents').files, ...onDisk },
  'tiny records': { inputs: corpusOf('tiny', 0.25).files, memoryBytes: Math.round(sizeBytes / 16) },
  gzip: { inputs: encoded('gzip'), ...onDisk },
  'one gzip file': { inputs: encoded('gzip')?.slice(0, 1), ...onDisk },
  zstd: { inputs: encoded('zstd'), ...onDisk },
  shards: { inputs: sentences.files, shards: { by: 'count', shardCount: 64 }, ...onDisk },
  'zstd output': { inputs: sentences.files, compress: { codec: 'zstd' }, ...onDisk },
  'a sample': { inputs: sentences.files, headCount: 1000, ...onDisk },
  unique: { inputs: sentences.files, unique: true, ...onDisk },
  'many small files': { inputs: manySmallFiles(), ...onDisk },
};

/** @returns {readonly string[]} parts of the corpus, cut between lines */
function manySmallFiles() {
  const directory = path.join(workDir, 'plan-small');
  fs.rmSync(directory, { recursive: true, force: true });
  fs.mkdirSync(directory);
  const [first = ''] = sentences.files;
  const bytes = fs.readFileSync(first);
  let from = 0;
  return Array.from({ length: manyFiles }, (_, i) => {
    const name = path.join(directory, String(i).padStart(4, '0'));
    const aim = Math.floor((bytes.byteLength * (i + 1)) / manyFiles);
    const to = i === manyFiles - 1 ? bytes.byteLength : bytes.indexOf(0x0a, aim) + 1;
    fs.writeFileSync(name, bytes.subarray(from, to));
    from = to;
    return name;
  });
}

/** @param {string} place */
function bytesIn(place) {
  const names = fs.statSync(place).isDirectory() ? fs.readdirSync(place).filter((name) => !name.startsWith('.')) : [''];
  return names.reduce((sum, name) => sum + fs.statSync(path.join(place, name)).size, 0);
}

const seconds = (/** @type {number} */ value) => value.toFixed(2);
const rangeOf = (/** @type {{ least: number, most: number } | undefined} */ range) =>
  range === undefined ? 'unknown' : `${seconds(range.least)} to ${seconds(range.most)}`;
const verdict = (/** @type {{ least: number, most: number } | undefined} */ range, /** @type {number} */ real) =>
  range !== undefined && range.least <= real && real <= range.most ? 'yes' : 'NO';

/** @param {{ least: number, expected: number, most: number } | undefined} told @param {number} real */
function sizeError(told, real) {
  if (told === undefined) return 'unknown';
  const error = told.expected === real ? 0 : told.expected / real - 1;
  const isOutside = real < told.least || real > told.most;
  return `${(100 * error).toFixed(1)} %${Math.abs(error) > mostSizeError ? ' NO' : ''}${isOutside ? ' outside' : ''}`;
}

/** Follows a job as the live view does. */
class ExpectedEnds {
  #began = performance.now();
  #meter = new JobMeter(0);
  /** @type {{ at: number, left: number | undefined }[]} */
  #told = [];

  /** @param {ShuffleProgress} progress */
  note(progress) {
    const at = this.#seconds();
    this.#told.push({ at, left: this.#meter.measure({ progress, atSeconds: at }).jobSecondsLeft });
  }

  /** The end that was expected after this part of the job, over the real one. The job is over. @param {number} part */
  after(part) {
    const end = this.#seconds();
    const { at, left } = this.#told.find(({ at }) => at >= part * end) ?? { at: end, left: undefined };
    return left === undefined ? 'unknown' : ((at + left) / end).toFixed(2);
  }

  #seconds() {
    return (performance.now() - this.#began) / 1000;
  }
}

const heads = [
  'job',
  'told, s',
  'real, s',
  'in',
  'pass 1',
  'real',
  'in',
  'pass 2',
  'real',
  'in',
  'output',
  'temp',
  'end at 20 %',
];
const rows = [];
const wanted = values.jobs?.split(',');
const chosen = Array.from({ length: Number(values.rounds) }, () => Object.entries(jobs)).flat();
for (const [name, { inputs, ...options }] of chosen) {
  if (wanted !== undefined && !wanted.includes(name)) continue;
  if (inputs === undefined) {
    rows.push([name, 'left out: the program that makes its inputs is missing']);
    continue;
  }
  fs.rmSync(jobDir, { recursive: true, force: true });
  fs.mkdirSync(jobDir);
  const output = path.join(jobDir, 'out');
  // The data of the job before is on its disk, and does not wait in the page cache for this one.
  spawnSync('sync');
  const job = { ...options, inputs, output, seed: '1' };
  const told = await previewShuffle({ ...job, probe: !values['no-probe'] });
  const ends = new ExpectedEnds();
  const report = await shuffle({ ...job, onProgress: (progress) => ends.note(progress) });
  const endTold = ends.after(0.2);
  const passOf = (/** @type {string} */ pass) => told.time?.passes.find((each) => each.name === pass)?.seconds;
  const { total, pass1, pass2 } = report.seconds;
  rows.push([
    name,
    ...[rangeOf(told.time?.total), seconds(total), verdict(told.time?.total, total)],
    ...[rangeOf(passOf('pass 1')), seconds(pass1), verdict(passOf('pass 1'), pass1)],
    ...[rangeOf(passOf('pass 2')), seconds(pass2), verdict(passOf('pass 2'), pass2)],
    sizeError(told.output.bytes, bytesIn(output)),
    sizeError(told.temp.bytes, report.tempBytes),
    endTold,
  ]);
  process.stderr.write(`${name}\n`);
}
fs.rmSync(jobDir, { recursive: true, force: true });
fs.rmSync(path.join(workDir, 'plan-small'), { recursive: true, force: true });
process.stdout.write(`${columns([heads, ...rows]).join('\n')}\n`);
