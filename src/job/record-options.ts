/** Turns the options `records`, `zeroTerminated`, `header` and `skipBlank` into the format of the records. */
import { types } from 'node:util';
import { requireWhole, UsageError } from '../errors.js';
import { delimiterOf, type FramingSpec, isOfLines, LINES, NUL_TERMINATED } from '../formats/framing-table.js';
import { LENGTH_PREFIXES, MOST_FIXED_BYTES } from '../formats/framings/lengths.js';
import { MOST_HEADER_BYTES } from '../formats/header.js';
import type { HeaderSpec, RecordFormat } from '../formats/record-format.js';
import { type OptionNamesBy, requireKnownOptions } from '../known-options.js';
import type { RecordKind, ShuffleOptions } from './options.js';

const MOST_TEXT_BYTES = 1024;
const MOST_LINES = 2 ** 20;

const RECORD_KINDS: OptionNamesBy<RecordKind> = {
  delimiter: { by: true, delimiter: true },
  lines: { by: true, linesPerRecord: true },
  paragraphs: { by: true },
  csv: { by: true },
  fasta: { by: true },
  fastq: { by: true },
  size: { by: true, recordBytes: true },
  'length-prefix': { by: true, prefix: true },
  tfrecord: { by: true },
  npy: { by: true },
  webdataset: { by: true },
};

type SelfDescribing = 'npy' | 'webdataset';

const NPY: RecordFormat = { framing: undefined, header: { kind: 'npy', value: null }, linesAssumed: false };
const WEBDATASET: RecordFormat = {
  framing: { kind: 'webdataset', value: null },
  header: { kind: 'tar', value: null },
  linesAssumed: false,
};

export function recordFormatOf({
  records,
  zeroTerminated = false,
  header,
  skipBlank = false,
}: Pick<ShuffleOptions, 'records' | 'zeroTerminated' | 'header' | 'skipBlank'>): RecordFormat {
  if (records === undefined) {
    const framing = zeroTerminated ? NUL_TERMINATED : LINES;
    const rest = { linesAssumed: !zeroTerminated, isText: isText(framing), skipsBlank: skipBlank };
    return { framing, header: headerSpecOf(header, framing), ...rest };
  }
  if (zeroTerminated) throw new UsageError('`zeroTerminated` and `records` contradict each other; give one of them');
  // Callers without types may pass anything.
  if (!Object.hasOwn(RECORD_KINDS, records?.by))
    throw new UsageError(`\`records\`: expected an object with \`by\` one of ${Object.keys(RECORD_KINDS).join(', ')}`);
  requireKnownOptions(`\`records\` by ${records.by}`, records, RECORD_KINDS[records.by]);
  if (records.by === 'npy' || records.by === 'webdataset') {
    refuseHeader(header, records.by);
    if (skipBlank) throw notText(records.by);
    return records.by === 'npy' ? NPY : WEBDATASET;
  }
  const framing = framingSpecOf(records);
  const isOfText = isText(framing);
  if (skipBlank && !isOfText && delimiterOf(framing) === undefined) throw notText(records.by);
  const rest = { linesAssumed: false, isText: isOfText, skipsBlank: skipBlank };
  return { framing, header: headerSpecOf(header, framing), ...rest };
}

/** `zeroTerminated` takes all bytes as they are, and so does a newline that is given as a delimiter, for shuf. */
function isText(framing: FramingSpec): boolean {
  if (framing.kind === 'delimited') return framing.value !== NUL_TERMINATED.value;
  return isOfLines(framing);
}

function notText(by: RecordKind['by']): UsageError {
  return new UsageError(`records of ${by} are not text, so none is blank; leave out \`skipBlank\``);
}

function refuseHeader(header: ShuffleOptions['header'], by: SelfDescribing): void {
  if (header === undefined) return;
  const option = `\`header.${Object.keys(header)[0]}\``;
  throw new UsageError(`records of ${by} have a header of their own; leave out ${option}`);
}

function framingSpecOf(records: Exclude<RecordKind, { by: SelfDescribing }>): FramingSpec {
  switch (records.by) {
    case 'delimiter':
      return delimitedBy(textBytes('`records.delimiter`', records.delimiter).toString('hex'));
    case 'lines':
      return lineGroupsOf(records.linesPerRecord);
    case 'size':
      requireWhole('`records.recordBytes`', records.recordBytes, 1, MOST_FIXED_BYTES);
      return { kind: 'fixed', value: records.recordBytes };
    case 'length-prefix':
      if (!LENGTH_PREFIXES.includes(records.prefix)) {
        throw new UsageError(`\`records.prefix\` ${records.prefix}: expected one of ${LENGTH_PREFIXES.join(', ')}`);
      }
      return { kind: 'length-prefixed', value: records.prefix };
    case 'fasta':
      return { kind: 'begins-with', value: '3e' };
    case 'paragraphs':
    case 'csv':
    case 'fastq':
    case 'tfrecord':
      return { kind: records.by, value: null };
  }
}

/** Who names the newline wants no other line end. */
function delimitedBy(hex: string): FramingSpec {
  return hex === LINES.value ? { kind: 'newline', value: null } : { kind: 'delimited', value: hex };
}

function lineGroupsOf(linesPerRecord = 1): FramingSpec {
  requireWhole('`records.linesPerRecord`', linesPerRecord, 1, MOST_LINES);
  return linesPerRecord === 1 ? LINES : { kind: 'lines', value: linesPerRecord };
}

function headerSpecOf(header: ShuffleOptions['header'], framing: FramingSpec): HeaderSpec | undefined {
  if (header === undefined) return undefined;
  if ('bytes' in header) {
    requireWhole('`header.bytes`', header.bytes, 1, MOST_HEADER_BYTES);
    return { kind: 'bytes', value: header.bytes };
  }
  if ('prefix' in header) {
    const prefix = textBytes('`header.prefix`', header.prefix);
    return {
      kind: 'prefix',
      value: { prefix: prefix.toString('hex'), lineEnd: lineEndOf(framing, '`header.prefix`') },
    };
  }
  requireWhole('`header.lines`', header.lines, 1, MOST_LINES);
  const lineEnd = lineEndOf(framing, '`header.lines`');
  return { kind: 'lines', value: { count: header.lines, lineEnd, isQuoted: framing.kind === 'csv' } };
}

/** In hex: header lines end as text records do. */
function lineEndOf(framing: FramingSpec, option: string): string {
  const lineEnd = isOfLines(framing) ? LINES.value : delimiterOf(framing);
  if (lineEnd !== undefined) return lineEnd;
  throw new UsageError(
    `${option} takes lines, and these records are not text; give \`header.bytes\`, or leave ${option} out`,
  );
}

function textBytes(option: string, text: string | Uint8Array): Buffer {
  if (typeof text !== 'string' && !types.isUint8Array(text)) throw new UsageError(`${option}: expected a string`);
  const bytes = Buffer.from(text as Uint8Array);
  if (bytes.byteLength >= 1 && bytes.byteLength <= MOST_TEXT_BYTES) return bytes;
  throw new UsageError(`${option} has ${bytes.byteLength} bytes; expected 1 to ${MOST_TEXT_BYTES}`);
}
