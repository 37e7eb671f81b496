/**
 * Records whose length is known before their content is read: all of one length (token arrays, embeddings), or each
 * with its length before it. TFRecords add checksums.
 */
import { counted, RECORD_LIMIT_ADVICE, requireWhole, UsageError } from '../../errors.js';
import { oneWordOf, parseCount } from '../../values/parse-values.js';
import { BadRecord, type Framing, type FramingKernel, type KernelFunctions, NO_BYTES } from '../framing.js';
import type { RecordKindOf } from '../record-kind.js';

/** `scanFixed` counts in 32 bits. */
export const MOST_FIXED_BYTES = 2 ** 30;

export const sized: RecordKindOf<{ readonly by: 'size'; readonly recordBytes: number }, number> = {
  by: 'size',
  flags: [
    {
      name: 'record-size',
      value: 'BYTES',
      part: 'recordBytes',
      parse: (text, flag) => ({ recordBytes: parseCount(text, flag) }),
      help: 'a record is BYTES long: token arrays, embeddings',
    },
  ],
  valueFrom: ({ recordBytes }) => requireWhole('`records.recordBytes`', recordBytes, 1, MOST_FIXED_BYTES),
  open: fixedSize,
  nameOf: (recordBytes) => `fixed ${recordBytes}`,
};

/** The header declares the size of a row. */
export const npy: RecordKindOf<{ readonly by: 'npy' }, never> = {
  by: 'npy',
  flags: [{ name: 'npy', help: 'a record is a row of the array in a .npy file' }],
  header: 'npy',
  files: [
    {
      name: 'a NumPy array (.npy)',
      remedy: "give `records: { by: 'npy' }`",
      magics: ['\x93NUMPY'],
      endings: 'npy',
      nature: 'records',
    },
  ],
};

/** @param recordBytes at most `MOST_FIXED_BYTES`. */
function fixedSize(recordBytes: number): Framing {
  return {
    cut: { lookBehindBytes: 0 },
    recordBytes,
    openScanner: (kernel) => ({
      needsWholeRecords: true,
      scan: (_from, to, recordStart, table, maxCount) =>
        kernel.wasm.scanFixed(recordStart, to, recordBytes, table, maxCount),
      complete: (recordStart, to) => {
        if (to === recordStart) return NO_BYTES;
        throw new BadRecord(recordStart, problemOfRest(to - recordStart, recordBytes));
      },
    }),
  };
}

export function problemOfRest(restBytes: number, recordBytes: number): string {
  return `begins a record of ${counted(restBytes, 'byte')} at the end of the input; expected ${counted(recordBytes, 'byte')} a record`;
}

/**
 * The prefixes of home-made binary formats. The prefix belongs to the record. The kernel numbers them in this order.
 */
const LENGTH_PREFIXES = ['u32le', 'u32be', 'u64le', 'varint'] as const;
type LengthPrefix = (typeof LENGTH_PREFIXES)[number];

export const lengthPrefixed: RecordKindOf<
  { readonly by: 'length-prefix'; readonly prefix: LengthPrefix },
  LengthPrefix
> = {
  by: 'length-prefix',
  flags: [
    {
      name: 'length-prefixed',
      value: 'KIND',
      part: 'prefix',
      words: LENGTH_PREFIXES,
      parse: (text, flag) => ({ prefix: oneWordOf(...LENGTH_PREFIXES).parse(text, flag) }),
      help: 'a record is a length (u32le, u32be, u64le or varint) and that many bytes',
    },
  ],
  valueFrom: ({ prefix }) => {
    if (LENGTH_PREFIXES.includes(prefix)) return prefix;
    throw new UsageError(`\`records.prefix\` ${prefix}: expected one of ${LENGTH_PREFIXES.join(', ')}`);
  },
  open: (prefix) => {
    const number = LENGTH_PREFIXES.indexOf(prefix);
    return lengthFraming(({ wasm }, recordStart, to, ...rest) =>
      wasm.scanLengthPrefixed(recordStart, to, number, ...rest),
    );
  },
  nameOf: (prefix) => `length-prefixed ${prefix}`,
};

/** u64 length, masked CRC-32C of the length, data, masked CRC-32C of the data. Both checksums are verified. */
export const tfrecord: RecordKindOf<{ readonly by: 'tfrecord' }> = {
  by: 'tfrecord',
  flags: [{ name: 'tfrecord', help: 'a record is a TFRecord; its checksums are verified' }],
  open: () => lengthFraming(({ wasm }, ...call) => wasm.scanTfrecords(...call)),
  files: [
    {
      name: 'TFRecords',
      remedy: "give `records: { by: 'tfrecord' }`",
      matches: isTfrecord,
      endings: 'tfrecord|tfrecords',
      nature: 'records',
    },
  ],
};

/** The length of a first record of less than 4 GiB, and its masked checksum. */
function isTfrecord(head: string): boolean {
  if (head.length < 12 || !head.startsWith('\0\0\0\0', 4)) return false;
  const bytes = Buffer.from(head.slice(0, 12), 'latin1');
  const crc = crc32c(bytes.subarray(0, 8));
  return bytes.readUInt32LE(8) === (((crc >>> 15) | (crc << 17)) + 0xa282ead8) >>> 0;
}

function crc32c(bytes: Uint8Array): number {
  let crc = 0xffffffff;
  for (const byte of bytes) {
    crc ^= byte;
    for (let bit = 0; bit < 8; bit++) crc = (crc >>> 1) ^ (crc & 1 ? 0x82f63b78 : 0);
  }
  return ~crc >>> 0;
}

type LengthScan = (kernel: FramingKernel, ...call: Parameters<KernelFunctions['scanTfrecords']>) => number;

function lengthFraming(scanLengths: LengthScan): Framing {
  return {
    // A place in the middle does not show where a record begins.
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
      return 'begins a record whose length is not a varint: ten bytes without an end';
  }
}
