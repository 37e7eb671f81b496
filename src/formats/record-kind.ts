/**
 * The contract of a kind of records: how callers ask for it, in the library and by flags of the command, and how its
 * records lie in bytes. `framing-table.ts` lists the kinds.
 */
import { types } from 'node:util';
import { UsageError } from '../errors.js';
import type { Flag } from '../option.js';
import type { Framing } from './framing.js';

/**
 * `Given` is what callers give: `by`, and at most one parameter. `Value` is the same as plain data, which crosses
 * threads and is written down.
 */
export interface RecordKindOf<Given extends { readonly by: string }, Value = null> {
  readonly by: Given['by'];
  /** The flags of the command that ask for it. The part of one is the parameter. */
  readonly flags: readonly Flag<Omit<Given, 'by'>>[];
  /** Absent: null. @throws UsageError: callers without types may give anything. */
  valueFrom?(given: Given): Value;
  /** Absent: the header of the inputs declares the framing. */
  open?(value: Value): Framing;
  /** In stores and unfinished jobs, which earlier versions may have written. Absent: `by`, and the value behind it. */
  nameOf?(value: Value): string;
  /** The header that inputs of this kind have, which callers cannot choose. */
  readonly header?: 'npy' | 'tar';
}

const MOST_TEXT_BYTES = 1024;

export function textBytes(option: string, text: string | Uint8Array): Buffer {
  if (typeof text !== 'string' && !types.isUint8Array(text)) throw new UsageError(`${option}: expected a string`);
  const bytes = Buffer.from(text as Uint8Array);
  if (bytes.byteLength >= 1 && bytes.byteLength <= MOST_TEXT_BYTES) return bytes;
  throw new UsageError(`${option} has ${bytes.byteLength} bytes; expected 1 to ${MOST_TEXT_BYTES}`);
}
