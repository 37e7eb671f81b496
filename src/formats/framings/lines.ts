/** Records that end in a delimiter: in one of any bytes, or in newlines. */
import { counted, requireWhole } from '../../errors.js';
import { parseCount, parseDelimiter } from '../../values/parse-values.js';
import { BadRecord, type Framing, type FramingKernel, NEWLINE, NO_BYTES } from '../framing.js';
import { type RecordKindOf, textBytes } from '../record-kind.js';

/** Bytes before a record start, besides the newline itself, that tell how the record before it ends. */
export const CONTEXT_BYTES = 1;

const CRLF = Uint8Array.of(0x0d, 0x0a);

/**
 * The line end that the last record of an input may lack is that of the record before it; for the only record, that of
 * the line before its last one, else a newline.
 */
export class LineEnds {
  readonly #kernel: FramingKernel;
  #last: Uint8Array | undefined;

  constructor(kernel: FramingKernel) {
    this.#kernel = kernel;
  }

  /** Looks at the last of the `count` records that a scan marked, and returns `count`. */
  note(table: number, count: number): number {
    if (count === 0) return count;
    const { view, bytes } = this.#kernel;
    const last = table + 8 * (count - 1);
    this.#last = endOf(bytes.subarray(view.getUint32(last, true), view.getUint32(last + 4, true)));
    return count;
  }

