/**
 * The format of inputs: a header, and the framing of the records. Both are plain data, a name and one value. To add a
 * rule of headers: a file that exports a `HeaderRule`, or a function that makes one, and its line in the table.
 */
import { type FramingSpec, framingOf, nameOfFraming } from './framing-table.js';
import type { HeaderRule } from './header.js';
import { globalPax } from './headers/global-pax.js';
import {
  bytesHeader,
  type LinesHeader,
  linesHeader,
  type PrefixHeader,
  prefixHeader,
} from './headers/leading-header.js';
import { npyHeader } from './headers/npy-header.js';

const headers = {
  lines: (lines: LinesHeader) => linesHeader(lines),
  prefix: (lines: PrefixHeader) => prefixHeader(lines),
  bytes: (byteLength: number) => bytesHeader(byteLength),
  npy: (_: null) => npyHeader,
  tar: (_: null) => globalPax,
} satisfies Record<string, (value: never) => HeaderRule>;

type Headers = typeof headers;

export type HeaderSpec = {
  readonly [Kind in keyof Headers]: { readonly kind: Kind; readonly value: Parameters<Headers[Kind]>[0] };
}[keyof Headers];

export function headerRuleOf(spec: HeaderSpec): HeaderRule {
  const open: (value: never) => HeaderRule = headers[spec.kind];
  return open(spec.value as never);
}

export interface RecordFormat {
  /** The framing. Undefined: the header declares it. */
  readonly framing: FramingSpec | undefined;
  readonly header: HeaderSpec | undefined;
  /** True if records are lines only because the caller named no kind of records. */
  readonly linesAssumed: boolean;
  /** True if records that are empty or white space are left out. Absent: no. */
  readonly skipsBlank?: boolean | undefined;
}

/** Returns whether inputs must be text. Single lines that the caller asked for may hold anything. */
export function requiresText({ framing, linesAssumed }: RecordFormat): boolean {
  return linesAssumed || (framing !== undefined && framingOf(framing).isOfLines === true);
}

/** One line, different for each format: `delimited 0a, header lines 1`. */
export function nameOfFormat({
  framing,
  header,
  skipsBlank,
}: Pick<RecordFormat, 'framing' | 'header' | 'skipsBlank'>): string {
  if (framing === undefined && header === undefined) return 'rows of Parquet or HDF5';
  // The user did not ask for the framing that the headers of these inputs declare.
  const records = framing === undefined || header?.kind === 'npy' ? undefined : nameOfFraming(framing);
  const blank = skipsBlank === true ? 'without blank ones' : undefined;
  return [records, nameOfHeader(header), blank].filter((name) => name !== undefined).join(', ');
}

function nameOfHeader(header: HeaderSpec | undefined): string | undefined {
  switch (header?.kind) {
    // The framing says how lines end.
    case 'lines':
      return `header lines ${header.value.count}`;
    case 'prefix':
      return `header prefix ${header.value.prefix}`;
    case 'bytes':
      return `header bytes ${header.value}`;
    default:
      return header?.kind;
  }
}

/** Records in memory, each with its delimiter, as in a file: positions and keys are the same as there. */
export interface RecordList {
  readonly bytes: Uint8Array;
  readonly ends: Float64Array;
}

/** Puts the delimiter after each record. A record that holds the delimiter stays one record. */
export function joinRecords(records: readonly (string | Uint8Array)[], delimiter: Uint8Array): RecordList {
  const pieces = records.map((record) => (typeof record === 'string' ? Buffer.from(record) : record));
  const ends = new Float64Array(pieces.length);
  let end = 0;
  for (const [i, { byteLength }] of pieces.entries()) {
    end += byteLength + delimiter.byteLength;
    ends[i] = end;
  }
  const bytes = new Uint8Array(end);
  for (const [i, piece] of pieces.entries()) {
    const start = (ends[i] ?? 0) - piece.byteLength - delimiter.byteLength;
    bytes.set(piece, start);
    bytes.set(delimiter, start + piece.byteLength);
  }
  return { bytes, ends };
}
