/**
 * Records that are separated by blank lines. The blank lines behind a record belong to it, and those at the
 * beginning of an input to its first record, so that every byte is in one.
 */
import type { Framing, FramingKernel, RecordScanner } from '../framing.js';

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
