/**
 * The sample of a report: which records a task has taken, and where it read them. The sample of a job has the records whose
 * places have the smallest hashes. So it is uniform, does not depend on how inputs are cut, and the samples of several tasks
 * join to one. The hash has nothing to do with the key.
 *
 * A thread works on one task of a profiled job at a time, so the notes are those of that task.
 */
import type { InputPart } from '../../src/sources/input-part.js';
import type { Kernel } from '../kernel/kernel.js';

export interface TakenRecord {
  /** The hash of its place, as a u32. */
  readonly hash: number;
  readonly inputOrdinal: number;
  /** The place of its first byte in the decoded input, or the ordinal of a row. */
  readonly position: number;
  readonly key: bigint;
  /** The key of the next record in its input; undefined where another call takes that one. */
  readonly nextKey: bigint | undefined;
}

interface TakenMarks {
  readonly count: number;
  readonly base: number;
  readonly basePosition: number;
  /** The ordinal of the first record, where keys come from ordinals. */
  readonly ordinal: number | undefined;
  /** The ordinal of the first row. Undefined: the records are not rows. */
  readonly firstRow: number | undefined;
}

export const SAMPLE_RECORDS = 3000;

let noted: TakenRecord[] | undefined;
const LARGEST_HASH = 0xffffffff;
/** No record with a larger hash is in the sample of the job: its tasks on this thread have noted enough with smaller ones. */
let limit = LARGEST_HASH;
let jobOfLimit = '';

/** Notes the taken records that belong to the sample. */
export function noteTaken(
  { kernel, table }: { readonly kernel: Kernel; readonly table: number },
  { count, base, basePosition, ordinal, firstRow }: TakenMarks,
  { inputOrdinal, inputKey }: Pick<InputPart, 'inputOrdinal' | 'inputKey'>,
  jobName: string,
): void {
  if (jobName !== jobOfLimit) limit = LARGEST_HASH;
  jobOfLimit = jobName;
  const { view, wasm } = kernel;
  noted ??= [];
  const salt = scrambled(Math.imul(inputOrdinal + 1, 0x9e3779b1));
  const positionOf = (i: number) =>
    firstRow === undefined ? basePosition + view.getUint32(table + 8 * i, true) - base : firstRow + i;
  const keyOf = (i: number) =>
    BigInt.asUintN(
      64,
      wasm.keyOfRecord(table + 8 * i, BigInt(ordinal === undefined ? positionOf(i) : ordinal + i), inputKey),
    );
  for (let i = 0; i < count; i++) {
    const position = positionOf(i);
    const hash = scrambled(position ^ scrambled(salt + Math.floor(position / 2 ** 32)));
    if (hash > limit) continue;
    noted.push({ hash, inputOrdinal, position, key: keyOf(i), nextKey: i + 1 < count ? keyOf(i + 1) : undefined });
    if (noted.length >= 2 * SAMPLE_RECORDS) shorten(noted);
  }
}

function shorten(records: TakenRecord[]): void {
  records.sort(compareHashes);
  if (records.length < SAMPLE_RECORDS) return;
  records.length = SAMPLE_RECORDS;
  limit = Math.min(limit, records.at(-1)?.hash ?? limit);
}

export function compareHashes(a: TakenRecord, b: TakenRecord): number {
  return a.hash - b.hash || a.inputOrdinal - b.inputOrdinal || a.position - b.position;
}

/** Returns the records of the sample, and forgets them. Undefined: the task was not asked for a sample. */
export function takeSample(): readonly TakenRecord[] | undefined {
  const records = noted;
  if (records !== undefined) shorten(records);
  noted = undefined;
  return records;
}

/** The finalizer of MurmurHash3, a permutation of the u32. */
function scrambled(value: number): number {
  let h = value | 0;
  h = Math.imul(h ^ (h >>> 16), 0x85ebca6b);
  h = Math.imul(h ^ (h >>> 13), 0xc2b2ae35);
  return (h ^ (h >>> 16)) >>> 0;
}
