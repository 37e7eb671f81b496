/**
 * Every framing by its name, as plain data, which crosses threads and is written down. To add a framing: a file that
 * exports a `Framing`, or a function that makes one, and its line in the table.
 */
import type { Framing } from './framing.js';
import { csv } from './framings/csv.js';
import { fastq } from './framings/fastq.js';
import { fixedSize, type LengthPrefix, lengthPrefixed, tfrecord } from './framings/lengths.js';
import { beginsWith, delimited, lineGroups, lines, paragraphs } from './framings/lines.js';
import { webdataset } from './framings/webdataset.js';

const NEWLINE = '0a';

const framings = {
  /** Value: the delimiter's bytes, in hex. A newline delimits lines, which may end in CRLF. */
  delimited: (hex: string) => (hex === NEWLINE ? lines : delimited(Buffer.from(hex, 'hex'))),
  /** Lines; the last one gets a newline if it has none, even if the others end in CRLF. */
  newline: (_: null) => delimited(Buffer.from(NEWLINE, 'hex')),
  lines: (linesPerRecord: number) => lineGroups(linesPerRecord),
  paragraphs: (_: null) => paragraphs,
  csv: (_: null) => csv,
  fastq: (_: null) => fastq,
  /** Value: the text's bytes, in hex. */
  'begins-with': (hex: string) => beginsWith(Buffer.from(hex, 'hex')),
  fixed: (recordBytes: number) => fixedSize(recordBytes),
  'length-prefixed': (prefix: LengthPrefix) => lengthPrefixed(prefix),
  tfrecord: (_: null) => tfrecord,
  webdataset: (_: null) => webdataset,
} satisfies Record<string, (value: never) => Framing>;

type Framings = typeof framings;

export type FramingSpec = {
  readonly [Kind in keyof Framings]: { readonly kind: Kind; readonly value: Parameters<Framings[Kind]>[0] };
}[keyof Framings];

export const LINES = { kind: 'delimited', value: NEWLINE } as const satisfies FramingSpec;
export const NUL_TERMINATED: FramingSpec = { kind: 'delimited', value: '00' };

/** Whether a record is made of lines, rather than one line. */
export function isOfLines({ kind }: FramingSpec): boolean {
  return kind === 'lines' || kind === 'paragraphs' || kind === 'csv' || kind === 'fastq' || kind === 'begins-with';
}

/** The bytes after each record, in hex; undefined: more decides where a record ends. */
export function delimiterOf({ kind, value }: FramingSpec): string | undefined {
  return kind === 'newline' ? NEWLINE : kind === 'delimited' ? value : undefined;
}

export function nameOfFraming({ kind, value }: FramingSpec): string {
  return value === null ? kind : `${kind} ${value}`;
}

export function framingOf(spec: FramingSpec): Framing {
  const open: (value: never) => Framing = framings[spec.kind];
  return open(spec.value as never);
}
