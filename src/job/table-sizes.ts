/** What an output of rows takes: on its disk, and on the temp disks while it is made. As far as footers tell. */
import { writtenFor } from '../formats/rows/parquet/table-output.js';
import type { WrittenCodec } from '../formats/rows/parquet/table-write-spec.js';
import type { MemoryNeed, MemoryPlan } from '../plan/memory-plan.js';
import { spareOfPass2 } from '../plan/pass2-memory.js';
import { mostWaitingBytes } from '../plan/unit-ranges.js';
import type { InputTable } from '../sources/source.js';
import type { WriteSpec } from '../spec.js';

/** Text usually compresses to a fourth. */
export const USUAL_RATIO = 4;

interface ExpectedPages {
  readonly byteLength: number;
  /** Whether nothing tells: the codec is another one. */
  readonly isGuess: boolean;
}

/** The pages of all rows of an input, if they are written with a codec. */
export function expectPages({ codec, storedBytes, rowBytes }: InputTable, written: WrittenCodec): ExpectedPages {
  // Pages of a few rows are mostly headers, and a row group of many rows has none such.
  const pageBytes = Math.min(storedBytes, rowBytes);
  if (codec === undefined || writtenFor(codec) === written) return { byteLength: pageBytes, isGuess: false };
  if (written === 'UNCOMPRESSED') return { byteLength: rowBytes, isGuess: true };
  return { byteLength: codec === 'UNCOMPRESSED' ? rowBytes / USUAL_RATIO : pageBytes, isGuess: true };
}

interface SpillingJob {
  readonly write: Pick<WriteSpec, 'table'>;
  readonly memory: MemoryPlan;
  readonly memoryNeed: MemoryNeed;
  /** Of all rows of the output. */
  readonly recordBytes: number;
  /** Bytes of pages for each byte of rows. */
  readonly ratio: number;
  /** Rows of a file, at the most. */
  readonly shardBytes: number;
}

interface SpilledPages {
  /** The most bytes at one time. */
  readonly mostBytes: number;
  /** The part of all pages that is written to temp disks, about. */
  readonly share: number;
}

/** Pages wait in spare memory until their row group may be appended to its file, and on the temp disks if there is none left. */
export function expectSpilledPages(job: SpillingJob): SpilledPages {
  const { write, memory, memoryNeed, recordBytes, ratio, shardBytes } = job;
  if (write.table === undefined) return { mostBytes: 0, share: 0 };
  const { rowGroupBytes, rowGroupRows = Number.POSITIVE_INFINITY } = write.table;
  const { pileCount, workers: threadCount } = memory;
  const unitBytes = Math.min(rowGroupBytes, rowGroupRows * memoryNeed.meanRecordBytes, shardBytes);
  const waitingBytes = ratio * mostWaitingBytes({ bytes: recordBytes, pileCount, threadCount, unitBytes, shardBytes });
  const spareBytes = spareOfPass2(memory, memoryNeed);
  // On average half of them are there.
  const share = Math.max(0, 1 - spareBytes / Math.max(1, waitingBytes / 2));
  return { mostBytes: Math.max(0, waitingBytes - spareBytes), share };
}
