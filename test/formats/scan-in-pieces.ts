/** Finds the records of an input with a framing of the program, piece by piece, like a task. */
import { expect } from 'vitest';
import { BadRecord } from '#src/formats/framing.js';
import { type FramingSpec, framingOf } from '#src/formats/framing-table.js';
import { Kernel } from '#workers/kernel/kernel.js';

/** A thread may work there in a memory that it shares. Such addresses reach the host as negative numbers. */
const PART_START = 3 * 2 ** 30;
const PART_BYTES = 512 * 1024;
const PAGE_BYTES = 65_536;

const kernel = new Kernel({
  memory: new WebAssembly.Memory({
    initial: (PART_START + PART_BYTES) / PAGE_BYTES,
    maximum: PAGE_BYTES - 1,
    shared: true,
  }),
  start: PART_START,
  end: PART_START + PART_BYTES,
});
const TABLE = kernel.arenaStart;
const DATA = TABLE + 16 * 1024;
const LONGEST_BYTES = 100_000;

export interface Pieces {
  /** Of the pieces, over and over. */
  readonly sizes: readonly number[];
  /** Records marked at a time. */
  readonly most: number;
}

/** A BadRecord, and where it lies in the input. */
export class Malformed extends Error {
  readonly position: number;

  constructor(message: string, position: number) {
    super(message);
    this.position = position;
  }
}

/** Scans like a task: the rest that is not scattered moves to the front before each piece. @throws Malformed */
export function scan(spec: FramingSpec, input: Buffer, { sizes, most }: Pieces): Buffer[] {
  const scanner = framingOf(spec).openScanner(kernel, LONGEST_BYTES, 'beginning');
  const records: Buffer[] = [];
  let recordStart = DATA;
  let scannedEnd = DATA;
  let filledEnd = DATA;
  /** Position of the byte at DATA. */
  let movedBytes = 0;
  const take = (piece: Uint8Array) => {
    kernel.bytes.copyWithin(DATA, recordStart, filledEnd);
    const moved = recordStart - DATA;
    movedBytes += moved;
    [recordStart, scannedEnd, filledEnd] = [DATA, scannedEnd - moved, filledEnd - moved];
    kernel.bytes.set(piece, filledEnd);
    filledEnd += piece.byteLength;
    // What lies after must not matter.
    kernel.bytes.set(Buffer.from('\n"\n\n\0ab\r\n'), filledEnd);
    for (let count = most; count === most; ) {
      count = scanner.scan(scannedEnd, filledEnd, recordStart, TABLE, most);
      for (let i = 0; i < count; i++) {
        expect(kernel.view.getUint32(TABLE + 8 * i, true)).toBe(recordStart);
        const end = kernel.view.getUint32(TABLE + 8 * i + 4, true);
        records.push(Buffer.from(kernel.bytes.subarray(recordStart, end)));
        recordStart = end;
      }
      scannedEnd = count === most ? recordStart : filledEnd;
      if (count < most && scanner.isInTrailer) recordStart = filledEnd;
    }
  };
  const takeAll = () => {
    for (let at = 0, i = 0; at < input.byteLength; i++) {
      const size = sizes[i % sizes.length] ?? 1;
      take(input.subarray(at, at + size));
      at += size;
    }
    if (filledEnd === recordStart) return;
    const missing = scanner.complete(recordStart, filledEnd);
    kernel.bytes.set(missing, filledEnd);
    records.push(Buffer.from(kernel.bytes.subarray(recordStart, filledEnd + missing.byteLength)));
  };
  try {
    takeAll();
  } catch (error) {
    if (error instanceof BadRecord) throw new Malformed(error.message, movedBytes + error.address - DATA);
    throw error;
  }
  return records;
}
