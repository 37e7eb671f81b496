/** What a record is: the options that all commands share which read inputs. */
import type { Command } from 'commander';
import type { HeaderKind, RecordKind, ShuffleOptions } from '../../index.js';
import { parseDelimiter } from '../delimiter.js';
import { parseCount, parseLengthPrefix } from '../option-value.js';
import { parseSize } from '../size.js';
import { onlyOne } from './only-one.js';

/** As commander collects them. */
export interface RecordOptionValues {
  readonly zeroTerminated?: boolean;
  readonly delimiter?: Uint8Array;
  readonly linesPerRecord?: number;
  readonly paragraphs?: boolean;
  readonly csv?: boolean;
  readonly recordSize?: number;
  readonly lengthPrefixed?: Extract<RecordKind, { by: 'length-prefix' }>['prefix'];
  readonly tfrecord?: boolean;
  readonly npy?: boolean;
  readonly webdataset?: boolean;
  readonly header?: number;
  readonly skipBytes?: number;
  readonly maxRecord?: number;
}

export function declareRecordOptions(command: Command): void {
  const count = (option: string) => (text: string) => parseCount(text, option);
  command
    .option('-z, --zero-terminated', 'records end in NUL, in and out, not in newline')
    .option(
      '--delimiter <STRING>',
      'records end in STRING; \\n, \\r, \\t, \\0, \\\\ and \\xHH are escapes',
      parseDelimiter,
    )
    .option('--lines-per-record <N>', 'a record is N lines, as 4 in FASTQ', count('--lines-per-record'))
    .option('--paragraphs', 'a record is text with the blank lines behind it')
    .option('--csv', 'a record is a line; newlines between double quotes belong to it')
    .option('--record-size <BYTES>', 'a record is so many bytes: token arrays, embeddings', count('--record-size'))
    .option(
      '--length-prefixed <KIND>',
      'a record is its length (u32le, u32be, u64le or varint) and so many bytes',
      parseLengthPrefix,
    )
    .option('--tfrecord', 'a record is a TFRecord; its checksums are verified')
    .option('--npy', 'a record is a row of the array of a .npy file')
    .option('--webdataset', 'a record is a sample of a tar file: members named alike up to the first dot')
    .option('--header <N>', 'the first N lines of each input are its header', count('--header'))
    .option('--skip-bytes <N>', 'the first N bytes of each input are its header', count('--skip-bytes'))
    .option('--max-record <SIZE>', 'refuse longer records (default: 1GiB, at most 1984MiB)', (text: string) =>
      parseSize(text, { option: '--max-record' }),
    );
}

/** @throws UsageError where they contradict each other */
export function recordOptionsOf(
  values: RecordOptionValues,
): Pick<ShuffleOptions, 'zeroTerminated' | 'records' | 'header' | 'maxRecordBytes'> {
  return {
    zeroTerminated: values.zeroTerminated,
    records: chooseRecordKind(values),
    header: chooseHeaderKind(values),
    maxRecordBytes: values.maxRecord,
  };
}

function chooseRecordKind(values: RecordOptionValues): RecordKind | undefined {
  const { zeroTerminated, delimiter, linesPerRecord, paragraphs, csv, recordSize, lengthPrefixed } = values;
  const asked: (readonly [option: string, kind: RecordKind | undefined])[] = [];
  if (zeroTerminated === true) asked.push(['--zero-terminated', undefined]);
  if (delimiter !== undefined) asked.push(['--delimiter', { by: 'delimiter', delimiter }]);
  if (linesPerRecord !== undefined) asked.push(['--lines-per-record', { by: 'lines', linesPerRecord }]);
  if (paragraphs === true) asked.push(['--paragraphs', { by: 'paragraphs' }]);
  if (csv === true) asked.push(['--csv', { by: 'csv' }]);
  if (recordSize !== undefined) asked.push(['--record-size', { by: 'size', recordBytes: recordSize }]);
  if (lengthPrefixed !== undefined) asked.push(['--length-prefixed', { by: 'length-prefix', prefix: lengthPrefixed }]);
  if (values.tfrecord === true) asked.push(['--tfrecord', { by: 'tfrecord' }]);
  if (values.npy === true) asked.push(['--npy', { by: 'npy' }]);
  if (values.webdataset === true) asked.push(['--webdataset', { by: 'webdataset' }]);
  return onlyOne(asked);
}

function chooseHeaderKind({ header, skipBytes }: RecordOptionValues): HeaderKind | undefined {
  const asked: (readonly [option: string, kind: HeaderKind])[] = [];
  if (header !== undefined) asked.push(['--header', { lines: header }]);
  if (skipBytes !== undefined) asked.push(['--skip-bytes', { bytes: skipBytes }]);
  return onlyOne(asked);
}
