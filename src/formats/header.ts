/**
 * The contract of a header: the bytes before the first record of every input, which stand once before the records of
 * the output, and of each shard. `record-format.ts` lists the rules.
 */
import { corruptInputError, counted } from '../errors.js';
import type { FramingSpec } from './framing-table.js';

/** All of a header is held in memory, on every thread that reads an input. */
export const MOST_HEADER_BYTES = 16 * 1024 * 1024;

/** Plain data that crosses threads. */
export interface Header {
  /** Bytes of the input that it takes, including a UTF-8 mark before it. */
  readonly byteLength: number;
  /** True if the input begins with a UTF-8 mark that does not belong to the header. Absent: no. */
  readonly isMarked?: boolean | undefined;
  /**
   * The bytes that are compared, and written unless the rule makes others. A line end that the input lacks is added.
   */
  readonly bytes: Uint8Array;
  readonly recordBytes: number | undefined;
  readonly framing: FramingSpec | undefined;
}

export function headerOfBytes(bytes: Uint8Array): Header {
  return { byteLength: bytes.byteLength, bytes: new Uint8Array(bytes), recordBytes: undefined, framing: undefined };
}

export interface FoundHeader {
  readonly path: string;
  readonly header: Header;
}

interface HeaderDifference {
  readonly position: number;
  readonly expected: string;
  readonly got: string;
}

export interface HeaderRule {
  /**
   * The header of an input that begins with `head`. Undefined: it needs more of the input, which is never so when
   * `isWhole`, where the input ends with `head`.
   */
  measure(head: Buffer, isWhole: boolean, path: string): Header | undefined;
  /** The difference that forbids to mix the records of both inputs. */
  difference(expected: Header, got: Header): HeaderDifference | undefined;
  /** The header before `recordBytes` bytes of records. Its length does not depend on their number. */
  headerOf(header: Header, recordBytes: number): Uint8Array;
  readonly trailer: Uint8Array;
}

export function requireSameHeader(rule: HeaderRule, first: FoundHeader, { path, header }: FoundHeader): void {
  const difference = rule.difference(first.header, header);
  if (difference === undefined) return;
  const { position, expected, got } = difference;
  throw corruptInputError(
    path,
    `byte ${position} of its header differs from that of ${first.path}: expected ${expected}, got ${got}`,
  );
}

/** Throws unless the input, of `inputBytes` decoded bytes, ends where its header says. */
export function requireRecordBytes(
  { byteLength, recordBytes }: Pick<Header, 'byteLength' | 'recordBytes'>,
  inputBytes: number,
  path: string,
): void {
  if (recordBytes === undefined || inputBytes === byteLength + recordBytes) return;
  const expected = byteLength + recordBytes;
  const problem =
    inputBytes < expected
      ? `byte ${inputBytes} is the end of the input; expected ${counted(expected, 'byte')} by its header: it is truncated`
      : `byte ${expected} lies after the last record that its header declares; expected the end of the input`;
  throw corruptInputError(path, problem);
}

/** Up to here the rule sees every piece as it comes; from here on, each time that the bytes have doubled. */
const OFTEN_LOOKED_AT_BYTES = 4096;

/** A header, and the bytes after it that were read with it. */
export interface HeaderAndRest {
  readonly header: Header;
  readonly rest: Uint8Array;
}

/** Reads as little of an input as its header takes. Each piece is valid until the next one. */
export async function readHeader(
  pieces: AsyncIterator<Uint8Array>,
  rule: HeaderRule,
  path: string,
): Promise<HeaderAndRest> {
  let head = Buffer.alloc(0);
  let more: Uint8Array[] = [];
  let filled = 0;
  let lookAt = 0;
  for (;;) {
    const { done, value } = await pieces.next();
    const isWhole = done === true;
    if (!isWhole) {
      // A piece is valid until the next one.
      more.push(new Uint8Array(value));
      filled += value.byteLength;
      if (filled < lookAt) continue;
    }
    head = Buffer.concat([head, ...more]);
    more = [];
    const header = rule.measure(head, isWhole, path);
    if (header !== undefined) return { header, rest: head.subarray(header.byteLength) };
    if (isWhole) throw new RangeError('a header rule must measure a whole input or refuse it');
    if (filled >= MOST_HEADER_BYTES) {
      const problem = `its header has more than ${MOST_HEADER_BYTES} bytes; check the format and the options for the header`;
      throw corruptInputError(path, problem);
    }
    lookAt = filled < OFTEN_LOOKED_AT_BYTES ? 0 : Math.min(2 * filled, MOST_HEADER_BYTES);
  }
}

/** The bytes that are shown around the difference of longer headers. */
const SHOWN_BYTES = { utf8: 60, hex: 16 } as const;

/** @param as how to show the bytes: as text, or as hex digits. */
export function headerDifference(
  expected: Uint8Array,
  got: Uint8Array,
  as: 'utf8' | 'hex' = 'utf8',
): HeaderDifference | undefined {
  const shownBytes = SHOWN_BYTES[as];
  const both = Math.min(expected.byteLength, got.byteLength);
  let position = 0;
  while (position < both && expected[position] === got[position]) position += 1;
  if (position === expected.byteLength && position === got.byteLength) return undefined;
  // The first third shows bytes that both have in common.
  const from = position < shownBytes ? 0 : position - Math.floor(shownBytes / 3);
  const excerpt = (whole: Uint8Array) => {
    const shown = Buffer.from(whole.subarray(from, from + shownBytes)).toString(as);
    const marked = `${from > 0 ? '…' : ''}${shown}${from + shownBytes < whole.byteLength ? '…' : ''}`;
    return as === 'hex' ? `${marked} (hex)` : JSON.stringify(marked);
  };
  return { position, expected: excerpt(expected), got: excerpt(got) };
}

/**
 * The mark with which some programs begin text in UTF-8. It is not part of the first record, which has position 0 all the
 * same; with a header, it is not part of the header. An output begins with the mark if every input with records does.
 */
export const UTF8_MARK = Uint8Array.of(0xef, 0xbb, 0xbf);

export function markBytesOf(head: Uint8Array): number {
  return head[0] === UTF8_MARK[0] && head[1] === UTF8_MARK[1] && head[2] === UTF8_MARK[2] ? UTF8_MARK.byteLength : 0;
}

export function mayBeMark(head: Uint8Array): boolean {
  return head.byteLength < UTF8_MARK.byteLength && head.every((byte, i) => UTF8_MARK[i] === byte);
}
