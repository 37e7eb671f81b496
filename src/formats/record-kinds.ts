/**
 * What a record may be, by the name that the option `records` has for it. To add a kind: its line here, and its framing
 * in `framing-table.ts`. Types, checks, flags and help follow.
 */
import { types } from 'node:util';
import { requireWhole, UsageError } from '../errors.js';
import type { Flag } from '../flag.js';
import { type OptionNames, requireKnownOptions } from '../known-options.js';
import { oneOf, parseCount, parseDelimiter } from '../typed-values.js';
import { type FramingSpec, LINES } from './framing-table.js';
import { LENGTH_PREFIXES, type LengthPrefix, MOST_FIXED_BYTES } from './framings/lengths.js';
import type { HeaderSpec } from './record-format.js';

/** @typeParam Fields what the option has beside `by`. */
interface KindRule<Fields> {
  readonly fields: OptionNames<Fields>;
  readonly flags: readonly Flag<Fields>[];
  /** Checks the fields. Undefined: the header declares the framing. */
  framingOf(fields: Fields): FramingSpec | undefined;
  /** The header of every input, where the format has one of its own. */
  readonly header?: HeaderSpec;
}

type NoFields = Readonly<Record<never, never>>;

const kind = <Fields>(rule: KindRule<Fields>): KindRule<Fields> => rule;

/** A kind of records with one flag, without a value. */
function plainKind(framing: FramingSpec | undefined, flag: Flag<NoFields>, header?: HeaderSpec): KindRule<NoFields> {
  return { fields: {}, flags: [flag], framingOf: () => framing, ...(header && { header }) };
}

const MOST_TEXT_BYTES = 1024;
export const MOST_LINES = 2 ** 20;
const lengthPrefix = oneOf(...LENGTH_PREFIXES);

const KINDS = {
  /** A record ends with these 1 to 1024 bytes. A string means its UTF-8 bytes. */
  delimiter: kind<{ readonly delimiter: string | Uint8Array }>({
    fields: { delimiter: true },
    flags: [
      {
        name: 'delimiter',
        value: 'STRING',
        part: 'delimiter',
        parse: (text, flag) => ({ delimiter: parseDelimiter(text, flag) }),
        help: 'records end in STRING; \\n, \\r, \\t, \\0, \\\\ and \\xHH are escapes',
      },
    ],
    framingOf({ delimiter }) {
      const value = textBytes('`records.delimiter`', delimiter).toString('hex');
      // Who names the newline wants no other line end.
      return value === LINES.value ? { kind: 'newline', value: null } : { kind: 'delimited', value };
    },
  }),
  /** A record is this many lines, 1 to 1,048,576. Default 1. */
  lines: kind<{ readonly linesPerRecord?: number | undefined }>({
    fields: { linesPerRecord: true },
    flags: [
      {
        name: 'lines',
        help: 'a record is a line, whatever an input looks like',
        default: 'lines; other formats are refused',
      },
      {
        name: 'lines-per-record',
        value: 'N',
        part: 'linesPerRecord',
        parse: (text, flag) => ({ linesPerRecord: parseCount(text, flag) }),
        help: 'a record is N lines',
      },
    ],
    framingOf({ linesPerRecord = 1 }) {
      requireWhole('`records.linesPerRecord`', linesPerRecord, 1, MOST_LINES);
      return linesPerRecord === 1 ? LINES : { kind: 'lines', value: linesPerRecord };
    },
  }),
  /** A record is a block of text and the blank lines after it. */
  paragraphs: plainKind(
    { kind: 'paragraphs', value: null },
    { name: 'paragraphs', help: 'a record is a paragraph with the blank lines after it' },
  ),
  /** A record is a row of CSV (RFC 4180): a line, where newlines inside double quotes do not end it. */
  csv: plainKind(
    { kind: 'csv', value: null },
    { name: 'csv', help: 'a record is a CSV row; quoted newlines belong to it' },
  ),
  /** A record is a sequence of FASTA: a line that begins with `>`, and all lines up to the next one. */
  fasta: plainKind(
    { kind: 'begins-with', value: '3e' },
    { name: 'fasta', help: 'a record is a FASTA sequence: a line with > and those up to the next one' },
  ),
  /** A record is a read of FASTQ, which has four lines. Blank lines at the end of an input are left out. */
  fastq: plainKind(
    { kind: 'fastq', value: null },
    { name: 'fastq', help: 'a record is a FASTQ read of four lines, which are checked' },
  ),
  /** A record has this many bytes, 1 to 1 GiB. */
  size: kind<{ readonly recordBytes: number }>({
    fields: { recordBytes: true },
    flags: [
      {
        name: 'record-size',
        value: 'BYTES',
        part: 'recordBytes',
        parse: (text, flag) => ({ recordBytes: parseCount(text, flag) }),
        help: 'a record is BYTES long: token arrays, embeddings',
      },
    ],
    framingOf({ recordBytes }) {
      return { kind: 'fixed', value: requireWhole('`records.recordBytes`', recordBytes, 1, MOST_FIXED_BYTES) };
    },
  }),
  /** A record is a length, then that many bytes. `varint` is LEB128, as in protocol buffers. */
  'length-prefix': kind<{ readonly prefix: LengthPrefix }>({
    fields: { prefix: true },
    flags: [
      {
        name: 'length-prefixed',
        value: 'KIND',
        part: 'prefix',
        words: LENGTH_PREFIXES,
        parse: (text, flag) => ({ prefix: lengthPrefix.parse(text, flag) }),
        help: 'a record is a length (u32le, u32be, u64le or varint) and that many bytes',
      },
    ],
    framingOf({ prefix }) {
      if (LENGTH_PREFIXES.includes(prefix)) return { kind: 'length-prefixed', value: prefix };
      throw new UsageError(`\`records.prefix\` ${prefix}: expected one of ${LENGTH_PREFIXES.join(', ')}`);
    },
  }),
  /** A record is a TFRecord. pileshuf verifies both of its checksums. */
  tfrecord: plainKind(
    { kind: 'tfrecord', value: null },
    { name: 'tfrecord', help: 'a record is a TFRecord; its checksums are verified' },
  ),
  /** A record is a row of the array in a .npy file. The output, or each shard, is a .npy file. */
  npy: plainKind(
    undefined,
    { name: 'npy', help: 'a record is a row of the array in a .npy file' },
    { kind: 'npy', value: null },
  ),
  /** A record is a sample of a tar file: consecutive members whose names are equal up to the first dot. */
  webdataset: plainKind(
    { kind: 'webdataset', value: null },
    {
      name: 'webdataset',
      help: 'a record is a sample of a tar file: members with the same name up to the first dot',
    },
    { kind: 'tar', value: null },
  ),
};

