/** Says why a record cannot be taken: it is too long, or lacks its value. */
import { counted, InputError, RECORD_LIMIT_ADVICE, RecordOverMemoryError } from '../../src/errors.js';
import { inputName } from '../../src/places/inputs/input-source.js';
import { mayHaveRoomFor, memoryFor } from '../../src/plan/pass2-memory.js';
import type { Kernel } from '../kernel/kernel.js';
import type { PileSettings, ReadSettings } from '../settings.js';
import { readStateOf } from '../thread-state.js';

export interface PlaceOfLongRecord {
  readonly path: string;
  /** `row 7`, or `the record at byte 120`. */
  readonly place: string;
}

export function recordOverLimitError({ path, place }: PlaceOfLongRecord, longestBytes: number): InputError {
  return new InputError(
    'ERR_RECORD_TOO_LONG',
    `${inputName(path)}: ${place} is longer than the ${counted(longestBytes, 'byte')} that ${RECORD_LIMIT_ADVICE}, or check that the records end as expected`,
  );
}

/**
 * @param byteLength of the record, as far as it is known.
 * @param neededBytes of the record; a guess if its end is unknown.
 */
export function recordOverMemoryError(
  { path, place }: PlaceOfLongRecord,
  job: ReadSettings & Pick<PileSettings, 'ramPool'>,
  byteLength: string,
  neededBytes: number,
  knownBytes = neededBytes,
): InputError {
  const long = { recordBytes: neededBytes, decoderBytes: readStateOf(job).decoderMemory.reservedBytes };
  const message = `${inputName(path)}: ${place} has ${byteLength} bytes and does not fit the memory budget; expected \`memoryBytes\` of at least ${memoryFor(job.memoryNeed, long)}`;
  // Where threads share a linear memory, arenas of their own, or the only one, may have more room than the plan promises.
  const sharesMemory = job.ramPool?.linear !== undefined;
  return sharesMemory || mayHaveRoomFor(job.memoryNeed, { ...long, recordBytes: knownBytes })
    ? new RecordOverMemoryError(message)
    : new InputError('ERR_RECORD_TOO_LONG', message);
}

/** The record at `address`, in which the kernel has found no value. */
interface RecordOfTable {
  readonly kernel: Kernel;
  readonly table: number;
  readonly address: number;
  /** The last bytes of a record, which only end it. */
  readonly delimiterBytes: number;
}

/** Completes "the record at byte N"; undefined: the record only lacks the value. @param isOfJson it should be an object. */
export function whyUnfit(
  { kernel: { wasm, view }, table, address, delimiterBytes }: RecordOfTable,
  isOfJson: boolean,
): string | undefined {
  let mark = table;
  while (view.getUint32(mark, true) !== address) mark += 8;
  const end = view.getUint32(mark + 4, true);
  if (wasm.isBlank(address, end, delimiterBytes)) return 'is blank; give `skipBlank` to leave such records out';
  if (isOfJson && wasm.isBrokenObject(address, end))
    return 'begins as a JSON object and does not end as one; mend it, or leave it out';
  return undefined;
}