  missing(recordStart: number, to: number): Uint8Array {
    return missingLineEnd(this.#kernel.bytes.subarray(recordStart, to), this.#last);
  }
}

/**
 * The line end that a text lacks. After a carriage return that is only the newline.
 * @param before the line end of the text before this one; undefined: the line before the last one gives it.
 */
export function missingLineEnd(text: Uint8Array, before?: Uint8Array): Uint8Array {
  const last = text.at(-1);
  if (last === 0x0a) return NO_BYTES;
  if (last === 0x0d) return NEWLINE;
  return before ?? endOf(text.subarray(0, text.lastIndexOf(0x0a) + 1));
}

/** @param lines end in a newline, or are empty. */
function endOf(lines: Uint8Array): Uint8Array {
  return lines.at(-2) === 0x0d ? CRLF : NEWLINE;
}

/** A newline alone, in hex. */
const NEWLINE_ALONE = '0a';
const NUL = '00';

export const delimiter: RecordKindOf<{ readonly by: 'delimiter'; readonly delimiter: string | Uint8Array }, string> = {
  by: 'delimiter',
  flags: [
    {
      name: 'delimiter',
      value: 'STRING',
      part: 'delimiter',
      parse: (text, flag) => ({ delimiter: parseDelimiter(text, flag) }),
      help: 'records end in STRING; \\n, \\r, \\t, \\0, \\\\ and \\xHH are escapes',
    },
  ],
  valueFrom: (given) => textBytes('`records.delimiter`', given.delimiter).toString('hex'),
  // Records that end in NUL may be anything. Who names the newline wants all bytes as they are, as shuf takes them.
  open: (hex) => ({ ...delimited(Buffer.from(hex, 'hex')), isText: hex !== NUL && hex !== NEWLINE_ALONE }),
  nameOf: (hex) => (hex === NEWLINE_ALONE ? 'newline' : `delimited ${hex}`),
};

/** @param delimiter 1 to 1024 bytes, which belong to the record that they end. */
function delimited(delimiter: Uint8Array): Framing {
  const { byteLength } = delimiter;
  const [byte = 0] = delimiter;
  return {
    cut: hasBorder(delimiter) ? undefined : { lookBehindBytes: byteLength },
    delimiter,
    recordEnd: byteLength === 1 ? { byte, every: 1 } : undefined,
    openScanner: (kernel) => ({
      needsWholeRecords: false,
      scan: (from, to, recordStart, table, maxCount) => {
        const { wasm } = kernel;
        if (byteLength === 1) return wasm.scanDelimiter(from, to, recordStart, byte, table, maxCount);
        // The delimiter may have begun in the bytes before.
        const begin = Math.max(recordStart, from - byteLength + 1);
        kernel.bytes.set(delimiter, wasm.sequenceAddress() >>> 0);
        return wasm.scanSequence(begin, to, recordStart, byteLength, byteLength, table, maxCount);
      },
      complete: () => delimiter,
    }),
  };
}

/**
 * Returns whether the delimiter ends as it begins, so that one can overlap another: which ones count then depends on
 * where a reader begins to look.
 */
function hasBorder(delimiter: Uint8Array): boolean {
  const bytes = Buffer.from(delimiter);
  for (let length = 1; length < bytes.byteLength; length++) {
    if (bytes.subarray(0, length).equals(bytes.subarray(-length))) return true;
  }
  return false;
}

export const MOST_LINES = 2 ** 20;

export const lines: RecordKindOf<{ readonly by: 'lines'; readonly linesPerRecord?: number | undefined }, number> = {
  by: 'lines',
  flags: [
    {
      name: 'lines',
      help: 'a record is a line, whatever an input looks like',
      default: 'lines; other formats are refused',
    },
    {
      name: 'lines-per-record',
      value: 'N',
      part: 'linesPerRecord',
      parse: (text, flag) => ({ linesPerRecord: parseCount(text, flag) }),
      help: 'a record is N lines',
    },
  ],
  valueFrom: ({ linesPerRecord = 1 }) => requireWhole('`records.linesPerRecord`', linesPerRecord, 1, MOST_LINES),
  open: (linesPerRecord) => (linesPerRecord === 1 ? singleLines : lineGroups(linesPerRecord)),
  nameOf: (linesPerRecord) => (linesPerRecord === 1 ? 'delimited 0a' : `lines ${linesPerRecord}`),
};

/** They may end in CRLF. */
const singleLines: Framing = {
  ...delimited(NEWLINE),
  isText: true,
  cut: { lookBehindBytes: 1, contextBytes: CONTEXT_BYTES },
  openScanner: (kernel) => {
    const lineEnds = new LineEnds(kernel);
    return {
      needsWholeRecords: false,
      scan: (from, to, recordStart, table, maxCount) =>
        lineEnds.note(table, kernel.wasm.scanDelimiter(from, to, recordStart, 0x0a, table, maxCount)),
      complete: (recordStart, to) => lineEnds.missing(recordStart, to),
    };
  },
};

export function lineGroups(linesPerRecord: number): Framing {
  return {
    isText: true,
    isOfLines: true,
    cut: { countedByte: 0x0a, lookBehindBytes: 1, contextBytes: CONTEXT_BYTES },
    recordEnd: { byte: 0x0a, every: linesPerRecord },
    countSample: (sample) => sample.reduce((lines, byte) => (byte === 0x0a ? lines + 1 : lines), 0) / linesPerRecord,
    openScanner: (kernel, _longestBytes, at) => {
      let linesBefore = typeof at === 'number' ? at % linesPerRecord : 0;
      const lineEnds = new LineEnds(kernel);
      return {
        needsWholeRecords: false,
        scan: (from, to, recordStart, table, maxCount) => {
          const { wasm } = kernel;
          const count = wasm.scanLineGroups(from, to, recordStart, linesPerRecord, linesBefore, table, maxCount);
          linesBefore = wasm.linesPending.value >>> 0;
          return lineEnds.note(table, count);
        },
        complete: (recordStart, to) => {
          const lines = linesBefore + (kernel.bytes[to - 1] === 0x0a ? 0 : 1);
          if (lines === linesPerRecord) return lineEnds.missing(recordStart, to);
          throw new BadRecord(recordStart, problemOfLines(lines, linesPerRecord));
        },
      };
    },
  };
}

export function problemOfLines(lines: number, linesPerRecord: number): string {
  return `begins a record of ${lines} ${lines === 1 ? 'line' : 'lines'} at the end of the input; expected ${counted(linesPerRecord, 'line')} a record`;
}

export const paragraphs: RecordKindOf<{ readonly by: 'paragraphs' }> = {
  by: 'paragraphs',
  flags: [{ name: 'paragraphs', help: 'a record is a paragraph with the blank lines after it' }],
  open: () => blocks,
};

/** Every byte belongs to a record: blank lines at the beginning of an input to its first record. */
const blocks: Framing = {
  isText: true,
  isOfLines: true,
  // No cut: only the line before a place shows whether a blank line begins there.
  openScanner: (kernel) => {
    /** The start of the line that is not yet scanned to its end, counted from the beginning of the record. */
    let lineOffset = 0;
    let seen = 0;
    const lineEnds = new LineEnds(kernel);
    return {
      needsWholeRecords: true,
      // A carriage return alone may begin one more blank line.
      lookAheadBytes: 2,
      scan: (from, to, recordStart, table, maxCount) => {
        const { wasm, view } = kernel;
        const count = wasm.scanParagraphs(from, to, recordStart, recordStart + lineOffset, seen, table, maxCount);
        const nextStart = count === 0 ? recordStart : view.getUint32(table + (count - 1) * 8 + 4, true);
        lineOffset = (wasm.paragraphLineStart.value >>> 0) - nextStart;
        seen = wasm.paragraphSeen.value >>> 0;
        return lineEnds.note(table, count);
      },
      // Adds line ends until the last line is blank. A file may lack its last newline, even after a CR.
      complete: (recordStart, to) => {
        const missing = Buffer.from(lineEnds.missing(recordStart, to)).toString();
        const tail = Buffer.from(kernel.bytes.subarray(Math.max(recordStart, to - 4), to)).toString('latin1');
        const lines = tail + missing;
        // The record may be a line end alone.
        if (/(^|\n)\r?\n$/.test(lines)) return Buffer.from(missing);
        return Buffer.from(missing + (lines.endsWith('\r\n') ? '\r\n' : '\n'));
      },
    };
  },
};
