/** Records that end in a delimiter of one or several bytes, which belongs to them. */
import type { Framing, FramingKernel, RecordScanner } from '../framing.js';

/** @param delimiter 1 to 1024 bytes. */
export function delimited(delimiter: Uint8Array): Framing {
  const { byteLength } = delimiter;
  return {
    cut: hasBorder(delimiter) ? { kind: 'never' } : { kind: 'anywhere', lookBehindBytes: byteLength },
    delimiterBytes: byteLength,
    recordEnd: byteLength === 1 ? { byte: delimiter[0] ?? 0, every: 1 } : undefined,
    countSample: (sample) => countOf(Buffer.from(sample.buffer, sample.byteOffset, sample.byteLength), delimiter),
    openScanner: (kernel) => (byteLength === 1 ? byteScanner(kernel, delimiter) : sequenceScanner(kernel, delimiter)),
  };
}

/**
 * Whether the delimiter ends as it begins, so that one can overlap another: which ones count then depends on where a
 * reader begins to look.
 */
function hasBorder(delimiter: Uint8Array): boolean {
  const bytes = Buffer.from(delimiter);
  for (let length = 1; length < bytes.byteLength; length++) {
    if (bytes.subarray(0, length).equals(bytes.subarray(-length))) return true;
  }
  return false;
}

function countOf(sample: Buffer, delimiter: Uint8Array): number {
  let count = 0;
  for (let at = sample.indexOf(delimiter); at >= 0; at = sample.indexOf(delimiter, at + delimiter.byteLength))
    count += 1;
  return count;
}

function byteScanner(kernel: FramingKernel, delimiter: Uint8Array): RecordScanner {
  const [byte = 0] = delimiter;
  return {
    needsWholeRecords: false,
    scan: (from, to, recordStart, table, maxCount) =>
      kernel.wasm.scanDelimiter(from, to, recordStart, byte, table, maxCount),
    complete: () => delimiter,
  };
}

function sequenceScanner(kernel: FramingKernel, delimiter: Uint8Array): RecordScanner {
  const { byteLength } = delimiter;
  return {
    needsWholeRecords: false,
    scan: (from, to, recordStart, table, maxCount) => {
      // The delimiter may have begun in the bytes before.
      const begin = Math.max(recordStart, from - byteLength + 1);
      kernel.bytes.set(delimiter, kernel.wasm.sequenceAddress());
      return kernel.wasm.scanSequence(begin, to, recordStart, byteLength, byteLength, table, maxCount);
    },
    complete: () => delimiter,
  };
}
