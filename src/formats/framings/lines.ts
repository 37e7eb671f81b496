/**
 * Records made of lines: groups of lines, CSV and paragraphs. (A single line is a delimited record: `delimited.ts`.)
 */
import { counted } from '../../errors.js';
import { BadRecord, type Framing } from '../framing.js';

const NEWLINE = Uint8Array.of(0x0a);

function countNewlines(sample: Uint8Array): number {
  return sample.reduce((count, byte) => count + (byte === 0x0a ? 1 : 0), 0);
}

/** Records of a fixed number of lines, such as the four of FASTQ. */
export function lineGroups(linesPerRecord: number): Framing {
  return {
    cut: { kind: 'after-counting', byte: 0x0a, lookBehindBytes: 1 },
    recordEnd: { byte: 0x0a, every: linesPerRecord },
    countSample: (sample) => countNewlines(sample) / linesPerRecord,
    openScanner: (kernel, _limits, countBefore) => {
      let linesBefore = countBefore % linesPerRecord;
      return {
        needsWholeRecords: false,
        scan: (from, to, recordStart, ...table) => {
          const { wasm } = kernel;
          const count = wasm.scanLineGroups(from, to, recordStart, linesPerRecord, linesBefore, ...table);
          linesBefore = wasm.linesPending() >>> 0;
          return count;
        },
        complete: (recordStart, to) => {
          const lines = linesBefore + (kernel.bytes[to - 1] === 0x0a ? 0 : 1);
          if (lines === linesPerRecord) return NEWLINE;
          throw new BadRecord(
            recordStart,
            `begins a record of ${lines} ${lines === 1 ? 'line' : 'lines'} at the end of the input; expected ${counted(linesPerRecord, 'line')} a record`,
          );
        },
      };
    },
  };
}

/**
 * CSV (RFC 4180): records are lines, and a newline between double quotes belongs to a field. Two quotes in a quoted
 * field stand for one and change nothing, so only the number of quotes before a newline matters: the newline is quoted
 * when it is odd. The reader of a range that begins in the middle of a file counts the quotes before it.
 */
export const csv: Framing = {
  cut: { kind: 'after-counting', byte: 0x22, lookBehindBytes: 1 },
  countSample: countRows,
  openScanner: (kernel, _limits, quotesBefore) => {
    let isQuoted = quotesBefore % 2;
    return {
      needsWholeRecords: false,
      scan: (from, to, recordStart, ...table) => {
        const { wasm } = kernel;
        const count = wasm.scanQuoted(from, to, recordStart, isQuoted, ...table);
        isQuoted = wasm.quotePending() >>> 0;
        return count;
      },
      complete: (recordStart) => {
        if (isQuoted === 0) return NEWLINE;
        throw new BadRecord(
          recordStart,
          'begins a record with a double quote that is not closed before the input ends',
        );
      },
    };
  },
};

const BESIDE_FIELDS = new Set(Buffer.from(',;|\t\r\n'));

/** Newlines outside of quotes. What stands beside the quotes tells whether the sample begins inside of them. */
function countRows(sample: Uint8Array): number {
  const newlines = [0, 0];
  let [side, votes] = [0, 0];
  for (const [i, byte] of sample.entries()) {
    if (byte === 0x0a) newlines[side] = (newlines[side] ?? 0) + 1;
    if (byte !== 0x22) continue;
    const [opens, closes] = [sample[i - 1], sample[i + 1]].map((beside) => BESIDE_FIELDS.has(beside ?? 0));
    if (opens !== closes) votes += opens === (side === 0) ? 1 : -1;
    side = 1 - side;
  }
  return newlines[votes < 0 ? 1 : 0] ?? 0;
}

/**
 * Records that blank lines separate. The blank lines behind a record belong to it, and those at the beginning of an
 * input to its first record, so that every byte is in one.
 */
export const paragraphs: Framing = {
  // Only with the line before a place is it known whether a blank line begins there.
  cut: { kind: 'never' },
  countSample: (sample) =>
    Buffer.from(sample)
      .toString('latin1')
      .split(/\n\r?\n/).length - 1,
  openScanner: (kernel) => {
    /** Where the line begins that is not scanned to its end, counted from the beginning of the record. */
    let lineOffset = 0;
    let seen = 0;
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
        return count;
      },
      // As many line ends as make the last line blank. The last newline of a file may be missing, also behind a CR.
      complete: (recordStart, to) => {
        const tail = Buffer.from(kernel.bytes.subarray(Math.max(recordStart, to - 4), to)).toString('latin1');
        const newline = tail.endsWith('\n') ? '' : '\n';
        const lines = tail + newline;
        // What is only a line end is the whole record.
        if (/(^|\n)\r?\n$/.test(lines)) return Buffer.from(newline);
        return Buffer.from(newline + (lines.endsWith('\r\n') ? '\r\n' : '\n'));
      },
    };
  },
};
