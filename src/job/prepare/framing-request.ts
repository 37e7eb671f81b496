/**
 * What a record is, as it was asked for, and as the workers are told.
 */
import { UsageError } from '../../errors.js';
import { type FramingSpec, LINES, NUL_TERMINATED } from '../../formats/framing-table.js';
import { LENGTH_PREFIXES } from '../../formats/framings/length-prefixed.js';
import type { RecordKind, ShuffleOptions } from './shuffle-options.js';

const MOST_DELIMITER_BYTES = 1024;
const MOST_LINES = 2 ** 20;
const MOST_RECORD_BYTES = 2 ** 30;

/** @throws UsageError */
export function framingSpecOf({
  records,
  zeroTerminated = false,
}: Pick<ShuffleOptions, 'records' | 'zeroTerminated'>): FramingSpec {
  if (records === undefined) return zeroTerminated ? NUL_TERMINATED : LINES;
  if (zeroTerminated) throw new UsageError('zeroTerminated and records contradict each other; give one of them');
  switch (records.by) {
    case 'delimiter':
      return { kind: 'delimited', value: delimiterBytes(records.delimiter).toString('hex') };
    case 'lines':
      requireWhole('--lines-per-record', records.linesPerRecord, MOST_LINES);
      return records.linesPerRecord === 1 ? LINES : { kind: 'lines', value: records.linesPerRecord };
    case 'size':
      requireWhole('--record-size', records.recordBytes, MOST_RECORD_BYTES);
      return { kind: 'fixed', value: records.recordBytes };
    case 'length-prefix':
      if (!LENGTH_PREFIXES.includes(records.prefix)) {
        throw new UsageError(`--length-prefixed ${records.prefix}: expected one of ${LENGTH_PREFIXES.join(', ')}`);
      }
      return { kind: 'length-prefixed', value: records.prefix };
    case 'paragraphs':
    case 'csv':
    case 'tfrecord':
      return { kind: records.by, value: null };
    default:
      throw new UsageError(
        `records: ${JSON.stringify((records satisfies never as RecordKind).by)} is no kind of records`,
      );
  }
}

function delimiterBytes(delimiter: string | Uint8Array): Buffer {
  const bytes = Buffer.from(delimiter as Uint8Array);
  if (bytes.byteLength >= 1 && bytes.byteLength <= MOST_DELIMITER_BYTES) return bytes;
  throw new UsageError(`the delimiter has ${bytes.byteLength} bytes; expected 1 to ${MOST_DELIMITER_BYTES}`);
}

function requireWhole(option: string, value: number, most: number): void {
  if (Number.isSafeInteger(value) && value >= 1 && value <= most) return;
  throw new UsageError(`${option} is ${value}; expected a whole number from 1 to ${most}`);
}
