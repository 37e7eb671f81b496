/**
 * Records of a fixed number of lines, such as the four of FASTQ.
 */
import { BadRecord, type Framing, type FramingKernel, type RecordScanner } from '../framing.js';

const NEWLINE = Uint8Array.of(0x0a);

export function lineGroups(linesPerRecord: number): Framing {
  return {
    cut: { kind: 'after-counting', byte: 0x0a, lookBehindBytes: 1 },
    countSample: (sample) => sample.reduce((count, byte) => count + (byte === 0x0a ? 1 : 0), 0) / linesPerRecord,
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
