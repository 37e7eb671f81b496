/**
 * Every kind of records. To add one: a file that exports its `RecordKindOf`, and here its type and its name. What a job
 * is told is the kind with one value, as plain data, which crosses threads and is written down.
 */
import { UsageError } from '../errors.js';
import type { Flag } from '../values/flag.js';
import { requireKnownOptions } from '../values/known-options.js';
import type { Framing } from './framing.js';
import { beginsWith, fasta } from './framings/begins-with.js';
import { csv } from './framings/csv.js';
import { fastq } from './framings/fastq.js';
import { lengthPrefixed, npy, sized, tfrecord } from './framings/lengths.js';
import { delimiter, lines, paragraphs } from './framings/lines.js';
import { webdataset } from './framings/webdataset.js';
import type { RecordKindOf } from './record-kind.js';

/**
 * The table of what a record is. pileshuf never changes the bytes of a record; they include its delimiter or prefix. If
 * the last record of an input lacks its delimiter, pileshuf adds it; to a line, the end of the record before it.
 */
export type RecordKind =
  /** A record ends with these 1 to 1024 bytes. A string means its UTF-8 bytes. */
  | { readonly by: 'delimiter'; readonly delimiter: string | Uint8Array }
  /** A record is this many lines, 1 to 1,048,576. Default 1. */
  | { readonly by: 'lines'; readonly linesPerRecord?: number | undefined }
  /** A record is a block of text and the blank lines after it. */
  | { readonly by: 'paragraphs' }
  /** A record is a row of CSV (RFC 4180): a line, where newlines inside double quotes do not end it. */
  | { readonly by: 'csv' }
  /** A record is a line that begins with this text of 1 to 1024 bytes, and all lines up to the next one. */
  | { readonly by: 'begins-with'; readonly text: string }
  /** A record is a sequence of FASTA: a line that begins with `>`, and all lines up to the next one. */
  | { readonly by: 'fasta' }
  /** A record is a read of FASTQ, which has four lines. Blank lines at the end of an input are left out. */
  | { readonly by: 'fastq' }
  /** A record has this many bytes, 1 to 1 GiB. */
  | { readonly by: 'size'; readonly recordBytes: number }
  /** A record is a length, then that many bytes. `varint` is LEB128, as in protocol buffers. */
  | { readonly by: 'length-prefix'; readonly prefix: 'u32le' | 'u32be' | 'u64le' | 'varint' }
  /** A record is a TFRecord. pileshuf verifies both of its checksums. */
  | { readonly by: 'tfrecord' }
  /** A record is a row of the array in a .npy file. The output, or each shard, is a .npy file. */
  | { readonly by: 'npy' }
  /** A record is a sample of a tar file: consecutive members whose names are equal up to the first dot. */
  | { readonly by: 'webdataset' };

/** All kinds, in the order of the help. */
const kinds = [
  delimiter,
  lines,
  paragraphs,
  csv,
  beginsWith,
  fasta,
  fastq,
  sized,
  lengthPrefixed,
  tfrecord,
  npy,
  webdataset,
] as const;

/** The spec of a kind; there is none if the header of the kind declares the framing. */
type SpecOf<Kind> =
  Kind extends RecordKindOf<infer Given, infer Value>
    ? [Value] extends [never]
      ? never
      : { readonly kind: Given['by']; readonly value: Value }
    : never;

export type FramingSpec = SpecOf<(typeof kinds)[number]>;

export const LINES = { kind: 'lines', value: 1 } as const satisfies FramingSpec;
export const NUL_TERMINATED: FramingSpec = { kind: 'delimiter', value: '00' };

/** The part that all kinds have in common. The compiler does not know which value belongs to which kind. */
export type AnyRecordKind = RecordKindOf<RecordKind, never>;

export const recordKinds = kinds as readonly unknown[] as readonly AnyRecordKind[];
const byName = new Map(recordKinds.map((kind) => [kind.by, kind]));

/** The flags of all kinds, each of which gives a whole kind. */
export const RECORD_FLAGS: readonly Flag<RecordKind>[] = recordKinds.flatMap(({ by, flags }) =>
  flags.map(({ parse = () => ({}), constant: _, ...flag }) => ({
    ...flag,
    constant: { by } as RecordKind,
    parse: (text: string, typed: string) => ({ by, ...parse(text, typed, undefined) }) as RecordKind,
  })),
);

/** Checks what a caller gives as `records`. @returns the framing, unless a header declares it, and a header of its own. */
export function formatOfKind(records: RecordKind): {
  framing: FramingSpec | undefined;
  header: { kind: 'npy' | 'tar'; value: null } | undefined;
} {
  // Callers without types may pass anything.
  const kind = byName.get(records?.by);
  if (kind === undefined)
    throw new UsageError(
      `\`records\`: expected an object with \`by\` one of ${recordKinds.map(({ by }) => by).join(', ')}`,
    );
  const { by, flags, open, header } = kind;
  const names = ['by', ...flags.flatMap(({ part }) => part ?? [])];
  requireKnownOptions(`\`records\` by ${by}`, records, Object.fromEntries(names.map((name) => [name, true])));
  const value = kind.valueFrom?.(records) ?? null;
  return {
    framing: open && ({ kind: by, value } as FramingSpec),
    header: header && { kind: header, value: null },
  };
}

export function nameOfFraming({ kind, value }: FramingSpec): string {
  const name = byName.get(kind)?.nameOf?.(value as never);
  return name ?? (value === null ? kind : `${kind} ${value}`);
}

export function framingOf({ kind, value }: FramingSpec): Framing {
  const framing = byName.get(kind)?.open?.(value as never);
  if (framing === undefined) throw new RangeError(`records of ${kind} have no framing of their own`);
  return framing;
}
