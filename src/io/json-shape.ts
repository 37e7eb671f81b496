/**
 * The shape of a JSON value, as a value: `object({ pileCount: wholeNumber(1, 65536) })` both checks and gives the
 * checked value its type. Strict: an object has the fields it should have and no others.
 *
 * A shape goes no deeper into a value than it is deep itself, and gives a new value, so that keys such as `__proto__`
 * reach nothing.
 */
import { inDigits } from '../errors.js';
import { damagedFileError, JOB_REMEDY, type Remedy } from './sealed-file.js';

export type Shape<T> = (value: unknown, place: JsonPlace) => T;

interface JsonPlace {
  readonly file: string;
  /** Path in the JSON, such as `plan.inputs[2].path`; empty at the top. */
  readonly inside: string;
  readonly remedy: Remedy;
  /** Makes the error when the value is not read from a file. */
  readonly refuse?: (problem: string) => Error;
}

export type ValueOf<S> = S extends Shape<infer T> ? T : never;

const LONGEST_SHOWN_CHARACTERS = 40;

/** @throws VerificationError that names the file, the place in it, what was expected and what is there. */
export function readShape<T>(shape: Shape<T>, value: unknown, file: string, remedy: Remedy = JOB_REMEDY): T {
  return shape(value, { file, inside: '', remedy });
}

/**
 * Reads a value that is in no file. @param refuse makes the error of what is wrong: `record: expected ..., got "x"`.
 */
export function readValue<T>(shape: Shape<T>, value: unknown, refuse: (problem: string) => Error): T {
  return shape(value, { file: '', inside: '', remedy: JOB_REMEDY, refuse });
}

function plain<T>(expected: string, test: (value: unknown) => value is T): Shape<T> {
  return (value, place) => {
    if (test(value)) return value;
    throw unexpected(expected, value, place);
  };
}

export function wholeNumber(least = 0, most = Number.MAX_SAFE_INTEGER): Shape<number> {
  return plain(
    least === most ? `the number ${least}` : `a whole number from ${least} to ${most}`,
    (value): value is number =>
      typeof value === 'number' && Number.isSafeInteger(value) && value >= least && value <= most,
  );
}

export const amount = plain(
  'a number from 0 on',
  (value): value is number => typeof value === 'number' && Number.isFinite(value) && value >= 0,
);

export const text = plain('a text', (value) => typeof value === 'string');

export const checksumText = plain(
  '16 hex digits',
  (value): value is string => typeof value === 'string' && /^[0-9a-f]{16}$/.test(value),
);

export const wholeOfAnySize = plain('a whole number', (value) => typeof value === 'bigint');

/** Cannot lead out of a directory. */
export const fileName = plain(
  'the name of a file',
  (value): value is string => typeof value === 'string' && !/^\.{0,2}$|[/\0]/.test(value),
);

/** Leads to a file in a directory, or in a directory there. */
export const placeBelow = plain(
  'the name of a file, perhaps in a directory',
  (value): value is string =>
    typeof value === 'string' && /^[^/\0]+(?:\/[^/\0]+)?$/.test(value) && !/(?:^|\/)\.{1,2}(?:$|\/)/.test(value),
);

/** Takes any value of a sealed file as the one that was sealed: for values of one version alone. */
export function asSealed<T extends object>(): Shape<T> {
  return plain('an object', (value): value is T => typeof value === 'object' && value !== null);
}

export const flag = plain('true or false', (value) => typeof value === 'boolean');

export function optional<T>(shape: Shape<T>): Shape<T | undefined> {
  return (value, place) => (value === undefined ? undefined : shape(value, place));
}

export function nullable<T>(shape: Shape<T>): Shape<T | null> {
  return (value, place) => (value === null ? null : shape(value, place));
}

export function oneOf<const Texts extends readonly string[]>(...texts: Texts): Shape<Texts[number]> {
  return (value, place) => {
    const found = texts.find((known) => known === value);
    if (found !== undefined) return found;
    throw unexpected(`one of ${texts.join(', ')}`, value, place);
  };
}

export function list<T>(shape: Shape<T>): Shape<readonly T[]> {
  return (value, place) => {
    if (!Array.isArray(value)) throw unexpected('a list', value, place);
    return value.map((item: unknown, index) => shape(item, { ...place, inside: `${place.inside}[${index}]` }));
  };
}

export function object<const Fields extends Readonly<Record<string, Shape<unknown>>>>(
  fields: Fields,
): Shape<{ readonly [Name in keyof Fields]: ValueOf<Fields[Name]> }> {
  const expected = new Map<string, Shape<unknown>>(Object.entries(fields));
  return (value, place) => {
    if (typeof value !== 'object' || value === null || Array.isArray(value)) {
      throw unexpected('an object', value, place);
    }
    const found = new Map<string, unknown>(Object.entries(value));
    for (const name of found.keys()) {
      if (!expected.has(name)) throw damagedJsonError(place, `expected no field ${show(name)}`);
    }
    const checked = [...expected].map(([name, shape]): [string, unknown] => {
      const inside = place.inside === '' ? name : `${place.inside}.${name}`;
      return [name, shape(found.get(name), { ...place, inside })];
    });
    return Object.fromEntries(checked) as { readonly [Name in keyof Fields]: ValueOf<Fields[Name]> };
  };
}

function unexpected(expected: string, value: unknown, place: JsonPlace) {
  return damagedJsonError(place, `expected ${expected}, got ${show(value)}`);
}

function damagedJsonError({ file, inside, remedy, refuse }: JsonPlace, problem: string): Error {
  const inPlace = inside === '' ? problem : `${inside}: ${problem}`;
  return refuse === undefined ? damagedFileError(file, inPlace, remedy) : refuse(inPlace);
}

function show(value: unknown): string {
  if (value === undefined) return 'nothing';
  if (Array.isArray(value)) return 'a list';
  if (typeof value === 'object' && value !== null) return 'an object';
  if (typeof value === 'number') return inDigits(value);
  if (typeof value !== 'string') return String(value);
  return value.length <= LONGEST_SHOWN_CHARACTERS
    ? JSON.stringify(value)
    : `${JSON.stringify(value.slice(0, LONGEST_SHOWN_CHARACTERS))}...`;
}
