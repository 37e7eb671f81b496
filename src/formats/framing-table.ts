/**
 * Every framing by its name, as plain data, which crosses threads and is written down. To add a framing: a file that
 * exports a `Framing`, or a function that makes one, and its line in the table.
 */
import type { Framing } from './framing.js';
import { delimited } from './framings/delimited.js';
import { fixedSize, type LengthPrefix, lengthPrefixed, tfrecord } from './framings/lengths.js';
import { csv, lineGroups, paragraphs } from './framings/lines.js';
import { webdataset } from './framings/webdataset.js';

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
