/** The error for two samples of one key. Readers take them for one sample where they are neighbours. */
import { InputError } from '../errors.js';
import { inputName } from '../io/input-source.js';

/** Where a sample is. */
export interface SamplePlace {
  readonly inputOrdinal: number;
  /** Of the input. */
  readonly path: string;
  /** Where it begins in the decoded input; undefined: unknown. */
  readonly position?: number | undefined;
}

const ONCE_IN_ALL = 'expected each key once in all inputs: pack each tar file with a directory of its own';

/** The same where nobody knows the places. */
export function repeatedKeySomewhere(key: string, problem: string): InputError {
  return new InputError(
    'ERR_SAMPLE_KEY_REPEATED',
    `two samples have the key ${shownKey(key)}${problem}; ${ONCE_IN_ALL}`,
  );
}

function shownKey(key: string): string {
  return JSON.stringify(Buffer.from(key, 'latin1').toString());
}

/**
 * @param key as latin1.
 * @param problem completes "A and B have the key K", or "A has samples of the key K".
 */
export function repeatedKey(key: string, places: readonly [SamplePlace, SamplePlace], problem: string): InputError {
  const shown = shownKey(key);
  const [one, other] = places;
  const isOneInput = one.inputOrdinal === other.inputOrdinal;
  const who = isOneInput
    ? `${inputName(one.path)}: two samples${positionsOf(places)}`
    : `${nameOf(one)} and ${nameOf(other)}: a sample of each`;
  const remedy = isOneInput
    ? 'expected each key once, and the members of a sample side by side, as `tar --sort=name` packs them'
    : ONCE_IN_ALL;
  return new InputError(
    'ERR_SAMPLE_KEY_REPEATED',
    `${who} ${isOneInput ? 'have' : 'has'} the key ${shown}${problem}; ${remedy}`,
  );
}

function nameOf({ path, position }: SamplePlace): string {
  return position === undefined ? inputName(path) : `${inputName(path)} (byte ${position})`;
}

function positionsOf([one, other]: readonly [SamplePlace, SamplePlace]): string {
  return one.position === undefined ? '' : ` (at bytes ${one.position} and ${other.position})`;
}
