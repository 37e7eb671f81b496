/**
 * Records that all have the same number of bytes: token arrays, embeddings.
 */
import { BadRecord, type Framing, NOTHING } from '../framing.js';

/** Its scan counts in 32 bits. */
export const MOST_FIXED_BYTES = 2 ** 30;

/** @param recordBytes at most MOST_FIXED_BYTES. */
export function fixedSize(recordBytes: number): Framing {
  return {
    cut: { kind: 'every', byteLength: recordBytes },
    countSample: (sample) => sample.byteLength / recordBytes,
    openScanner: ({ wasm }) => ({
      needsWholeRecords: true,
      scan: (_from, to, recordStart, table, maxCount) => wasm.scanFixed(recordStart, to, recordBytes, table, maxCount),
      complete: (recordStart, to) => {
        if (to === recordStart) return NOTHING;
        throw new BadRecord(recordStart, problemOfRest(to - recordStart, recordBytes));
      },
    }),
  };
}

/** What is wrong with the rest of an input whose size does not divide. */
export function problemOfRest(restBytes: number, recordBytes: number): string {
  return `begins a record of ${restBytes} bytes, at the end of which the input ends; expected ${recordBytes} bytes a record`;
}
