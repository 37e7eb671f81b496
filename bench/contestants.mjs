// @ts-check
// The contestants of a case. Each is one line of shell, run in the work directory, that reads the inputs and writes
// `out`; scratch files go to `tmp`. The programs come from $NODE, $PILESHUF and others of `programs.mjs`, so the recorded
// line has no paths.
// What each is stands in README.md.

import fs from 'node:fs';
import os from 'node:os';
import { missingModules, missingProgram, pileshufMain, programs } from './programs.mjs';
import { traced } from './traced-calls.mjs';

/** @import { Case } from './cases.mjs' */
/** @import { Inputs } from './corpus.mjs' */

/**
 * @typedef {'pileshuf' | 'one-worker' | 'former' | 'in-piles' | 'shards' | 'unique' | 'unique-shards' | 'sort-u' |
 *   'sample' | 'shuf-sample' | 'eighth' | 'traced' | 'resumable' | 'read' | 'pigz-dc' | 'igzip-dc' | 'zstd-dc' |
 *   'zstd-recode' | 'floor' | 'floor-fsync' | 'cat-fsync' | 'shuf' | 'terashuf' | 'reference' | 'bare-node' |
 *   'duckdb' | 'buffer' | 'pyarrow' | 'datasets' | 'as-lines' | 'uncapped'} ContestantName
 */

/**
 * @typedef {object} Contestant
 * @property {ContestantName} name
 * @property {boolean} shuffles whether the output is in another order than the inputs
 * @property {boolean} [onlyReads] whether it leaves no output
 * @property {boolean} [takesEighth] whether it takes only the first eighth of the inputs
 * @property {boolean} [takesLines] whether it takes the records of a table as lines
 * @property {boolean} [isUncapped] whether it runs outside of the memory cgroup
 * @property {boolean} [keepsOne] whether it keeps one of equal lines
 * @property {(place: Place) => string} command
 * @property {(place: Place) => string | undefined} [skipReason]
 */

/** @typedef {{ case: Case, inputs: Inputs, seed: string }} Place */

const shardCount = 64;
const sampleCount = 1000;
const bufferRecords = 10_000;
const modulesOfTables = /** @type {const} */ (['pyarrow', 'datasets']);

/** @type {Contestant[]} */
export const contestants = [
  { name: 'pileshuf', shuffles: true, command: (place) => pileshufCommand(place) },
  { name: 'one-worker', shuffles: true, command: (place) => pileshufCommand(place, { workers: 1 }) },
  {
    name: 'former',
    shuffles: true,
    command: (place) => pileshufCommand(place).replace('$PILESHUF', '$FORMER'),
    skipReason: () => (programs.FORMER ? undefined : 'FORMER names no main.cjs of another build'),
  },
  { name: 'in-piles', shuffles: true, command: (place) => pileshufCommand(place, { memory: '256M' }) },
  { name: 'shards', shuffles: true, command: (place) => `${pileshufCommand(place)} --shards ${shardCount}` },
  {
    name: 'sample',
    shuffles: false,
    onlyReads: true,
    command: (place) => `${pileshufCommand(place).replace('-o out', '-o /dev/null')} -n ${sampleCount}`,
  },
  {
    name: 'shuf-sample',
    shuffles: false,
    onlyReads: true,
    command: (place) => `cat ${place.inputs.pattern} | shuf -n ${sampleCount} > /dev/null`,
  },
  { name: 'unique', shuffles: true, keepsOne: true, command: (place) => `${pileshufCommand(place)} --unique` },
  {
    name: 'unique-shards',
    shuffles: true,
    keepsOne: true,
    command: (place) => `${pileshufCommand(place)} --unique --shards ${shardCount}`,
  },
  {
    name: 'sort-u',
    shuffles: true,
    keepsOne: true,
    command: (place) => `LC_ALL=C sort -u -S 512M --parallel=2 -T tmp -o out ${place.inputs.pattern}`,
  },
  { name: 'eighth', shuffles: true, takesEighth: true, command: (place) => pileshufCommand(place) },
  {
    name: 'traced',
    shuffles: true,
    command: (place) => traced(pileshufCommand(place)),
    skipReason: () => missingProgram('strace'),
  },
  { name: 'resumable', shuffles: true, command: (place) => `${pileshufCommand(place)} --resume` },
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
  },
  {
    name: 'floor-fsync',
    shuffles: false,
    command: (place) => `cat ${place.inputs.pattern} > tmp/t && cat tmp/t > out && rm tmp/t && sync out`,
  },
  { name: 'cat-fsync', shuffles: false, command: (place) => `cat ${place.inputs.pattern} > out && sync out` },
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
    command: (place) =>
      place.case.encoding === 'parquet'
        ? parquetCommand('duckdb', place)
        : `"$PEERS_PYTHON" "$PEERS/duckdb-shuffle.py" 256MB tmp out ${place.inputs.pattern}`,
    skipReason: () => missingModules('duckdb'),
  },
  ...modulesOfTables.map((name) => ({
    name,
    shuffles: true,
    command: (/** @type {Place} */ place) => parquetCommand(name, place),
    skipReason: () => missingModules(name),
  })),
  {
    name: 'as-lines',
    shuffles: true,
    takesLines: true,
    command: (place) => pileshufCommand(place),
    skipReason: () => missingProgram('zstd'),
  },
  { name: 'uncapped', shuffles: true, isUncapped: true, command: (place) => pileshufCommand(place) },
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
  },
  { name: 'bare-node', shuffles: false, onlyReads: true, command: () => '"$NODE" -e 0' },
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

/** @param {Place} place @param {{ workers?: number, memory?: string }} [instead] of the case's own */
function pileshufCommand({ case: theCase, inputs, seed }, instead) {
  const { memory, workers, compress, zstdLevel } = { ...theCase, ...instead };
  return [
    `"$NODE" "$PILESHUF" ${inputs.pattern} -o out --seed ${seed} --force --temp-dir tmp --progress json`,
    memory === undefined ? '' : `-S ${memory}`,
    workers === undefined ? '' : `--workers ${workers}`,
    compress === undefined ? '' : `--compress ${compress}`,
    zstdLevel === undefined ? '' : `--parquet-codec zstd:${zstdLevel}`,
  ]
    .filter(Boolean)
    .join(' ');
}

/** @param {string} tool @param {Place} place */
function parquetCommand(tool, { case: { cgroupLimitBytes, zstdLevel }, inputs }) {
  const memory = cgroupLimitBytes === undefined ? '' : '700MB';
  return `"$PEERS_PYTHON" "$PEERS/parquet-shuffle.py" ${tool} '${memory}' ${zstdLevel} tmp out ${inputs.pattern}`;
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
  if (!programs.TERASHUF) return 'TERASHUF names no binary (bench/README.md says how to build one)';
  return fs.existsSync(programs.TERASHUF) ? undefined : 'the binary named by TERASHUF is not there';
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
