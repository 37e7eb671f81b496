/**
 * Records whose length is known before their content is read: all of one length (token arrays, embeddings), or each
 * with its length before it. TFRecords add checksums.
 */
import { counted, RECORD_LIMIT_ADVICE } from '../../errors.js';
import { BadRecord, type Framing, type FramingKernel, type KernelFunctions, NOTHING } from '../framing.js';

/** `scanFixed` counts in 32 bits. */
export const MOST_FIXED_BYTES = 2 ** 30;

/** @param recordBytes at most `MOST_FIXED_BYTES`. */
export function fixedSize(recordBytes: number): Framing {
  return {
    cut: { kind: 'every', byteLength: recordBytes },
    countSample: (sample) => sample.byteLength / recordBytes,
    openScanner: (kernel) => ({
      needsWholeRecords: true,
      scan: (_from, to, recordStart, table, maxCount) =>
        kernel.wasm.scanFixed(recordStart, to, recordBytes, table, maxCount),
      complete: (recordStart, to) => {
        if (to === recordStart) return NOTHING;
        throw new BadRecord(recordStart, problemOfRest(to - recordStart, recordBytes));
      },
    }),
  };
}

export function problemOfRest(restBytes: number, recordBytes: number): string {
  return `begins a record of ${counted(restBytes, 'byte')} at the end of the input; expected ${counted(recordBytes, 'byte')} a record`;
}

/** As home-made binary formats have them. The prefix belongs to the record. */
export const LENGTH_PREFIXES = ['u32le', 'u32be', 'u64le', 'varint'] as const;
export type LengthPrefix = (typeof LENGTH_PREFIXES)[number];

export function lengthPrefixed(prefix: LengthPrefix): Framing {
  const number = LENGTH_PREFIXES.indexOf(prefix);
  return lengthFraming(({ wasm }, recordStart, to, ...rest) =>
    wasm.scanLengthPrefixed(recordStart, to, number, ...rest),
  );
}

/** u64 length, masked CRC-32C of the length, data, masked CRC-32C of the data. Both checksums are verified. */
export const tfrecord: Framing = lengthFraming(({ wasm }, ...call) => wasm.scanTfrecords(...call));

type LengthScan = (kernel: FramingKernel, ...call: Parameters<KernelFunctions['scanTfrecords']>) => number;

function lengthFraming(scanLengths: LengthScan): Framing {
  return {
    cut: { kind: 'never' },
    // A sample from the middle does not show where a record begins.
    countSample: () => undefined,
    openScanner: (kernel, longestBytes) => ({
      needsWholeRecords: true,
      scan: (_from, to, recordStart, table, maxCount) => {
        const count = scanLengths(kernel, recordStart, to, BigInt(longestBytes), table, maxCount);
        const { wasm, view } = kernel;
        const problem = wasm.framingProblem.value >>> 0;
        if (problem === 0) return count;
        const badStart = count === 0 ? recordStart : view.getUint32(table + (count - 1) * 8 + 4, true);
        throw new BadRecord(badStart, describe(problem, BigInt.asUintN(64, wasm.framingProblemValue.value)));
      },
      complete: (recordStart, to) => {
        throw new BadRecord(
          recordStart,
          `begins a truncated record: the input ends after ${to - recordStart} of its bytes`,
        );
      },
    }),
  };
}

/** @param problem as `scan-lengths.ts` numbers them. */
function describe(problem: number, length: bigint): string {
  switch (problem) {
    case 1:
      return `begins a record that claims ${counted(length, 'byte')}, more than ${RECORD_LIMIT_ADVICE}, or check the format`;
    case 2:
      return `begins a record whose length does not match its checksum; expected a TFRecord`;
    case 3:
      return `begins a record of ${counted(length, 'byte')} of data that do not match their checksum`;
    default:
      return 'begins a record whose length is no varint: ten bytes without an end';
  }
}
