/** A misspelled option would be ignored, and the job would silently use the default: unknown options are refused. */
import { UsageError } from './errors.js';

/** The names of all options of one kind: the compiler refuses a list that lacks one. */
export type OptionNames<Options> = Readonly<Record<keyof Options, true>>;

/** `OptionNames` of each object in a union that `by` tells apart. */
export type OptionNamesBy<Choice extends { readonly by: string }> = {
  readonly [By in Choice['by']]: OptionNames<Extract<Choice, { readonly by: By }>>;
};

/**
 * @param owner has the options: `shuffle()`, or an option in backquotes that is an object.
 * @param given callers without types may pass anything.
 */
export function requireKnownOptions(owner: string, given: unknown, names: Readonly<Record<string, unknown>>): void {
  if (typeof given !== 'object' || given === null) {
    const found = given === null ? 'null' : typeof given;
    throw new UsageError(`${owner}: expected an object with options, got ${found}`);
  }
  const unknown = Object.keys(given).find((name) => !Object.hasOwn(names, name));
  if (unknown === undefined) return;
  const known = Object.keys(names);
  const nearest = nearestTo(unknown, known);
  const advice = nearest === undefined ? `expected one of ${known.join(', ')}` : `did you mean \`${nearest}\`?`;
  throw new UsageError(`${owner} has no option ${JSON.stringify(unknown).replace(/^"|"$/g, '`')}; ${advice}`);
}

function nearestTo(name: string, known: readonly string[]): string | undefined {
  const [nearest] = known
    .map((each) => ({ each, edits: editsBetween(lettersOf(name), lettersOf(each)) }))
    .sort((a, b) => a.edits - b.edits);
  return nearest !== undefined && nearest.edits <= Math.max(1, name.length / 3) ? nearest.each : undefined;
}

/** So that `max-record-bytes` is like `maxRecordBytes`. */
function lettersOf(name: string): string {
  return name.toLowerCase().replace(/[^a-z]/g, '');
}

/** The letters to add, remove or replace; a beginning counts as one. */
function editsBetween(a: string, b: string): number {
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
