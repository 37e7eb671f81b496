/**
 * Headers of so many lines or bytes at the beginning of an input, whatever they hold, or of all leading lines that
 * begin with a text. Lines end as the records do: in a newline, in a delimiter, or, for CSV, in a newline outside
 * double quotes.
 */
import { corruptInputError, counted } from '../../errors.js';
import { NO_BYTES } from '../framing.js';
import { missingLineEnd } from '../framings/lines.js';
import { type Header, type HeaderRule, headerDifference, headerOfBytes, markBytesOf, mayBeMark } from '../header.js';

const NEWLINE = Buffer.from('\n');

export interface LinesHeader {
  readonly count: number;
  /** The end of a line, in hex. */
  readonly lineEnd: string;
  /** True if a newline between double quotes does not end a line. */
  readonly isQuoted: boolean;
}

/** Records that end in NUL may be anything, so a UTF-8 mark is a part of them. */
const NUL = '00';

/** A header that is a prefix, in hex. */
export interface PrefixHeader {
  readonly prefix: string;
  readonly lineEnd: string;
}

const AS_IT_IS: Omit<HeaderRule, 'measure'> = {
  difference: (expected, got) => headerDifference(expected.bytes, got.bytes),
  headerOf: ({ bytes }) => bytes,
  trailer: NO_BYTES,
};

export function linesHeader({ count, lineEnd, isQuoted }: LinesHeader): HeaderRule {
  const end = Buffer.from(lineEnd, 'hex');
  const linesOf = isQuoted ? quotedLines : (head: Buffer) => lines(head, end);
  return {
    measure: (head, isWhole, path) => {
      const markBytes = lineEnd === NUL ? 0 : markBytesOf(head);
      const text = head.subarray(markBytes);
      let found = 0;
      let foundEnd = 0;
      for (foundEnd of linesOf(text)) {
        found += 1;
        if (found === count) return headerOf(text.subarray(0, foundEnd), NO_BYTES, markBytes);
      }
      if (!isWhole) return undefined;
      // The last line of an input may lack its end, as the last record may.
      const isLastUnended = found === count - 1 && text.byteLength > foundEnd;
      if (isLastUnended && !(isQuoted && endsInQuotes(text))) return headerOf(text, missingEnd(text, end), markBytes);
      const expected = `expected a header of ${count} ${count === 1 ? 'line' : 'lines'}`;
      throw corruptInputError(path, `byte ${head.byteLength} is the end of the input, inside its header; ${expected}`);
    },
    ...AS_IT_IS,
  };
}

export function prefixHeader(lines: PrefixHeader): HeaderRule {
  const [prefix, end] = [Buffer.from(lines.prefix, 'hex'), Buffer.from(lines.lineEnd, 'hex')];
  return {
    measure: (head, isWhole) => {
      if (!isWhole && mayBeMark(head)) return undefined;
      const markBytes = lines.lineEnd === NUL ? 0 : markBytesOf(head);
      const text = head.subarray(markBytes);
      for (let start = 0; ; ) {
        const begin = text.subarray(start, start + prefix.byteLength);
        if (!begin.equals(prefix.subarray(0, begin.byteLength)) || (isWhole && begin.byteLength < prefix.byteLength))
          return headerOf(text.subarray(0, start), NO_BYTES, markBytes);
        const found = text.indexOf(end, start);
        if (found < 0) return isWhole ? headerOf(text, missingEnd(text, end), markBytes) : undefined;
        start = found + end.byteLength;
      }
    },
    ...AS_IT_IS,
  };
}

function headerOf(text: Buffer, added: Uint8Array, markBytes: number): Header {
  return {
    ...headerOfBytes(Buffer.concat([text, added])),
    byteLength: markBytes + text.byteLength,
    isMarked: markBytes > 0,
  };
}

function missingEnd(head: Buffer, end: Buffer): Uint8Array {
  return end.equals(NEWLINE) ? missingLineEnd(head) : end;
}

function* lines(head: Buffer, end: Buffer): Generator<number, void> {
  for (let at = head.indexOf(end); at >= 0; at = head.indexOf(end, at + end.byteLength)) yield at + end.byteLength;
}

function* quotedLines(head: Buffer): Generator<number, void> {
  let isQuoted = false;
  for (let i = 0; i < head.byteLength; i++) {
    if (head[i] === 0x22) isQuoted = !isQuoted;
    else if (head[i] === 0x0a && !isQuoted) yield i + 1;
  }
}

function endsInQuotes(head: Buffer): boolean {
  return head.reduce((quotes, byte) => quotes + (byte === 0x22 ? 1 : 0), 0) % 2 === 1;
}

export function bytesHeader(byteLength: number): HeaderRule {
  return {
    measure: (head, isWhole, path) => {
      if (head.byteLength >= byteLength) return headerOfBytes(head.subarray(0, byteLength));
      if (!isWhole) return undefined;
      throw corruptInputError(
        path,
        `byte ${head.byteLength} is the end of the input; expected a header of ${counted(byteLength, 'byte')}`,
      );
    },
    ...AS_IT_IS,
    difference: (expected, got) => headerDifference(expected.bytes, got.bytes, 'hex'),
  };
}
