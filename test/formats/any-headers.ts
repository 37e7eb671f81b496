/**
 * Headers before the inputs of any framing: the requested header, the header in the inputs, and the expected bytes
 * around the records of an output.
 */
import fc from 'fast-check';
import type { FramingSpec } from '#src/formats/framing-table.js';
import type { ShuffleOptions } from '#src/index.js';
import { paxLine, tarNote } from './plain-tar.js';

export interface HeaderOfInputs {
  readonly options: Pick<ShuffleOptions, 'records' | 'header'>;
  /** The header before this many bytes of records; always of the same length. */
  readonly header: (recordBytes: number) => Buffer;
  readonly trailer: Buffer;
}

const NONE = Buffer.alloc(0);

function textHeader(end: string, isQuoted: boolean): fc.Arbitrary<HeaderOfInputs> {
  const contents = isQuoted ? ['', 'id,text', '"a\n""b"', 'é'] : ['', 'id,text', '"', 'é'];
  return fc.array(fc.constantFrom(...contents), { minLength: 1, maxLength: 3 }).map((lines) => ({
    options: { header: { lines: lines.length } },
    header: () => Buffer.concat(lines.map((line) => Buffer.concat([Buffer.from(line), Buffer.from(end, 'hex')]))),
    trailer: NONE,
  }));
}

/** With ends of records among them. */
const bytesHeader = fc
  .array(fc.constantFrom(0x0a, 0x00, 0x22, 0x0d, 0x61, 0xff), { minLength: 1, maxLength: 90 })
  .map((bytes) => ({
    options: { header: { bytes: bytes.length } },
    header: () => Buffer.from(bytes),
    trailer: NONE,
  }));

/** As `numpy.lib.format` writes it, with room for all row counts. */
function npyHeader(recordBytes: number): HeaderOfInputs {
  return {
    options: { records: { by: 'npy' } },
    header: (bytes) => npyHeaderOf('|u1', bytes / recordBytes, [recordBytes]),
    trailer: NONE,
  };
}

export function npyHeaderOf(dtype: string, rows: number, row: readonly number[]): Buffer {
  const shape = row.map((length) => ` ${length}`).join(',');
  const text = (count: number) => `{'descr': '${dtype}', 'fortran_order': False, 'shape': (${count},${shape}), }`;
  const whole = Math.ceil((text(2 ** 53 - 1).length + 11) / 64) * 64;
  const magic = Buffer.from([0x93, ...Buffer.from('NUMPY'), 1, 0, (whole - 10) % 256, Math.floor((whole - 10) / 256)]);
  return Buffer.concat([magic, Buffer.from(`${text(rows).padEnd(whole - 11)}\n`)]);
}

const tarHeader = fc.array(fc.constantFrom('c', 'long '.repeat(150)), { maxLength: 2 }).map((comments) => ({
  options: {},
  header: () => Buffer.concat(comments.map((comment) => tarNote('g', paxLine('comment', comment)))),
  trailer: Buffer.alloc(1024),
}));

/** A header for inputs of a framing. */
export function anyHeader(spec: FramingSpec): fc.Arbitrary<HeaderOfInputs> {
  switch (spec.kind) {
    case 'delimiter':
      return fc.oneof(textHeader(spec.value, false), bytesHeader);
    case 'lines':
    case 'paragraphs':
      return fc.oneof(textHeader('0a', false), bytesHeader);
    case 'csv':
      return fc.oneof(textHeader('0a', true), bytesHeader);
    case 'size':
      return fc.oneof(fc.constant(npyHeader(spec.value)), bytesHeader);
    case 'webdataset':
      return tarHeader;
    default:
      return bytesHeader;
  }
}
