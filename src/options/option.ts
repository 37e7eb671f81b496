/**
 * An entry of the schema: the type of an option, its check, the flags that give it, what it excludes, and what a resumed
 * job must have in common with the unfinished one. The types of the library, the parser of the command, its refusals,
 * help, completion and manual come from the entries.
 */
import { UsageError } from '../errors.js';
import type { ShuffleSpec } from '../spec.js';
import type { Flag } from '../values/flag.js';
import type { Check } from '../values/known-options.js';

/** The groups in the order of the help. */
export const OPTION_GROUPS = [
  'Output',
  'Order',
  'Store',
  'Epochs',
  'Records',
  'Input',
  'Tasks',
  'Slurm',
  'Machine',
  'Resume',
  'Progress',
] as const;

export type OptionGroup = (typeof OPTION_GROUPS)[number];

interface Rules<T> {
  /** How the value is checked. Absent: where it is used. */
  readonly check?: Check;
  /** The value that is as none. */
  readonly neutral?: T;
  /**
   * Options that it does not go with, or parts of them that decide (`shards.maxShardBytes`, `records.npy`), each with
   * the refusal. A third option may make it possible.
   */
  readonly excludes?: readonly (readonly [other: string, refusal: string, unless?: string])[];
  /** The options of which one must be given, too; else the refusal. */
  readonly needs?: readonly [others: readonly string[], refusal: string];
  /**
   * The values that must be the same in a job that is resumed. `isCut`: the output is being cut, or its places are
   * noted.
   */
  readonly resumes?: readonly [what: string, of: (spec: ShuffleSpec, isCut: boolean) => unknown];
  /** The library checks it even if it is not given. */
  readonly isNeeded?: true;
  /** A call of the command must have it. */
  readonly isRequired?: true;
  /**
   * The word of a choice: of the flags of all options with the same word at most one may be given. Absent: the name of
   * the option.
   */
  readonly choice?: string;
}

/** A flag of an option. */
export interface OptionFlag extends Flag {
  /** The option that it gives, with the part of it: `shards.shardCount`. */
  readonly sets: string;
  readonly choice: string;
  readonly isRequired: boolean;
  readonly group: OptionGroup;
}

/**
 * The part of an entry that the published types have.
 *
 * @typeParam Typed what its flags give: another type if the command makes the value of it, such as of the name of a file.
 */
export interface Option<T = unknown, Typed = T> {
  readonly check?: Check;
  readonly isNeeded?: true;
  /** Never there: it carries the types. */
  readonly types?: readonly [T, Typed];
}

interface Entry extends Rules<unknown> {
  readonly flags: readonly Flag[];
  readonly group?: OptionGroup;
}

export type Schema = Readonly<Record<string, Option>>;

/** The rules with the flag that gives the option, if that is one. */
type OptionDefinition<T, Typed> = Rules<T> & (Flag<Typed> | { readonly name?: never });

/** An option of the type `T`, with the other flags that give it. Its group completes the flags. */
export function option<T, Typed = T>(
  given: OptionDefinition<T, Typed>,
  ...flags: readonly Flag<Typed>[]
): Option<T, Typed> {
  const entry = { ...given, flags: given.name === undefined ? flags : [given, ...flags] };
  return entry;
}

export function entriesOf(schema: Schema): readonly (readonly [name: string, entry: Entry])[] {
  return Object.entries(schema) as [string, Option & Entry][];
}

/** Options of one group of the help, by their names. */
export function optionGroup<Entries extends Schema>(group: OptionGroup, entries: Entries): Entries {
  for (const [, entry] of entriesOf(entries)) Object.assign(entry, { group });
  return entries;
}

const completed = new WeakMap<Entry, readonly OptionFlag[]>();

/** The flags of these options, in the order of the help. The flags of an entry are the same objects each time. */
export function flagsIn(schema: Schema): readonly OptionFlag[] {
  const flags = entriesOf(schema).flatMap(([name, entry]) => {
    const known = completed.get(entry) ?? completedFlags(name, entry);
    completed.set(entry, known);
    return known;
  });
  return OPTION_GROUPS.flatMap((group) => flags.filter((flag) => flag.group === group));
}

function completedFlags(
  name: string,
  { flags, group = 'Output', choice = name, isRequired }: Entry,
): readonly OptionFlag[] {
  return flags.map((flag) => {
    const sets = flag.part === undefined ? name : `${name}.${flag.part}`;
    return { ...flag, choice, isRequired: isRequired === true, group, sets };
  });
}

export function pick<Entries extends Schema, Name extends keyof Entries & string>(
  entries: Entries,
  ...names: readonly Name[]
): Pick<Entries, Name> {
  return Object.fromEntries(names.map((name) => [name, entries[name]])) as unknown as Pick<Entries, Name>;
}

/** All but these options. */
export function omit<Entries extends Schema, Name extends keyof Entries & string>(
  entries: Entries,
  ...names: readonly Name[]
): Omit<Entries, Name> {
  const others = Object.keys(entries).filter((name) => !names.some((each) => each === name));
  return pick<Schema, string>(entries, ...others) as unknown as Omit<Entries, Name>;
}

/** The options of the library, none of which must be given. */
export type OptionsOf<Entries> = {
  readonly [Name in keyof Entries]?: (Entries[Name] extends Option<infer T, unknown> ? T : never) | undefined;
};

/** The options that the command has: each that was typed. */
export type TypedOptions<Entries> = {
  readonly [Name in keyof Entries]?: Entries[Name] extends Option<unknown, infer Typed> ? Typed : never;
};

/** @throws UsageError if two of the options do not go together, or one is missing. */
export function refuseContradictions(schema: Schema, options: object): void {
  const given = new Map<string, unknown>(Object.entries(options));
  const entries = new Map(entriesOf(schema));
  const isGiven = (path: string) => {
    const [name = '', part] = path.split('.');
    const value = given.get(name);
    if (part !== undefined) return hasPart(value, part);
    return value !== undefined && value !== false && value !== entries.get(name)?.neutral;
  };
  for (const [name, { excludes = [], needs }] of entries) {
    if (!isGiven(name)) continue;
    const excluded = excludes.find(([other, , unless]) => isGiven(other) && !(unless !== undefined && isGiven(unless)));
    if (excluded !== undefined) throw new UsageError(excluded[1]);
    if (needs !== undefined && !needs[0].some(isGiven)) throw new UsageError(needs[1]);
  }
}

function hasPart(value: unknown, part: string): boolean {
  if (typeof value !== 'object' || value === null) return false;
  return (
    ('by' in value && value.by === part) || new Map<string, unknown>(Object.entries(value)).get(part) !== undefined
  );
}

/** Returns what must be the same when a job is resumed, in words. */
export function resumedValues(
  schema: Schema,
  spec: ShuffleSpec,
  isCut: boolean,
): readonly (readonly [string, unknown])[] {
  return entriesOf(schema).flatMap(([, { resumes }]) =>
    resumes === undefined ? [] : [[resumes[0], resumes[1](spec, isCut)] as const],
  );
}
