/**
 * Records made of lines: groups of lines, CSV and paragraphs. (A single line is a delimited record: `delimited.ts`.)
 */
import { BadRecord, type Framing, type FramingKernel, type RecordScanner } from '../framing.js';

const NEWLINE = Uint8Array.of(0x0a);

function countNewlines(sample: Uint8Array): number {
  return sample.reduce((count, byte) => count + (byte === 0x0a ? 1 : 0), 0);
}

/** Records of a fixed number of lines, such as the four of FASTQ. */
export function lineGroups(linesPerRecord: number): Framing {
  return {
    cut: { kind: 'after-counting', byte: 0x0a, lookBehindBytes: 1 },
    countSample: (sample) => countNewlines(sample) / linesPerRecord,
    openScanner: (kernel, _limits, countBefore) => new LineGroupScanner(kernel, linesPerRecord, countBefore),
  };
}

class LineGroupScanner implements RecordScanner {
  readonly needsWholeRecords = false;
  readonly #kernel: FramingKernel;
  readonly #linesPerRecord: number;
  #linesBefore: number;

  constructor(kernel: FramingKernel, linesPerRecord: number, linesBefore: number) {
    this.#kernel = kernel;
    this.#linesPerRecord = linesPerRecord;
    this.#linesBefore = linesBefore % linesPerRecord;
  }

  scan(from: number, to: number, recordStart: number, table: number, maxCount: number): number {
    const { wasm } = this.#kernel;
    const perRecord = this.#linesPerRecord;
    const count = wasm.scanLineGroups(from, to, recordStart, perRecord, this.#linesBefore, table, maxCount);
    this.#linesBefore = wasm.linesPending() >>> 0;
    return count;
  }

  complete(recordStart: number, to: number): Uint8Array {
    const endsInLine = this.#kernel.bytes[to - 1] !== 0x0a;
    const lines = this.#linesBefore + (endsInLine ? 1 : 0);
    if (lines === this.#linesPerRecord) return NEWLINE;
    throw new BadRecord(
      recordStart,
      `begins a record of ${lines} ${lines === 1 ? 'line' : 'lines'}, at the end of which the input ends; expected ${this.#linesPerRecord} lines a record`,
    );
  }
}

/**
 * CSV (RFC 4180): records are lines, and a newline between double quotes belongs to a field. Two quotes in a quoted
 * field stand for one and change nothing, so only the number of quotes before a newline matters: an odd one
 * means that the newline is quoted. A range that begins in the middle of a file counts the quotes before it.
 */
export const csv: Framing = {
  cut: { kind: 'after-counting', byte: 0x22, lookBehindBytes: 1 },
  countSample: countNewlines,
  openScanner: (kernel, _limits, countBefore) => new CsvScanner(kernel, countBefore),
};

class CsvScanner implements RecordScanner {
  readonly needsWholeRecords = false;
  readonly #kernel: FramingKernel;
  #isQuoted: number;

  constructor(kernel: FramingKernel, quotesBefore: number) {
    this.#kernel = kernel;
    this.#isQuoted = quotesBefore % 2;
  }

  scan(from: number, to: number, recordStart: number, table: number, maxCount: number): number {
    const { wasm } = this.#kernel;
    const count = wasm.scanQuoted(from, to, recordStart, this.#isQuoted, table, maxCount);
    this.#isQuoted = wasm.quotePending() >>> 0;
    return count;
  }

  complete(recordStart: number): Uint8Array {
    if (this.#isQuoted === 0) return NEWLINE;
    throw new BadRecord(recordStart, 'begins a record with a double quote that is not closed before the input ends');
  }
}

/**
 * Records that blank lines separate. The blank lines behind a record belong to it, and those at the beginning of an
 * input to its first record, so that every byte is in one.
 */
export const paragraphs: Framing = {
  // Whether a blank line begins at a place is known only with the line before it.
  cut: { kind: 'never' },
  countSample: (sample) =>
    Buffer.from(sample)
      .toString('latin1')
      .split(/\n\r?\n/).length - 1,
  openScanner: (kernel) => new ParagraphScanner(kernel),
};

class ParagraphScanner implements RecordScanner {
  readonly needsWholeRecords = true;
  /** A carriage return alone may be the beginning of one more blank line. */
  readonly lookAheadBytes = 2;
  readonly #kernel: FramingKernel;
  /** Where the line begins that was not seen to its end, counted from the beginning of the record. */
  #lineOffset = 0;
  #seen = 0;

  constructor(kernel: FramingKernel) {
    this.#kernel = kernel;
  }

  scan(from: number, to: number, recordStart: number, table: number, maxCount: number): number {
    const { wasm, view } = this.#kernel;
    const lineStart = recordStart + this.#lineOffset;
    const count = wasm.scanParagraphs(from, to, recordStart, lineStart, this.#seen, table, maxCount);
    const nextStart = count === 0 ? recordStart : view.getUint32(table + (count - 1) * 8 + 4, true);
    this.#lineOffset = (wasm.paragraphLineStart() >>> 0) - nextStart;
    this.#seen = wasm.paragraphSeen() >>> 0;
    return count;
  }

  /** As many line ends as make the last line blank. */
  complete(recordStart: number, to: number): Uint8Array {
    const tail = Buffer.from(this.#kernel.bytes.subarray(Math.max(recordStart, to - 4), to)).toString('latin1');
    const lineEnd = tail.endsWith('\r\n') ? '\r\n' : '\n';
    if (!tail.endsWith('\n')) return Buffer.from('\n\n');
    // A tail that is nothing but a line end is all of the record.
    return /(^|\n)\r?\n$/.test(tail) ? Buffer.alloc(0) : Buffer.from(lineEnd);
  }
}
