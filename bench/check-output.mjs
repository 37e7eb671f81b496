// @ts-check
// Tells whether the output of a contestant is what it has to be: the lines or rows of the inputs, in another order if it
// shuffles.

import { spawnSync } from 'node:child_process';
import fs from 'node:fs';
import path from 'node:path';
import { checksumLines } from './checksum.mjs';
import { checksumInputs } from './corpus.mjs';
import { programs } from './programs.mjs';

/** @import { Contestant, Place } from './contestants.mjs' */
/** @import { Inputs } from './corpus.mjs' */

const comparedHeadBytes = 64 * 1024;

/** @type {Map<string, RowDigest>} of inputs, by pattern */
const knownDigests = new Map();

/** @typedef {{ rows: number, sum: string, first: string }} RowDigest */

/**
 * @param {Contestant} contestant
 * @param {Place} place
 * @param {Inputs} plainInputs the inputs before compression
 * @param {string} written
 * @param {boolean} isThorough whether to compare checksums of lines, too; those of rows always are
 * @returns {string | undefined} undefined: nothing is wrong
 */
export function findWrong(contestant, { case: { compress, encoding }, inputs }, plainInputs, written, isThorough) {
  if (contestant.onlyReads) return undefined;
  if (!fs.existsSync(written)) return 'expected an output, got none';
  if (encoding === 'parquet') return findWrongRows(inputs, written);
  const out = compress === undefined ? written : decoded(written);
  if (out === undefined) return 'expected a file that zstd decompresses';
  const outFiles = filesOf(out);
  const outBytes = outFiles.reduce((sum, file) => sum + fs.statSync(file).size, 0);
  if (outBytes !== plainInputs.bytes) return `expected ${plainInputs.bytes} bytes, got ${outBytes}`;
  if (!contestant.shuffles) return undefined;
  const [firstFile = ''] = plainInputs.files;
  const [firstOut = ''] = outFiles;
  if (readHead(firstOut).equals(readHead(firstFile))) return 'expected another order, got that of the inputs';
  if (!isThorough) return undefined;
  const expected = checksumInputs(plainInputs);
  const got = checksumLines(outFiles);
  if (got.lines === expected.lines && got.sum === expected.sum) return undefined;
  return `expected ${expected.lines} lines with checksum ${expected.sum}, got ${got.lines} with ${got.sum}`;
}

/** @param {Inputs} inputs @param {string} out */
function findWrongRows({ pattern, files }, out) {
  const expected = knownDigests.get(pattern) ?? digestRows(files);
  knownDigests.set(pattern, expected);
  const got = digestRows([out]);
  if (got.rows !== expected.rows || got.sum !== expected.sum) {
    return `expected ${expected.rows} rows with checksum ${expected.sum}, got ${got.rows} with ${got.sum}`;
  }
  return got.first === expected.first ? 'expected another order, got that of the inputs' : undefined;
}

/** @param {string[]} files @returns {RowDigest} */
function digestRows(files) {
  const argv = [path.join(programs.PEERS, 'parquet-corpus.py'), 'digest', ...files];
  const { status, stdout } = spawnSync(programs.PEERS_PYTHON, argv, {
    encoding: 'utf8',
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  return status === 0 ? JSON.parse(stdout) : { rows: 0, sum: 'no rows that DuckDB reads', first: '' };
}

/** @param {string} out @returns {string[]} the file itself, or the shards in the directory */
function filesOf(out) {
  if (!fs.statSync(out).isDirectory()) return [out];
  // Beside the shards lies the mark that they are complete.
  const shards = fs.readdirSync(out).filter((name) => !name.startsWith('.'));
  return shards.map((name) => path.join(out, name));
}

/** @param {string} file @returns {string | undefined} undefined: it could not be decompressed */
function decoded(file) {
  const { status } = spawnSync('zstd', ['-dqf', file, '-o', `${file}-decoded`], { stdio: 'ignore' });
  return status === 0 ? `${file}-decoded` : undefined;
}

/** @param {string} file */
function readHead(file) {
  const head = Buffer.alloc(comparedHeadBytes);
  const fd = fs.openSync(file, 'r');
  const byteLength = fs.readSync(fd, head, 0, head.length, 0);
  fs.closeSync(fd);
  return head.subarray(0, byteLength);
}
