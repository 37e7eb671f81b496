// @ts-check
// The contestants of a case. Each is one line of shell, run in the work directory, that reads the inputs and writes
// `out`; scratch files go to `tmp`. The programs come from $NODE, $PILESHUF and $TERASHUF, so the recorded line has no
// paths.
//
//   one-worker pileshuf on one thread
//   former     another build of pileshuf
//   in-piles   pileshuf with so little memory that it makes piles
//   shards     pileshuf with 64 outputs instead of one
//   sample     pileshuf that writes 1,000 records; shuf-sample: shuf that does
//   unique     pileshuf that keeps one of equal lines
//   unique-shards  the same with 64 outputs, so that it must know beforehand what it keeps
//   eighth     pileshuf with the first eighth of the inputs
//   traced     pileshuf under strace, to count its calls; its times mean nothing
//   resumable  pileshuf with everything needed to resume after a power failure
//   floor      the least that a two-pass shuffle does: reads and writes everything twice
//   floor-fsync  the same, with a durable output, like that of pileshuf
//   read       reads the inputs, one per core at a time; zstd-dc and similar also decompress them this way
//   cat-fsync  one read and one durable write: the least that a shuffle in memory does
//   duckdb     DuckDB in Python: SELECT line FROM the inputs ORDER BY random()
//   buffer     a shuffle buffer of 10,000 lines in Python, as WebDataset has one: no uniform shuffle
//   reference  reads the inputs, computes on each byte, and stores and loads words at random places, on one thread of the
//              same Node: the speed of the processor and of its memory
//   bare-node  starts Node and does nothing

import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { isInstalled } from './encode.mjs';
import { traced } from './traced-calls.mjs';

/** @import { Case } from './cases.mjs' */
/** @import { Inputs } from './corpus.mjs' */

/**
 * @typedef {'pileshuf' | 'one-worker' | 'former' | 'in-piles' | 'shards' | 'unique' | 'unique-shards' | 'sort-u' |
 *   'sample' | 'shuf-sample' | 'eighth' | 'traced' | 'resumable' | 'read' | 'pigz-dc' | 'igzip-dc' | 'zstd-dc' |
 *   'zstd-recode' | 'floor' | 'floor-fsync' | 'cat-fsync' | 'shuf' | 'terashuf' | 'reference' | 'bare-node' |
 *   'duckdb' | 'buffer'} ContestantName
 */

/**
 * @typedef {object} Contestant
 * @property {ContestantName} name
 * @property {boolean} shuffles whether the output is in another order than the inputs
 * @property {boolean} [onlyReads] whether it leaves no output
 * @property {boolean} [takesEighth] whether it takes only the first eighth of the inputs
 * @property {boolean} [keepsOne] whether it keeps one of equal lines
 * @property {(place: Place) => string} command
 * @property {(place: Place) => string | undefined} skipReason
 */

/** @typedef {{ case: Case, inputs: Inputs, seed: string }} Place */

export const pileshufMain =
  process.env['PILESHUF'] ?? path.join(import.meta.dirname, '..', 'dist', 'bundle', 'main.cjs');
export const terashufBinary = process.env['TERASHUF'];
const formerMain = process.env['FORMER'];
const duckdbPython = process.env['DUCKDB_PYTHON'];

/** The environment of the lines of shell. */
export const programs = {
  NODE: process.execPath,
  PILESHUF: path.resolve(pileshufMain),
  FORMER: formerMain ? path.resolve(formerMain) : '',
  TERASHUF: terashufBinary ? path.resolve(terashufBinary) : '',
  REFERENCE: path.join(import.meta.dirname, 'reference.mjs'),
  DUCKDB_PYTHON: duckdbPython ? path.resolve(duckdbPython) : '',
  PEERS: path.join(import.meta.dirname, 'peers'),
};

const shardCount = 64;
const sampleCount = 1000;
const bufferRecords = 10_000;
const never = () => undefined;

