/**
 * The contract of a header: what stands at the beginning of every input, before its first record, and so stands
 * once before the records of the output, and of each shard. `header-table.ts` lists the rules.
 */
import { InputError } from '../errors.js';
import type { FramingSpec } from './framing-table.js';

/** No header is longer: all of it is held in memory, on every thread that reads an input. */
export const MOST_HEADER_BYTES = 16 * 1024 * 1024;

/** The header of one input; plain data, which crosses threads. */
export interface Header {
  /** Bytes of the input that it takes. */
  readonly byteLength: number;
  /** As it is compared, and written where the rule makes no other of it: with a line end that the input lacks. */
  readonly bytes: Uint8Array;
  /** Bytes of all records behind it, where it says so. */
  readonly recordBytes: number | undefined;
  /** How the records behind it lie, where it says so. */
  readonly framing: FramingSpec | undefined;
}

/** A header, and the input that it was found in. */
export interface FoundHeader {
  readonly path: string;
  readonly header: Header;
}

/** Where two headers part, and what stands there, in a line. */
export interface HeaderDifference {
  readonly position: number;
  readonly expected: string;
  readonly got: string;
}

export interface HeaderRule {
  /**
   * Finds the end of the header of an input that begins with `head`.
   * @param isWhole whether the input ends where `head` does.
   * @param path for messages.
   * @returns undefined: more of the input must be seen; never where `isWhole`.
   * @throws InputError ERR_INPUT_CORRUPT
   */
  measure(head: Buffer, isWhole: boolean, path: string): Header | undefined;
  /** Why records behind one header cannot be mixed with those behind the other. */
  difference(expected: Header, got: Header): HeaderDifference | undefined;
  /** What stands before `recordBytes` bytes of records: as many bytes for any number of them. */
  headerOf(header: Header, recordBytes: number): Uint8Array;
  /** What stands behind the records. */
  readonly trailer: Uint8Array;
}

/** @throws InputError ERR_INPUT_CORRUPT that shows both headers. */
export function requireSameHeader(rule: HeaderRule, first: FoundHeader, { path, header }: FoundHeader): void {
  const difference = rule.difference(first.header, header);
  if (difference === undefined) return;
  const { position, expected, got } = difference;
  throw new InputError(
    'ERR_INPUT_CORRUPT',
    `${path}: byte ${position} of its header differs from that of ${first.path}: expected ${expected}, got ${got}`,
  );
}

/**
 * @param inputBytes decoded size of the input.
 * @throws InputError ERR_INPUT_CORRUPT when the input ends elsewhere than its header says.
 */
export function requireRecordBytes(
  { byteLength, recordBytes }: Pick<Header, 'byteLength' | 'recordBytes'>,
  inputBytes: number,
  path: string,
): void {
  if (recordBytes === undefined || inputBytes === byteLength + recordBytes) return;
  const expected = byteLength + recordBytes;
  const problem =
    inputBytes < expected
      ? `byte ${inputBytes} is the end of the input; expected ${expected} bytes by its header: it is truncated`
      : `byte ${expected} lies behind the last record that its header tells of; expected the end of the input`;
  throw new InputError('ERR_INPUT_CORRUPT', `${path}: ${problem}`);
}
