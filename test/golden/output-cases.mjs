/**
 * The inputs and options of the golden outputs, and the description of a result, for the writer of the golden files
 * and for the test. Uses the public functions alone.
 */
import { createHash } from 'node:crypto';
import { mkdirSync, readdirSync, readFileSync, rmSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { gunzipSync } from 'node:zlib';
import { shuffle } from '#src/index.js';

/** Never written again: outputs, stores, indexes and job directories are made from them. */
export const INPUTS = fileURLToPath(new URL('files/inputs/', import.meta.url));

/** @typedef {Omit<import('#src/index.js').ShuffleOptions, 'inputs' | 'output' | 'tempDirs'>} CaseOptions */
/** @typedef {{ inputs: readonly string[], options: CaseOptions, isNewDirectory?: boolean }} OutputCase */

/** Sizes with which everything happens in the smallest job: several slices, stripes, segments and writes. */
export const ON_DISK = {
  pileCount: 5,
  bufferBytes: 500,
  readBytes: 2048,
  outputBytes: 1500,
  sliceBytes: 3000,
  stripeCount: 2,
  mayUseRamPool: false,
  inline: true,
};
export const IN_MEMORY = { mayUseRamPool: true, inline: true };

const LINES = ['lines.txt', 'more.txt', 'empty.txt', 'one.txt'];
const TABLES = ['table-a.csv', 'table-b.csv'];
/** @type {Pick<CaseOptions, 'records' | 'header'>} */
const CSV = { records: { by: 'csv' }, header: { lines: 1 } };

/** @type {Readonly<Record<string, OutputCase>>} */
export const OUTPUT_CASES = {
  'few lines': { inputs: ['few.txt'], options: { seed: '1' } },
  'one file': { inputs: ['lines.txt'], options: { seed: '1' } },
  'several files': { inputs: LINES, options: { seed: '42' } },
  'the same files in another order': { inputs: LINES.toReversed(), options: { seed: '42' } },
  'a seed that is a text': { inputs: LINES, options: { seed: 'Würfel 🎲' } },
  'an empty seed': { inputs: LINES, options: { seed: '' } },
  'ids by name': { inputs: LINES, options: { seed: '42', inputIds: 'name' } },
  'ids by name in another order': { inputs: LINES.toReversed(), options: { seed: '42', inputIds: 'name' } },
  'given ids': { inputs: ['one.txt', 'more.txt'], options: { seed: '42', inputIds: ['a', 'b'] } },
  'nothing at all': { inputs: ['empty.txt'], options: { seed: '1' } },
  gzip: { inputs: ['lines.txt.gz'], options: { seed: '1' } },
  BGZF: { inputs: ['lines.txt.bgz'], options: { seed: '1' } },
  zstd: { inputs: ['lines.txt.zst'], options: { seed: '1' } },
  NUL: { inputs: ['names.nul'], options: { seed: '1', zeroTerminated: true } },
  delimiter: { inputs: ['delimited.txt'], options: { seed: '1', records: { by: 'delimiter', delimiter: '<>' } } },
  'lines per record': { inputs: ['reads.fastq'], options: { seed: '1', records: { by: 'lines', linesPerRecord: 4 } } },
  paragraphs: { inputs: ['poems.txt'], options: { seed: '1', records: { by: 'paragraphs' } } },
  'CSV with a header': { inputs: TABLES, options: { seed: '1', ...CSV } },
  'record size': {
    inputs: ['fixed.bin'],
    options: { seed: '1', records: { by: 'size', recordBytes: 7 }, header: { bytes: 9 } },
  },
  'length prefix u32le': {
    inputs: ['messages.bin'],
    options: { seed: '1', records: { by: 'length-prefix', prefix: 'u32le' } },
  },
  'length prefix varint': {
    inputs: ['messages.varint'],
    options: { seed: '1', records: { by: 'length-prefix', prefix: 'varint' } },
  },
  tfrecord: { inputs: ['train.tfrecord'], options: { seed: '1', records: { by: 'tfrecord' } } },
  npy: { inputs: ['array-a.npy', 'array-b.npy'], options: { seed: '1', records: { by: 'npy' } } },
  webdataset: { inputs: ['samples.tar'], options: { seed: '1', records: { by: 'webdataset' } } },
  'shards by count': { inputs: LINES, options: { seed: '1', shards: { by: 'count', shardCount: 4 } } },
  'shards by records': {
    inputs: LINES,
    options: { seed: '1', shards: { by: 'records', recordsPerShard: 100 }, shardPrefix: 'train' },
  },
  'shards by bytes': { inputs: LINES, options: { seed: '1', shards: { by: 'bytes', maxShardBytes: 12_000 } } },
  'shards by bytes, around a long record': {
    inputs: LINES,
    options: { seed: '1', shards: { by: 'bytes', maxShardBytes: 4000 } },
  },
  'shards in a new directory': {
    inputs: ['lines.txt'],
    options: { seed: '1', shards: { by: 'count', shardCount: 2 } },
    isNewDirectory: true,
  },
  'shards with a header, compressed': {
    inputs: TABLES,
    options: { seed: '1', ...CSV, shards: { by: 'count', shardCount: 3 }, compress: { codec: 'gzip' } },
  },
  'shards of an array': {
    inputs: ['array-a.npy', 'array-b.npy'],
    options: { seed: '1', records: { by: 'npy' }, shards: { by: 'count', shardCount: 3 } },
  },
};

/** @param {string} name @returns {OutputCase} */
export function outputCase(name) {
  const found = OUTPUT_CASES[name];
  if (found === undefined) throw new Error(`there is no case ${name}`);
  return found;
}

/**
 * What is kept of a result: the report's numbers, and of each output its SHA-256 once it is decompressed. What is short
 * is kept as it is.
 * @typedef {{ records: number, bytes: number, checksum: string, files: Record<string, string> }} GoldenOutput
 */

/**
 * @param {OutputCase} outputCase
 * @param {string} root a directory for output and temp data, which are removed
 * @param {import('#src/index.js').Tuning} tuning
 * @returns {Promise<GoldenOutput>}
 */
export async function resultOf({ inputs, options, isNewDirectory }, root, tuning) {
  const output = join(root, 'output');
  rmSync(output, { recursive: true, force: true });
  // Shards that go to an existing directory get a completion marker.
  if (options.shards !== undefined && isNewDirectory !== true) mkdirSync(output);
  const { records, bytes, checksum } = await shuffle(
    {
      memoryBytes: 2 ** 28,
      workers: 1,
      ...options,
      inputs: inputs.map((name) => ({ path: join(INPUTS, name) })),
      output,
      tempDirs: [root],
    },
    tuning,
  );
  const files = filesOf(output);
  rmSync(output, { recursive: true });
  return { records, bytes, checksum, files };
}

/** @param {string} output @returns {Record<string, string>} */
export function filesOf(output) {
  if (statSync(output).isFile()) return { output: told(readFileSync(output)) };
  const names = readdirSync(output).sort();
  return Object.fromEntries(names.map((name) => [name, told(readFileSync(join(output, name)))]));
}

const SHORT_BYTES = 120;

/** @param {Buffer} bytes */
export function told(bytes) {
  const decoded = bytes[0] === 0x1f && bytes[1] === 0x8b ? gunzipSync(bytes) : bytes;
  return decoded.byteLength <= SHORT_BYTES ? `text ${decoded.toString('latin1')}` : sha256(decoded);
}

/** @param {Uint8Array} bytes */
export function sha256(bytes) {
  return createHash('sha256').update(bytes).digest('hex');
}