/** @type {Contestant[]} */
export const contestants = [
  {
    name: 'pileshuf',
    shuffles: true,
    command: (place) => pileshufCommand(place),
    skipReason: never,
  },
  {
    name: 'one-worker',
    shuffles: true,
    command: (place) => pileshufCommand(place, { workers: 1 }),
    skipReason: never,
  },
  {
    name: 'former',
    shuffles: true,
    command: (place) => pileshufCommand(place).replace('$PILESHUF', '$FORMER'),
    skipReason: () => (formerMain ? undefined : 'FORMER names no main.cjs of another build'),
  },
  {
    name: 'in-piles',
    shuffles: true,
    command: (place) => pileshufCommand(place, { memory: '256M' }),
    skipReason: never,
  },
  {
    name: 'shards',
    shuffles: true,
    command: (place) => `${pileshufCommand(place)} --shards ${shardCount}`,
    skipReason: never,
  },
  {
    name: 'sample',
    shuffles: false,
    onlyReads: true,
    command: (place) => `${pileshufCommand(place).replace('-o out', '-o /dev/null')} -n ${sampleCount}`,
    skipReason: never,
  },
  {
    name: 'shuf-sample',
    shuffles: false,
    onlyReads: true,
    command: (place) => `cat ${place.inputs.pattern} | shuf -n ${sampleCount} > /dev/null`,
    skipReason: never,
  },
  {
    name: 'unique',
    shuffles: true,
    keepsOne: true,
    command: (place) => `${pileshufCommand(place)} --unique`,
    skipReason: never,
  },
  {
    name: 'unique-shards',
    shuffles: true,
    keepsOne: true,
    command: (place) => `${pileshufCommand(place)} --unique --shards ${shardCount}`,
    skipReason: never,
  },
  {
    name: 'sort-u',
    shuffles: true,
    keepsOne: true,
    command: (place) => `LC_ALL=C sort -u -S 512M --parallel=2 -T tmp -o out ${place.inputs.pattern}`,
    skipReason: never,
  },
  {
    name: 'eighth',
    shuffles: true,
    takesEighth: true,
    command: (place) => pileshufCommand(place),
    skipReason: never,
  },
  {
    name: 'traced',
    shuffles: true,
    command: (place) => traced(pileshufCommand(place)),
    skipReason: () => missingProgram('strace'),
  },
  {
    name: 'resumable',
    shuffles: true,
    command: (place) => `${pileshufCommand(place)} --resume`,
    skipReason: never,
  },
  readerOf('read', 'cat'),
  readerOf('pigz-dc', 'pigz -dc'),
  readerOf('igzip-dc', 'igzip -dc'),
  readerOf('zstd-dc', 'zstd -dcq'),
  {
    name: 'zstd-recode',
    shuffles: false,
    command: (place) => `zstd -dcq ${place.inputs.pattern} | zstd -q -3 -T0 > out`,
    skipReason: () => missingProgram('zstd'),
  },
  {
    name: 'floor',
    shuffles: false,
    command: (place) => `cat ${place.inputs.pattern} > tmp/t && cat tmp/t > out && rm tmp/t`,
    skipReason: never,
  },
  {
    name: 'floor-fsync',
    shuffles: false,
    command: (place) => `cat ${place.inputs.pattern} > tmp/t && cat tmp/t > out && rm tmp/t && sync out`,
    skipReason: never,
  },
  {
    name: 'cat-fsync',
    shuffles: false,
    command: (place) => `cat ${place.inputs.pattern} > out && sync out`,
    skipReason: never,
  },
  {
    name: 'shuf',
    shuffles: true,
    command: (place) => `cat ${place.inputs.pattern} | shuf > out`,
    skipReason: shufSkipReason,
  },
  {
    name: 'terashuf',
    shuffles: true,
    command: (place) =>
      `cat ${place.inputs.pattern} | MEMORY=${terashufMemory(place)} TMPDIR=tmp SEED=1 "$TERASHUF" > out`,
    skipReason: terashufSkipReason,
  },
  {
    name: 'duckdb',
    shuffles: true,
    command: (place) => `"$DUCKDB_PYTHON" "$PEERS/duckdb-shuffle.py" 256MB tmp out ${place.inputs.pattern}`,
    skipReason: () => (duckdbPython ? undefined : 'DUCKDB_PYTHON names no Python that has the module duckdb'),
  },
  {
    name: 'buffer',
    shuffles: true,
    command: (place) => `python3 "$PEERS/buffer-shuffle.py" 1 ${bufferRecords} ${place.inputs.pattern} > out`,
    skipReason: () => missingProgram('python3'),
  },
  {
    name: 'reference',
    shuffles: false,
    onlyReads: true,
    command: (place) => `"$NODE" "$REFERENCE" ${place.inputs.pattern}`,
    skipReason: never,
  },
  { name: 'bare-node', shuffles: false, onlyReads: true, command: () => '"$NODE" -e 0', skipReason: never },
];

