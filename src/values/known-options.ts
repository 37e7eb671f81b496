/**
 * The options of a call: their names, and what each may be. A misspelled option would be ignored, and the job would
 * silently use the default: unknown options are refused. Callers without types may pass anything.
 */
import { requireWhole, UsageError } from '../errors.js';

/** Throws a UsageError that begins with the option, which is in backquotes. */
export type Check = (value: unknown, option: string) => void;

/** How the value is checked: always if the option is needed. True, or no check: where it is used. */
type OptionRule = true | Check | { readonly check?: Check; readonly isNeeded?: true };

/** The options of one kind: the compiler refuses a list that lacks one. */
export type OptionNames<Options> = Readonly<Record<keyof Options, OptionRule>>;

/** `OptionNames` of each object in a union that `by` tells apart. */
export type OptionNamesBy<Choice extends { readonly by: string }> = {
  readonly [By in Choice['by']]: OptionNames<Extract<Choice, { readonly by: By }>>;
};

/**
 * @param owner has the options: `shuffle()`, or an option in backquotes that is an object.
 * @param path of an option that is an object, such as `shards.`
 */
export function requireKnownOptions(
  owner: string,
  given: unknown,
  names: Readonly<Record<string, OptionRule>>,
  path = '',
): void {
  if (typeof given !== 'object' || given === null) {
    const found = given === null ? 'null' : typeof given;
    throw new UsageError(`${owner}: expected an object with options, got ${found}`);
  }
  const unknown = Object.keys(given).find((name) => !Object.hasOwn(names, name));
  if (unknown === undefined) {
    const values = new Map<string, unknown>(Object.entries(given));
    for (const [name, rule] of Object.entries(names)) checkValue(values.get(name), rule, `\`${path}${name}\``);
    return;
  }
  const known = Object.keys(names);
  const nearest = nearestTo(unknown, known);
  const advice = nearest === undefined ? `expected one of ${known.join(', ')}` : `did you mean \`${nearest}\`?`;
  throw new UsageError(`${owner} has no option ${JSON.stringify(unknown).replace(/^"|"$/g, '`')}; ${advice}`);
}

function checkValue(value: unknown, rule: OptionRule, option: string): void {
  const { check, isNeeded = false } = rule === true ? {} : typeof rule === 'object' ? rule : { check: rule };
  if (value !== undefined || isNeeded) check?.(value, option);
}

function nearestTo(name: string, known: readonly string[]): string | undefined {
  const [nearest] = known
    .map((each) => ({ each, edits: editsBetween(lettersOf(name), lettersOf(each)) }))
    .sort((a, b) => a.edits - b.edits);
  return nearest !== undefined && nearest.edits <= Math.max(1, name.length / 3) ? nearest.each : undefined;
}

/** Returns the letters, so that `max-record-bytes` is like `maxRecordBytes`. */
function lettersOf(name: string): string {
  return name.toLowerCase().replace(/[^a-z]/g, '');
}

/** The letters to add, remove or replace; a beginning counts as one. */
export function editsBetween(a: string, b: string): number {
  if (a !== '' && (a.startsWith(b) || b.startsWith(a))) return a === b ? 0 : 1;
  let row = Array.from({ length: b.length + 1 }, (_, i) => i);
  for (const [i, letter] of [...a].entries()) {
    const next = [i + 1];
    for (const [j, other] of [...b].entries()) {
      const replaced = (row[j] ?? 0) + (letter === other ? 0 : 1);
      next.push(Math.min(replaced, (row[j + 1] ?? 0) + 1, (next[j] ?? 0) + 1));
    }
    row = next;
  }
  return row.at(-1) ?? 0;
}

export const trueOrFalse: Check = (value, option) => {
  if (typeof value !== 'boolean') throw new UsageError(`${option}: expected true or false`);
};

export const path: Check = (value, option) => {
  if (!isPath(value)) throw new UsageError(`${option}: expected a path that is not empty`);
};

export const paths: Check = (value, option) => {
  if (!Array.isArray(value) || !value.every(isPath)) throw new UsageError(`${option}: expected an array of paths`);
};

export function isPath(value: unknown): value is string {
  return typeof value === 'string' && value !== '';
}

export function whole(least: number, most?: number): Check {
  return (value, option) => requireWhole(option, value as number, least, most);
}

export function oneOfWords(...words: readonly string[]): Check {
  return (value, option) => {
    if (typeof value === 'string' && words.includes(value)) return;
    const known = words.map((word) => `'${word}'`);
    throw new UsageError(`${option} ${String(value)}: expected ${known.slice(0, -1).join(', ')} or ${known.at(-1)}`);
  };
}
