/**
 * Records of a length and as many bytes, as home-made binary formats have them, and TFRecords, which add
 * checksums. The prefix belongs to the record.
 */
import { BadRecord, type Framing, type FramingKernel, type RecordLimits, type RecordScanner } from '../framing.js';

export const LENGTH_PREFIXES = ['u32le', 'u32be', 'u64le', 'varint'] as const;
export type LengthPrefix = (typeof LENGTH_PREFIXES)[number];

export function lengthPrefixed(prefix: LengthPrefix): Framing {
  const number = LENGTH_PREFIXES.indexOf(prefix);
  return lengthFraming((kernel, recordStart, to, longest, table, maxCount) =>
    kernel.run.scanLengthPrefixed(recordStart, to, number, longest, table, maxCount),
  );
}

/** u64 length, masked CRC-32C of the length, data, masked CRC-32C of the data; both are verified. */
export const tfrecord: Framing = lengthFraming((kernel, recordStart, to, longest, table, maxCount) =>
  kernel.run.scanTfrecords(recordStart, to, longest, table, maxCount),
);

type LengthScan = (
  kernel: FramingKernel,
  recordStart: number,
  to: number,
  longest: bigint,
  table: number,
  maxCount: number,
) => number;

function lengthFraming(scanLengths: LengthScan): Framing {
  return {
    cut: { kind: 'never' },
    // What a sample from the middle holds cannot be told.
    countSample: () => undefined,
    openScanner: (kernel, limits) => new LengthScanner(kernel, scanLengths, limits),
  };
}

class LengthScanner implements RecordScanner {
  readonly needsWholeRecords = true;
  readonly #kernel: FramingKernel;
  readonly #scanLengths: LengthScan;
  readonly #longest: bigint;

  constructor(kernel: FramingKernel, scanLengths: LengthScan, { maxRecordBytes }: RecordLimits) {
    this.#kernel = kernel;
    this.#scanLengths = scanLengths;
    this.#longest = BigInt(maxRecordBytes);
  }

  scan(_from: number, to: number, recordStart: number, table: number, maxCount: number): number {
    const count = this.#scanLengths(this.#kernel, recordStart, to, this.#longest, table, maxCount);
    const { run, view } = this.#kernel;
    const problem = run.framingProblem() >>> 0;
    if (problem === 0) return count;
    const badStart = count === 0 ? recordStart : view.getUint32(table + (count - 1) * 8 + 4, true);
    throw new BadRecord(badStart, describe(problem, BigInt.asUintN(64, run.framingProblemValue())));
  }

  complete(recordStart: number, to: number): Uint8Array {
    throw new BadRecord(
      recordStart,
      `begins a record that the input ends inside of, after ${to - recordStart} bytes: it is truncated`,
    );
  }
}

/** @param problem as `scan-lengths.ts` numbers them. */
function describe(problem: number, length: bigint): string {
  switch (problem) {
    case 1:
      return `begins a record that claims ${length} bytes, more than \`maxRecordBytes\` allows; raise it, or check the format`;
    case 2:
      return `begins a record whose length does not match its checksum; expected a TFRecord`;
    case 3:
      return `begins a record of ${length} bytes of data that do not match their checksum`;
    default:
      return 'begins a record whose length is no varint: ten bytes without an end';
  }
}
