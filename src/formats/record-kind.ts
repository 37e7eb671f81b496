/**
 * The contract of a kind of records: how callers ask for it, in the library and by flags of the command, and how its
 * records lie in bytes. `framing-table.ts` lists the kinds.
 */
import { types } from 'node:util';
import { UsageError } from '../errors.js';
import type { Flag } from '../values/flag.js';
import type { Framing } from './framing.js';

/**
 * `Given` is what callers give: `by`, and at most one parameter. `Value` is the same as plain data, which crosses
 * threads and is written down.
 */
export interface RecordKindOf<Given extends { readonly by: string }, Value = null> {
  readonly by: Given['by'];
  /** The flags of the command that ask for it. The part of one is the parameter. */
  readonly flags: readonly Flag<Omit<Given, 'by'>>[];
  /** Makes the value of an option. Absent: it is null. @throws UsageError: callers without types may give anything. */
  valueFrom?(given: Given): Value;
  /** Opens the framing. Absent: the header of the inputs declares the framing. */
  open?(value: Value): Framing;
  /**
   * The name in stores and unfinished jobs, which earlier versions may have written. Absent: `by`, and the value after
   * it.
   */
  nameOf?(value: Value): string;
  /** The header that inputs of this kind have, which callers cannot choose. */
  readonly header?: 'npy' | 'tar';
  /** Files that hold such records. Lines of them would make no sense. */
  readonly files?: readonly FileFormat[];
}

/** A row of the table in `recognition.ts`: how files of a format are known, and what is said of them. */
export interface FileFormat {
  /** The name in messages. */
  readonly name?: string;
  /** The advice in place of reading such a file as text. Absent: it may be text. */
  readonly remedy?: string;
  /** Bytes at the beginning, as latin1. */
  readonly magics?: readonly string[];
  /** The magic bytes may begin a text: they count only where a NUL follows. */
  readonly needsNul?: true;
  /**
   * Returns whether a file begins like this kind. Absent: the magic bytes decide.
   * @param head as latin1, with a NUL in it.
   */
  matches?(head: string): boolean;
  /** The first byte of text, which needs an ending that fits. */
  readonly firstByte?: string;
  /** Records are lines after a header. */
  readonly hasHeader?: true;
  /** The endings of names, without dots and codecs: `parquet|pq`. */
  readonly endings?: string;
  /** Endings that other files have, too: they count only with the first byte. */
  readonly rareEndings?: string;
  /** The nature of such names among the files of a directory. */
  readonly nature?: Nature;
  /** The kind that an output of such a name would be taken for; such names are refused. */
  readonly output?: string;
}

export type RefusedFormat = FileFormat & Required<Pick<FileFormat, 'remedy' | 'name'>>;

export type Nature = 'records' | 'documents' | 'sources' | 'explanation' | 'unknown';

const MOST_TEXT_BYTES = 1024;

export function textBytes(option: string, text: string | Uint8Array): Buffer {
  if (typeof text !== 'string' && !types.isUint8Array(text)) throw new UsageError(`${option}: expected a string`);
  const bytes = Buffer.from(text as Uint8Array);
  if (bytes.byteLength >= 1 && bytes.byteLength <= MOST_TEXT_BYTES) return bytes;
  throw new UsageError(`${option} has ${bytes.byteLength} bytes; expected 1 to ${MOST_TEXT_BYTES}`);
}
