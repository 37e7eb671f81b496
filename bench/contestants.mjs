// @ts-check
// Who runs in a case. Each contestant is one line of shell, run in the work directory, that reads the inputs and writes
// `out`; scratch files go to `tmp`. The programs come in through $NODE, $PILESHUF and $TERASHUF, so the line that is
// run is also, free of paths, the line that is recorded.
//
//   resumable  pileshuf with all that it needs to go on after a power failure
//   floor      what any two-pass shuffle has to do at least: read and write everything twice
//   read       reads the inputs, as many at a time as there are cores; zstd-dc and the like decompress them so, too
//   cat        one read and one write; cat-fsync makes the output durable too

import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { isInstalled } from './encode.mjs';

/** @import { Case } from './cases.mjs' */
/** @import { Corpus } from './corpus.mjs' */

/**
 * @typedef {object} Contestant
 * @property {string} name
 * @property {boolean} shuffles whether the output is in another order than the inputs
 * @property {boolean} [onlyReads] whether it leaves no output
 * @property {boolean} [onlyByName] runs only in cases that name it
 * @property {(place: Place) => string} command
 * @property {(place: Place) => string | undefined} skipReason
 */

/** @typedef {{ case: Case, corpus: Corpus, seed: string, breakdown: boolean }} Place */

export const pileshufMain =
  process.env['PILESHUF'] ?? path.join(import.meta.dirname, '..', 'dist', 'src', 'cli', 'main.cjs');
export const terashufBinary = process.env['TERASHUF'];

/** What the lines of shell find in their environment. */
export const programs = {
  NODE: process.execPath,
  PILESHUF: path.resolve(pileshufMain),
  TERASHUF: terashufBinary ? path.resolve(terashufBinary) : '',
};

/** @param {Place} place */
const inputs = ({ corpus }) => `${corpus.folder}/part-*`;
const never = () => undefined;

/** @type {Contestant[]} */
export const contestants = [
  {
    name: 'pileshuf',
    shuffles: true,
    command: pileshufCommand,
    skipReason: never,
  },
  {
    name: 'resumable',
    shuffles: true,
    onlyByName: true,
    command: (place) => `${pileshufCommand(place)} --resume`,
    skipReason: never,
  },
  {
    name: 'gzip-program',
    shuffles: true,
    onlyByName: true,
    command: (place) => `${pileshufCommand(place)} --decompress-program 'igzip -dc'`,
    skipReason: () => missingProgram('igzip'),
  },
  readerOf('read', 'cat'),
  readerOf('pigz-dc', 'pigz -dc'),
  readerOf('igzip-dc', 'igzip -dc'),
  readerOf('zstd-dc', 'zstd -dcq'),
  {
    name: 'zstd-recode',
    shuffles: false,
    onlyByName: true,
    command: (place) => `zstd -dcq ${inputs(place)} | zstd -q -3 -T0 > out`,
    skipReason: () => missingProgram('zstd'),
  },
  {
    name: 'floor',
    shuffles: false,
    command: (place) => `cat ${inputs(place)} > tmp/t && cat tmp/t > out && rm tmp/t`,
    skipReason: never,
  },
  { name: 'cat', shuffles: false, command: (place) => `cat ${inputs(place)} > out`, skipReason: never },
  {
    name: 'cat-fsync',
    shuffles: false,
    command: (place) => `cat ${inputs(place)} > out && sync out`,
    skipReason: never,
  },
  {
    name: 'shuf',
    shuffles: true,
    command: (place) => `cat ${inputs(place)} | shuf > out`,
    skipReason: shufSkipReason,
  },
  {
    name: 'terashuf',
    shuffles: true,
    command: (place) => `cat ${inputs(place)} | MEMORY=${terashufMemory(place)} TMPDIR=tmp SEED=1 "$TERASHUF" > out`,
    skipReason: terashufSkipReason,
  },
];

/**
 * @param {string} name
 * @param {string} command reads the file that is named behind it
 * @returns {Contestant}
 */
function readerOf(name, command) {
  const [program = ''] = command.split(' ');
  return {
    name,
    shuffles: false,
    onlyReads: true,
    onlyByName: true,
    command: (place) =>
      `printf '%s\\0' ${inputs(place)} | xargs -0 -n 1 -P ${os.availableParallelism()} ${command} > /dev/null`,
    skipReason: () => missingProgram(program),
  };
}

/** @param {string} program */
function missingProgram(program) {
  return isInstalled(program) ? undefined : `${program} is not installed`;
}

/** @param {Place} place */
function pileshufCommand(place) {
  const command = `"$NODE" "$PILESHUF" ${inputs(place)} -o out --seed ${place.seed} --force --temp-dir tmp --progress json`;
  const { compress } = place.case;
  return [
    command,
    memoryOption(place),
    compress === undefined ? '' : `--compress ${compress}`,
    place.breakdown ? '--profile profile' : '',
  ]
    .filter(Boolean)
    .join(' ');
}

/** @returns {string | undefined} what to do before pileshuf can be measured */
export function pileshufMissing() {
  if (fs.existsSync(pileshufMain)) return undefined;
  if (process.env['PILESHUF']) return `PILESHUF names ${pileshufMain}, which is not there`;
  return 'pileshuf is not built: expected dist/src/cli/main.cjs; run "npm run build" first';
}

/** @param {Place} place */
function memoryOption(place) {
  return place.case.memory === undefined ? '' : `-S ${place.case.memory}`;
}

/** shuf holds every line in memory. @param {Place} place */
function shufSkipReason({ case: { cgroupLimitBytes }, corpus }) {
  const limitBytes = cgroupLimitBytes ?? os.totalmem();
  if (corpus.bytes < limitBytes) return undefined;
  return `it holds all lines in memory: ${gigabytes(corpus.bytes)} of lines, ${gigabytes(limitBytes)} to hold them`;
}

function terashufSkipReason() {
  if (!terashufBinary) return 'TERASHUF names no binary (bench/README.md says how to build one)';
  return fs.existsSync(terashufBinary) ? undefined : 'the binary named by TERASHUF is not there';
}

/**
 * In GB: about the 256M of pileshuf, less its 8 bytes a line, where the case is out of core; else all of the data.
 *
 * @param {Place} place
 */
function terashufMemory({ case: { memory }, corpus }) {
  return memory === undefined ? Math.max(4, Math.ceil((corpus.bytes * 1.1) / 2 ** 30)) : 0.2;
}

/** @param {number} bytes */
function gigabytes(bytes) {
  return `${(bytes / 1e9).toFixed(2)} GB`;
}
