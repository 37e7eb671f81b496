/**
 * CSV as of RFC 4180: records are lines, and a newline between double quotes belongs to a field. Two quotes in a
 * quoted field stand for one, and leave it as they found it, so that only the number of quotes before a newline
 * matters: an odd one means that it is quoted. That is also how a cut in the middle finds out: by counting.
 */
import { BadRecord, type Framing, type FramingKernel, type RecordScanner } from '../framing.js';

const NEWLINE = Uint8Array.of(0x0a);

export const csv: Framing = {
  cut: { kind: 'after-counting', byte: 0x22, lookBehindBytes: 1 },
  countSample: (sample) => sample.reduce((count, byte) => count + (byte === 0x0a ? 1 : 0), 0),
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
