import { counted, InputError, RECORD_LIMIT_ADVICE, RecordOverMemoryError } from '../../src/errors.js';
import { inputName } from '../../src/io/input-source.js';
import { mayHaveRoomFor, memoryFor } from '../../src/plan/pass2-memory.js';
import type { ReadSettings } from '../settings.js';
import { readStateOf } from '../thread-state.js';

export interface PlaceOfLongRecord {
  readonly path: string;
  /** `row 7`, or `the record at byte 120`. */
  readonly place: string;
}

export function overLimit({ path, place }: PlaceOfLongRecord, longestBytes: number): InputError {
  return new InputError(
    'ERR_RECORD_TOO_LONG',
    `${inputName(path)}: ${place} is longer than the ${counted(longestBytes, 'byte')} that ${RECORD_LIMIT_ADVICE}, or check that the records end as expected`,
  );
}

/**
 * @param byteLength of the record, as far as it is known.
 * @param neededBytes of the record; a guess if its end is unknown.
 */
export function overMemory(
  { path, place }: PlaceOfLongRecord,
  job: ReadSettings,
  byteLength: string,
  neededBytes: number,
  knownBytes = neededBytes,
): InputError {
  const long = { recordBytes: neededBytes, decoderBytes: readStateOf(job).decoderMemory.reservedBytes };
  const message = `${inputName(path)}: ${place} has ${byteLength} bytes and does not fit the memory budget; expected \`memoryBytes\` of at least ${memoryFor(job.memoryNeed, long)}`;
  return mayHaveRoomFor(job.memoryNeed, { ...long, recordBytes: knownBytes })
    ? new RecordOverMemoryError(message)
    : new InputError('ERR_RECORD_TOO_LONG', message);
}
