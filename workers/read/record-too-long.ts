/** The errors for a record that is longer than the limit, or than the memory. */
import { counted, InputError, RecordOverMemoryError } from '../../src/errors.js';
import { inputName } from '../../src/io/input-source.js';
import { memoryForRecord } from '../../src/plan/pass2-memory.js';
import type { ReadSettings } from '../settings.js';

/** Where the record begins. */
export interface RecordPlace {
  readonly path: string;
  readonly position: number;
}

export function overLimit({ path, position }: RecordPlace, { maxRecordBytes }: ReadSettings): InputError {
  return new InputError(
    'ERR_RECORD_TOO_LONG',
    `${inputName(path)}: the record at byte ${position} is longer than the ${counted(maxRecordBytes, 'byte')} that \`maxRecordBytes\` allows; raise it, or check that the records end as expected`,
  );
}

/**
 * @param byteLength of the record, as far as it is known.
 * @param neededBytes of the record; a guess if its end is unknown.
 */
export function overMemory(
  { path, position }: RecordPlace,
  { memoryNeed }: ReadSettings,
  byteLength: string,
  neededBytes: number,
): RecordOverMemoryError {
  return new RecordOverMemoryError(
    `${inputName(path)}: the record at byte ${position} has ${byteLength} bytes and does not fit the memory budget; expected \`memoryBytes\` of at least ${memoryForRecord(memoryNeed, neededBytes)}`,
  );
}