/**
 * @param {ContestantName} name
 * @param {string} command reads the file named after it
 * @returns {Contestant}
 */
function readerOf(name, command) {
  const [program = ''] = command.split(' ');
  return {
    name,
    shuffles: false,
    onlyReads: true,
    command: (place) =>
      `printf '%s\\0' ${place.inputs.pattern} | xargs -0 -n 1 -P ${os.availableParallelism()} ${command} > /dev/null`,
    skipReason: () => missingProgram(program),
  };
}

/** @param {string} program */
function missingProgram(program) {
  return isInstalled(program) ? undefined : `${program} is not installed`;
}

/** @param {Place} place @param {{ workers?: number, memory?: string }} [instead] of the case's own */
function pileshufCommand({ case: theCase, inputs, seed }, instead) {
  const { memory, workers, compress } = { ...theCase, ...instead };
  return [
    `"$NODE" "$PILESHUF" ${inputs.pattern} -o out --seed ${seed} --force --temp-dir tmp --progress json`,
    memory === undefined ? '' : `-S ${memory}`,
    workers === undefined ? '' : `--workers ${workers}`,
    compress === undefined ? '' : `--compress ${compress}`,
  ]
    .filter(Boolean)
    .join(' ');
}

/** @returns {string | undefined} what is missing to measure pileshuf */
export function pileshufMissing() {
  if (fs.existsSync(pileshufMain)) return undefined;
  if (process.env['PILESHUF']) return `PILESHUF names ${pileshufMain}, which is not there`;
  return 'pileshuf is not built: expected dist/bundle/main.cjs; run "npm run build" first';
}

/** shuf holds every line in memory. @param {Place} place */
function shufSkipReason({ case: { cgroupLimitBytes }, inputs }) {
  const limitBytes = cgroupLimitBytes ?? os.totalmem();
  if (inputs.bytes < limitBytes) return undefined;
  return `it holds all lines in memory: ${gigabytes(inputs.bytes)} of lines, ${gigabytes(limitBytes)} to hold them`;
}

function terashufSkipReason() {
  if (!terashufBinary) return 'TERASHUF names no binary (bench/README.md says how to build one)';
  return fs.existsSync(terashufBinary) ? undefined : 'the binary named by TERASHUF is not there';
}

/**
 * In GB: in an out-of-core case about the 256M of pileshuf, minus its own 8 bytes a line; otherwise all of the data.
 *
 * @param {Place} place
 */
function terashufMemory({ case: { memory }, inputs }) {
  return memory === undefined ? Math.max(4, Math.ceil((inputs.bytes * 1.1) / 2 ** 30)) : 0.2;
}

/** @param {number} bytes */
function gigabytes(bytes) {
  return `${(bytes / 1e9).toFixed(2)} GB`;
}
