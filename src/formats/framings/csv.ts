/**
 * CSV (RFC 4180): records are lines, and a newline between double quotes belongs to a field. Two quotes in a quoted
 * field stand for one, so only the number of quotes before a newline matters: the newline is quoted when it is odd. The
 * reader of a range that begins in the middle of a file counts the quotes before it.
 *
 * One quote in a field without quotes (`6" pipe`) would turn all of that around, so it is an error.
 */
import { BadRecord, type Framing } from '../framing.js';
import type { RecordKindOf } from '../record-kind.js';
import { CONTEXT_BYTES, LineEnds } from './lines.js';

/** The state of `scan-csv.ts` after so many quotes, at a place where a quote may stand. */
const startIn = (quotesBefore: number) => (quotesBefore % 2) + 2;

const framing: Framing = {
  isText: true,
  isOfLines: true,
  hasQuotedFields: true,
  cut: { countedByte: 0x22, lookBehindBytes: 1, contextBytes: CONTEXT_BYTES },
  findsMistakes: true,
  countSample: countRows,
  openScanner: (kernel, _longestBytes, from) => {
    let quotes = startIn(typeof from === 'number' ? from : 0);
    const lineEnds = new LineEnds(kernel);
    return {
      needsWholeRecords: false,
      scan: (from, to, recordStart, table, maxCount) => {
        const { wasm } = kernel;
        const count = wasm.scanQuoted(from, to, recordStart, quotes, table, maxCount);
        quotes = wasm.quotesPending.value >>> 0;
        const stray = wasm.strayQuote.value >>> 0;
        if (stray !== 0) throw new BadRecord(stray, problemOf(kernel.bytes[stray]));
        return lineEnds.note(table, count);
      },
      complete: (recordStart, to) => {
        if (quotes % 2 === 0) return lineEnds.missing(recordStart, to);
        throw new BadRecord(
          recordStart,
          `begins a record with a double quote that is not closed before the input ends${ADVICE}`,
        );
      },
    };
  },
};

export const csv: RecordKindOf<{ readonly by: 'csv' }> = {
  by: 'csv',
  flags: [{ name: 'csv', help: 'a record is a CSV row; quoted newlines belong to it' }],
  open: () => framing,
  files: [{ endings: 'csv', nature: 'records' }],
};

const ADVICE =
  "; if quotes are mere text in this input, give `records: { by: 'lines' }` `header.lines` 1 (`records: { by: 'lines' }` alone if it has no header)";

function problemOf(byte: number | undefined): string {
  const what =
    byte === 0x22
      ? 'is a double quote in a field that does not begin with one'
      : 'is text after the double quote that ends a field';
  return `${what}${ADVICE}`;
}

const BESIDE_FIELDS = new Set(Buffer.from(',;|\t\r\n'));

/** Newlines outside quotes. What stands beside the quotes tells whether the sample begins inside them. */
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
