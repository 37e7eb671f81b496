/**
 * What inputs are made of: the header before the first record, and the framing of the records behind it. Both are plain
 * data, a name and one value, which crosses threads and is written down.
 *
 * To add a framing: a file that exports a `Framing`, or a function that makes one, and its line in `framings`. To add a
 * rule of headers: likewise a `HeaderRule` and its line in `headers`.
 */
import type { Framing } from './framing.js';
import { delimited } from './framings/delimited.js';
import { fixedSize, type LengthPrefix, lengthPrefixed, tfrecord } from './framings/lengths.js';
import { csv, lineGroups, paragraphs } from './framings/lines.js';
import { webdataset } from './framings/webdataset.js';
import type { HeaderRule } from './header.js';
import { globalPax } from './headers/global-pax.js';
import { bytesHeader, type LinesHeader, linesHeader } from './headers/leading-header.js';
import { npyHeader } from './headers/npy-header.js';

const framings = {
  /** Value: the delimiter's bytes, in hex. */
  delimited: (hex: string) => delimited(Buffer.from(hex, 'hex')),
  /** Value: lines a record. */
  lines: (linesPerRecord: number) => lineGroups(linesPerRecord),
  paragraphs: (_: null) => paragraphs,
  csv: (_: null) => csv,
  /** Value: bytes a record. */
  fixed: (recordBytes: number) => fixedSize(recordBytes),
  'length-prefixed': (prefix: LengthPrefix) => lengthPrefixed(prefix),
  tfrecord: (_: null) => tfrecord,
  webdataset: (_: null) => webdataset,
} satisfies Record<string, (value: never) => Framing>;

type Framings = typeof framings;

/** Plain data that names a framing. */
export type FramingSpec = {
  readonly [Kind in keyof Framings]: { readonly kind: Kind; readonly value: Parameters<Framings[Kind]>[0] };
}[keyof Framings];

export const LINES: FramingSpec = { kind: 'delimited', value: '0a' };
export const NUL_TERMINATED: FramingSpec = { kind: 'delimited', value: '00' };

/** One line, different for each framing: `delimited 0a`. */
export function nameOfFraming({ kind, value }: FramingSpec): string {
  return value === null ? kind : `${kind} ${value}`;
}

export function framingOf(spec: FramingSpec): Framing {
  const open: (value: never) => Framing = framings[spec.kind];
  return open(spec.value as never);
}

const headers = {
  lines: (lines: LinesHeader) => linesHeader(lines),
  /** Value: bytes of the header. */
  bytes: (byteLength: number) => bytesHeader(byteLength),
  npy: (_: null) => npyHeader,
  tar: (_: null) => globalPax,
} satisfies Record<string, (value: never) => HeaderRule>;

type Headers = typeof headers;

/** Plain data that names a rule of headers. */
export type HeaderSpec = {
  readonly [Kind in keyof Headers]: { readonly kind: Kind; readonly value: Parameters<Headers[Kind]>[0] };
}[keyof Headers];

export function headerRuleOf(spec: HeaderSpec): HeaderRule {
  const open: (value: never) => HeaderRule = headers[spec.kind];
  return open(spec.value as never);
}

/** Plain data. */
export interface RecordFormat {
  /** Undefined: the header declares it. */
  readonly framing: FramingSpec | undefined;
  /** Undefined: an input begins with its first record. */
  readonly header: HeaderSpec | undefined;
}

/** One line, different for each format: `delimited 0a, header lines 1`. */
export function nameOfFormat({ framing, header }: RecordFormat): string {
  // The framing that the headers of these inputs declare may be known by now; the user did not ask for it.
  const records = framing === undefined || header?.kind === 'npy' ? undefined : nameOfFraming(framing);
  return [records, nameOfHeader(header)].filter((name) => name !== undefined).join(', ');
}

function nameOfHeader(header: HeaderSpec | undefined): string | undefined {
  switch (header?.kind) {
    // The framing says how lines end.
    case 'lines':
      return `header lines ${header.value.count}`;
    case 'bytes':
      return `header bytes ${header.value}`;
    default:
      return header?.kind;
  }
}
