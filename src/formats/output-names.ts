/**
 * Refuses names of outputs that promise a format which pileshuf does not write: a reader would take the file for one.
 * pileshuf writes records one after the other, and compresses with gzip and zstd. To add a format: a line in a table.
 */
import { basename } from 'node:path';
import { UsageError } from '../errors.js';
import { withoutCodecSuffix } from './codec-table.js';
import { codecOfName, OUTPUT_CODECS } from './encoder-table.js';

/** Without `.pt` and `.br`, which are languages, too. */
const OTHER_FORMATS: ReadonlyMap<string, string> = new Map([
  ...['parquet', 'pq'].map((ending) => [ending, 'Parquet'] as const),
  ...['arrow', 'feather'].map((ending) => [ending, 'Arrow'] as const),
  ...['h5', 'hdf5'].map((ending) => [ending, 'HDF5'] as const),
  ...['xls', 'xlsx'].map((ending) => [ending, 'a spreadsheet'] as const),
  ...['zip', 'npz', '7z', 'rar', 'tgz', 'tbz2', 'txz'].map((ending) => [ending, 'an archive'] as const),
  ...['pkl', 'pickle', 'safetensors'].map((ending) => [ending, 'a file of tensors'] as const),
  ...['bam', 'cram', 'bcf'].map((ending) => [ending, 'compressed alignments or variants'] as const),
  ...['sqlite', 'sqlite3', 'duckdb'].map((ending) => [ending, 'a database'] as const),
  ['orc', 'ORC'],
  ['avro', 'Avro'],
]);

const FORMATS_OF_RECORDS: ReadonlyMap<string, string> = new Map([
  ['tar', 'webdataset'],
  ['npy', 'npy'],
  ['tfrecord', 'tfrecord'],
  ['tfrecords', 'tfrecord'],
]);

const OTHER_CODECS = /\.(?:Z|lzma|lz|lzo|snappy)$/;

/** @param output one file: the endings of shards follow those of the inputs. */
export function refuseOtherFormats(output: string, kind: string | undefined): void {
  const codec = codecOfName(output);
  if (codec === undefined && (withoutCodecSuffix(output) !== output || OTHER_CODECS.test(output)))
    throw new UsageError(
      `the output ${output}: its name stands for a codec that pileshuf does not write; name it .gz or .zst (${OUTPUT_CODECS.join(' or ')}), or write to standard output and compress that`,
    );
  const ending = /\.([^.]+)$/.exec(basename(withoutCodecSuffix(output)))?.[1]?.toLowerCase() ?? '';
  const format = OTHER_FORMATS.get(ending);
  if (format !== undefined)
    throw new UsageError(
      `the output ${output}: its name stands for ${format}, which pileshuf does not write; name it after its records, such as .jsonl or .csv, and convert it afterwards`,
    );
  const expected = FORMATS_OF_RECORDS.get(ending);
  if (expected === undefined || kind === undefined || kind === expected) return;
  throw new UsageError(
    `the output ${output}: its name stands for a format that holds other records; give \`records: { by: '${expected}' }\` for inputs of that format, or name it after its records`,
  );
}
