/** `repeat`: each place of the output takes a record that is drawn from all, with replacement. */
import { InputError } from '../errors.js';

export interface RepeatSpec {
  /** Whether records are drawn with replacement. */
  readonly repeat: boolean;
}

/** @param records of the inputs. @param places of the output. */
export function requireRecords(records: number, places: number): void {
  if (records === 0 && places > 0)
    throw new InputError('ERR_INPUT_EMPTY', 'the inputs have no record to repeat; expected at least one');
}