type Kinds = typeof KINDS;
/** The same, as one object where it is shown. */
type Joined<Fields> = { readonly [Name in keyof Fields]: Fields[Name] };
type FieldsOf<Rule> = Rule extends KindRule<infer Fields> ? Fields : never;

/**
 * What a record is. pileshuf never changes the bytes of a record; they include its delimiter or prefix. If the last
 * record of an input lacks its delimiter, pileshuf adds it; to a line, the end of the record before it.
 */
export type RecordKind = {
  readonly [By in keyof Kinds]: Joined<{ readonly by: By } & FieldsOf<Kinds[By]>>;
}[keyof Kinds];

interface AnyKind extends Pick<KindRule<object>, 'fields' | 'flags' | 'header'> {
  framingOf(fields: never): FramingSpec | undefined;
}

/** The flags of all kinds, each of which gives a whole kind. */
export const RECORD_FLAGS: readonly Flag<RecordKind>[] = Object.entries<AnyKind>(KINDS).flatMap(([by, { flags }]) =>
  flags.map(({ parse = () => ({}), constant: _, ...flag }) => ({
    ...flag,
    constant: { by } as RecordKind,
    parse: (text: string, typed: string) => ({ by, ...parse(text, typed, undefined) }) as RecordKind,
  })),
);

/** Checks what a caller gives as `records`. */
export function formatOfKind(records: RecordKind): { framing: FramingSpec | undefined; header?: HeaderSpec } {
  // Callers without types may pass anything.
  if (!Object.hasOwn(KINDS, records?.by))
    throw new UsageError(`\`records\`: expected an object with \`by\` one of ${Object.keys(KINDS).join(', ')}`);
  const rule: AnyKind = KINDS[records.by];
  requireKnownOptions(`\`records\` by ${records.by}`, records, { by: true, ...rule.fields });
  return { framing: rule.framingOf(records as never), ...(rule.header && { header: rule.header }) };
}

/** @param option in backquotes. @returns its 1 to 1024 bytes. */
export function textBytes(option: string, text: string | Uint8Array): Buffer {
  if (typeof text !== 'string' && !types.isUint8Array(text)) throw new UsageError(`${option}: expected a string`);
  const bytes = Buffer.from(text as Uint8Array);
  if (bytes.byteLength >= 1 && bytes.byteLength <= MOST_TEXT_BYTES) return bytes;
  throw new UsageError(`${option} has ${bytes.byteLength} bytes; expected 1 to ${MOST_TEXT_BYTES}`);
}
