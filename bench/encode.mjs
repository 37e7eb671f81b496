// @ts-check
// Makes compressed copies of a corpus with the usual tools at their default levels, or of Parquet with pyarrow, and keeps
// them beside it.

import { spawnSync } from 'node:child_process';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { patternOf } from './corpus.mjs';
import { columnTypes } from './parquet-columns.mjs';
import { missingModules, missingProgram, programs } from './programs.mjs';

/** @import { Corpus } from './corpus.mjs' */

/** @typedef {'gzip' | 'bgzf' | 'zstd' | 'parquet'} Encoding */

/** @type {Record<Encoding, { suffix: string, missing: () => string | undefined, command: string }>} */
const encoders = {
  gzip: { suffix: '.gz', missing: () => missingProgram('gzip'), command: 'gzip -6 < "$1" > "$2"' },
  bgzf: { suffix: '.bgz', missing: () => missingProgram('bgzip'), command: 'bgzip -c "$1" > "$2"' },
  zstd: { suffix: '.zst', missing: () => missingProgram('zstd'), command: 'zstd -q -3 < "$1" > "$2"' },
  parquet: {
    suffix: '.parquet',
    missing: () => missingModules('duckdb', 'pyarrow'), // DuckDB checks the outputs
    command: '"$PEERS_PYTHON" "$PEERS/parquet-corpus.py" write "$COLUMN_TYPES" "$1" > "$2"',
  },
};

/** @param {Encoding} encoding @returns {string | undefined} what is missing to make such a copy */
export function encodingUnavailable(encoding) {
  return encoders[encoding].missing();
}

/**
 * Compresses each file of the corpus. Reuses a copy of an earlier bench if it is not older than its file.
 *
 * @param {Corpus} corpus
 * @param {Encoding} encoding
 * @returns {Corpus}
 */
export function encodeCorpus(corpus, encoding) {
  const { suffix, command } = encoders[encoding];
  const folder = `${corpus.folder}-${encoding}`;
  const [first = ''] = corpus.files;
  const encodedDir = path.join(path.dirname(path.dirname(first)), folder);
  fs.mkdirSync(encodedDir, { recursive: true });
  const files = corpus.files.map((file) => path.join(encodedDir, `${path.basename(file)}${suffix}`));
  const pairs = corpus.files.flatMap((file, i) => (isNewer(files[i] ?? '', file) ? [] : [file, files[i] ?? '']));
  if (pairs.length > 0) {
    const each = `${command.replace('> "$2"', '> "$2.part"')} && mv "$2.part" "$2"`;
    const cores = String(os.availableParallelism());
    const { status } = spawnSync('xargs', ['-0', '-n', '2', '-P', cores, 'bash', '-c', each, 'encode'], {
      input: pairs.map((name) => `${name}\0`).join(''),
      stdio: ['pipe', 'ignore', 'inherit'],
      env: { ...process.env, ...programs, COLUMN_TYPES: columnTypes(corpus.parameters.kind) },
    });
    if (status !== 0) throw new Error(`the ${encoding} copy of ${corpus.folder} could not be made`);
  }
  return { ...corpus, folder, pattern: patternOf(folder), files };
}

/** @param {string} file @param {string} than */
function isNewer(file, than) {
  return fs.existsSync(file) && fs.statSync(file).mtimeMs >= fs.statSync(than).mtimeMs;
}
