// @ts-check
// `npm run bench:index`: shows the size of a file's index, the time to make it, and how fast records are read with it,
// from plain and compressed files in the page cache. Compares the records with the lines of the file. Prints a table;
// never fails because of a time.

import fs from 'node:fs';
import path from 'node:path';
import { parseArgs } from 'node:util';
import { indexFile, openIndexed } from 'pileshuf';
import seedrandom from 'seedrandom';
import { openZstdEncoder } from '#src/formats/codecs/zstd-writer.js';
import { columns } from './columns.mjs';
import { makeCorpus } from './corpus.mjs';
import { encodeCorpus, encodingUnavailable } from './encode.mjs';
import { medianOf } from './figures.mjs';
import { readMachineClass, readVersions } from './machine.mjs';

/** @import { IndexedFile } from 'pileshuf' */

const frameBytes = 2 ** 20;
/** Records that are requested at one time, like a batch. */
const atOnce = 256;

const { values } = parseArgs({
  options: {
    lines: { type: 'string', default: '2000000' },
    gets: { type: 'string', default: '100000' },
    rounds: { type: 'string', default: '5' },
    work: { type: 'string', default: path.join(import.meta.dirname, 'work') },
    json: { type: 'string' },
  },
});
const workDir = path.resolve(values.work);
fs.mkdirSync(workDir, { recursive: true });

/** @typedef {{ [figure: string]: number }} Figures the median of all rounds */

/** @type {{ name: string, figures: Figures }[]} */
const results = [];
for (const kind of /** @type {const} */ (['sentences', 'documents', 'tiny'])) {
  const share = { sentences: 1, documents: 1 / 25, tiny: 1 }[kind];
  // The corpus has eight files; this uses one.
  const corpus = makeCorpus(workDir, { kind, seed: '1', lineCount: Math.round(8 * Number(values.lines) * share) });
  const [plain = ''] = corpus.files;
  results.push({ name: kind, figures: await measure(plain, plain, Number(values.gets)) });
  if (kind !== 'sentences') continue;
  const few = Math.ceil(Number(values.gets) / 100);
  const frames = `${plain}.frames.zst`;
  writeFrames(plain, frames);
  results.push({ name: `${kind}, zstd in frames of 1 MiB`, figures: await measure(frames, plain, few) });
  if (encodingUnavailable('bgzf') !== undefined) continue;
  const [bgzf = ''] = encodeCorpus(corpus, 'bgzf').files;
  results.push({ name: `${kind}, BGZF`, figures: await measure(bgzf, plain, few) });
}
const names = Object.keys(results[0]?.figures ?? {});
const rows = results.map(({ name, figures }) => [name, ...names.map((each) => textOf(figures[each] ?? Number.NaN))]);
process.stdout.write(`${columns([['', ...names], ...rows]).join('\n')}\n`);
if (values.json !== undefined) {
  const origin = {
    date: new Date().toISOString().slice(0, 10),
    versions: readVersions(),
    machine: readMachineClass(workDir),
  };
  fs.writeFileSync(values.json, `${JSON.stringify({ ...origin, results }, null, 2)}\n`);
}

/**
 * @param {string} file the indexed file
 * @param {string} plain a plain file with the same lines
 * @param {number} getCount
 */
async function measure(file, plain, getCount) {
  /** @type {Figures[]} */
  const rounds = [];
  for (let round = 0; round < Number(values.rounds); round++) rounds.push(await measureOnce(file, plain, getCount));
  const figures = Object.keys(rounds[0] ?? {}).map((name) => [name, medianOf(rounds.map((each) => each[name] ?? 0))]);
  return Object.fromEntries(figures);
}

/** @param {string} file @param {string} plain @param {number} getCount @returns {Promise<Figures>} */
async function measureOnce(file, plain, getCount) {
  const { size } = fs.statSync(plain);
  // Everything is in the page cache, so that the disk does not affect the figures.
  const read = secondsOf(() => fs.readFileSync(file));
  const { records: count, indexBytes, seconds } = await indexFile(file);
  const opened = performance.now();
  const records = openIndexed(file);
  await records.get(count - 1);
  const firstSeconds = (performance.now() - opened) / 1000;
  await requireSameLines(records, plain);
  const random = seedrandom('gets');
  const draw = () => Math.floor(random() * count);
  const single = await rateOf(getCount, async () => {
    for (let i = 0; i < getCount; i++) await records.get(draw());
  });
  const batches = await rateOf(getCount, async () => {
    for (let i = 0; i < getCount; i += atOnce) {
      await Promise.all(Array.from({ length: Math.min(atOnce, getCount - i) }, () => records.get(draw())));
    }
  });
  const inOrder = await rateOf(getCount, async () => {
    for (let i = 0; i < getCount; i++) await records.get(i % count);
  });
  await records.close();
  fs.rmSync(`${file}.pileshuf-index`);
  return {
    'bytes a record': size / count,
    'index bytes a record': indexBytes / count,
    'index % of file': (indexBytes / fs.statSync(file).size) * 100,
    'index MB/s': size / seconds / 1e6,
    'read MB/s': size / read / 1e6,
    'open and first get ms': firstSeconds * 1000,
    'get/s': single,
    'get/s of 256 at once': batches,
    'get/s in order': inOrder,
  };
}

/** @param {IndexedFile} records @param {string} plain */
async function requireSameLines(records, plain) {
  const fd = fs.openSync(plain, 'r');
  const bytes = Buffer.alloc(64 * 1024);
  const head = bytes.subarray(0, fs.readSync(fd, bytes, 0, bytes.length, 0)).toString('latin1');
  fs.closeSync(fd);
  const lines = head.split('\n').slice(0, -1);
  for (const [i, line] of lines.entries()) {
    const got = Buffer.from(await records.get(i)).toString('latin1');
    if (got !== `${line}\n`) throw new Error(`record ${i} of ${plain}: expected ${line}, got ${got}`);
  }
}

/** Frames that say their sizes. @param {string} plain @param {string} frames */
function writeFrames(plain, frames) {
  if (fs.existsSync(frames) && fs.statSync(frames).mtimeMs >= fs.statSync(plain).mtimeMs) return;
  const encoder = openZstdEncoder(3);
  const source = fs.openSync(plain, 'r');
  const target = fs.openSync(frames, 'w');
  for (const piece = Buffer.alloc(frameBytes); ; ) {
    const byteLength = fs.readSync(source, piece, 0, frameBytes, null);
    if (byteLength === 0) break;
    fs.writeSync(target, encoder.encode(piece.subarray(0, byteLength)));
  }
  fs.closeSync(source);
  fs.closeSync(target);
}

/** @param {() => unknown} work */
function secondsOf(work) {
  const began = performance.now();
  work();
  return (performance.now() - began) / 1000;
}

/** @param {number} count @param {() => Promise<void>} work */
async function rateOf(count, work) {
  const began = performance.now();
  await work();
  return count / ((performance.now() - began) / 1000);
}

/** @param {number} value */
function textOf(value) {
  return value >= 100 ? Math.round(value).toLocaleString('en') : value.toFixed(2);
}
