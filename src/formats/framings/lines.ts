import { counted } from '../../errors.js';
import { BadRecord, type Framing } from '../framing.js';
import { CONTEXT_BYTES, LineEnds } from './line-ends.js';

export const lines: Framing = {
  cut: { kind: 'anywhere', lookBehindBytes: 1, contextBytes: CONTEXT_BYTES },
  recordEnd: { byte: 0x0a, every: 1 },
  delimiterBytes: 1,
  countSample: countNewlines,
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

export function countNewlines(sample: Uint8Array): number {
  return sample.reduce((count, byte) => count + (byte === 0x0a ? 1 : 0), 0);
}

export function lineGroups(linesPerRecord: number): Framing {
  return {
    cut: { kind: 'after-counting', byte: 0x0a, lookBehindBytes: 1, contextBytes: CONTEXT_BYTES },
    recordEnd: { byte: 0x0a, every: linesPerRecord },
    countSample: (sample) => countNewlines(sample) / linesPerRecord,
    openScanner: (kernel, _limits, at) => {
      let linesBefore = typeof at === 'number' ? at % linesPerRecord : 0;
      const lineEnds = new LineEnds(kernel);
      return {
        needsWholeRecords: false,
        scan: (from, to, recordStart, table, maxCount) => {
          const { wasm } = kernel;
          const count = wasm.scanLineGroups(from, to, recordStart, linesPerRecord, linesBefore, table, maxCount);
          linesBefore = wasm.linesPending() >>> 0;
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

/**
 * Records that blank lines separate. Every byte belongs to a record: blank lines to the record before them, or, at the
 * beginning of an input, to its first record.
 */
export const paragraphs: Framing = {
  // Only the line before a place shows whether a blank line begins there.
  cut: { kind: 'never' },
  countSample: (sample) =>
    Buffer.from(sample)
      .toString('latin1')
      .split(/\n\r?\n/).length - 1,
  openScanner: (kernel) => {
    /** Where the line begins that is not yet scanned to its end, counted from the beginning of the record. */
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
        lineOffset = (wasm.paragraphLineStart() >>> 0) - nextStart;
        seen = wasm.paragraphSeen() >>> 0;
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
