/**
 * FASTQ: reads of four lines. The quality may begin with any character, also with `@`, so only counting tells where a
 * read begins. Blank lines at the end of an input belong to no read.
 */
import { BadRecord, type Framing, type FramingKernel, type RecordScanner } from '../framing.js';
import type { RecordKindOf } from '../record-kind.js';
import { LineEnds, lineGroups, problemOfLines } from './lines.js';

export const LINES_OF_READ = 4;
const UNCHECKED = lineGroups(LINES_OF_READ);

const framing: Framing = {
  ...UNCHECKED,
  findsMistakes: true,
  hasNames: true,
  openScanner: (kernel, longestBytes, at) =>
    at === 'sample' ? UNCHECKED.openScanner(kernel, longestBytes, at) : new ReadScanner(kernel, at),
};

export const fastq: RecordKindOf<{ readonly by: 'fastq' }> = {
  by: 'fastq',
  flags: [{ name: 'fastq', help: 'a record is a FASTQ read of four lines, which are checked' }],
  open: () => framing,
  files: [
    {
      name: 'reads (FASTQ)',
      remedy: "give `records: { by: 'fastq' }`",
      firstByte: '@',
      endings: 'fastq|fq',
      nature: 'records',
    },
  ],
};

class ReadScanner implements RecordScanner {
  // The places of lines are counted from the beginning of a read.
  readonly needsWholeRecords = true;
  readonly #kernel: FramingKernel;
  readonly #lineEnds: LineEnds;
  /** True if the scanner began inside the next read. */
  #isPart: boolean;
  /** Lines of the next read seen so far, and where the last three of them end, counted from its beginning. */
  #lines: number;
  #ends = [0, 0, 0];
  isInTrailer = false;

  constructor(kernel: FramingKernel, at: 'beginning' | number) {
    this.#kernel = kernel;
    this.#lineEnds = new LineEnds(kernel);
    this.#isPart = at !== 'beginning';
    this.#lines = at === 'beginning' ? 0 : at % LINES_OF_READ;
  }

  scan(from: number, to: number, recordStart: number, table: number, maxCount: number): number {
    const { wasm, view } = this.#kernel;
    if (this.isInTrailer) {
      this.#requireBlank(from, to);
      return 0;
    }
    const [end1, end2, end3] = this.#ends.map((end) => recordStart + end);
    const count = wasm.scanReads(
      from,
      to,
      recordStart,
      this.#lines,
      end1 ?? 0,
      end2 ?? 0,
      end3 ?? 0,
      this.#isPart,
      table,
      maxCount,
    );
    if (count > 0) this.#isPart = false;
    const start = count === 0 ? recordStart : view.getUint32(table + 8 * (count - 1) + 4, true);
    this.#lineEnds.note(table, count);
    if (!this.#isPart && start < to && isBlank(this.#kernel.bytes[start])) {
      this.isInTrailer = true;
      this.#requireBlank(start, to);
    } else if (wasm.isBadRead.value) this.#requireRead(start, to);
    this.#lines = wasm.readLines.value >>> 0;
    const { readLineEnd1, readLineEnd2, readLineEnd3 } = wasm;
    this.#ends = [readLineEnd1, readLineEnd2, readLineEnd3].map(({ value }) => (value >>> 0) - start);
    return count;
  }

  complete(recordStart: number, to: number): Uint8Array {
    const lines = this.#lines + (this.#kernel.bytes[to - 1] === 0x0a ? 0 : 1);
    if (lines !== LINES_OF_READ) throw new BadRecord(recordStart, problemOfLines(lines, LINES_OF_READ));
    this.#requireRead(recordStart, to);
    return this.#lineEnds.missing(recordStart, to);
  }

  /** The last of the four lines from `start` on may lack its end. */
  #requireRead(start: number, to: number): void {
    const { bytes } = this.#kernel;
    let next = start;
    const [name = '', sequence = '', plus = '', quality = ''] = Array.from({ length: LINES_OF_READ }, () => {
      const found = bytes.subarray(next, to).indexOf(0x0a);
      const line = bytes.subarray(next, found < 0 ? to : next + found);
      next += line.byteLength + 1;
      return Buffer.from(line).toString('latin1').replace(/\r$/, '');
    });
    if (!name.startsWith('@')) throw new BadRecord(start, `begins a read with ${shown(name)}; expected @${ADVICE}`);
    const plusAt = start + bytes.subarray(start, to).indexOf(0x0a) + 1;
    if (!plus.startsWith('+'))
      throw new BadRecord(
        plusAt + bytes.subarray(plusAt, to).indexOf(0x0a) + 1,
        `begins the third line of a read with ${shown(plus)}; expected +${ADVICE}`,
      );
    if (sequence.length !== quality.length)
      throw new BadRecord(
        start,
        `begins a read with a sequence of ${sequence.length} and a quality of ${quality.length}; expected as many${ADVICE}`,
      );
  }

  #requireBlank(from: number, to: number): void {
    const index = this.#kernel.bytes.subarray(from, to).findIndex((byte) => !isBlank(byte));
    if (index < 0) return;
    throw new BadRecord(from + index, 'lies after a blank line; expected blank lines only at the end of the input');
  }
}

const ADVICE = ': a read is four lines; `seqtk seq` makes them of reads whose lines are wrapped';

function shown(line: string): string {
  return line === '' ? 'an empty line' : JSON.stringify(line.charAt(0));
}

function isBlank(byte: number | undefined): boolean {
  return byte === 0x0a || byte === 0x0d || byte === 0x20 || byte === 0x09;
}
