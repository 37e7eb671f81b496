/**
 * Records that all have the same number of bytes: token arrays, embeddings.
 */
import { BadRecord, type Framing, NOTHING } from '../framing.js';

export function fixedSize(recordBytes: number): Framing {
  return {
    cut: { kind: 'every', byteLength: recordBytes },
    countSample: (sample) => sample.byteLength / recordBytes,
    openScanner: ({ run }) => ({
      needsWholeRecords: true,
      scan: (_from, to, recordStart, table, maxCount) => run.scanFixed(recordStart, to, recordBytes, table, maxCount),
      complete: (recordStart, to) => {
        if (to === recordStart) return NOTHING;
        throw new BadRecord(
          recordStart,
          `begins a record of ${to - recordStart} bytes, at the end of which the input ends; expected ${recordBytes} bytes a record`,
        );
      },
    }),
  };
}
