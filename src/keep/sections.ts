/**
 * `each`: one set of shards for each value of the records, in directories that are called as those of Hive. The records of a
 * value are a section of the order. A section has a range of pile keys, as wide as its share in a sample of the inputs: so
 * piles are about as large as without sections. Where pile keys lie decides no byte of the output. Pure.
 */
import { InputError, UsageError } from '../errors.js';
import type { Selector, ValueRule } from '../formats/selector.js';

export interface SectionSpec {
  /** The value whose records make a section. Absent: the output is not divided by values. */
  readonly each?: SectionRule | undefined;
}

/** Returns the first part of the names of directories. Undefined: there are no sections. */
export function sectionNameOf(cut: object | SectionSpec): string | undefined {
  return 'each' in cut ? cut.each?.name : undefined;
}

export interface SectionRule {
  readonly value: ValueRule;
  /** The first part of the names of directories, as they have it. */
  readonly name: string;
  /** The ranges of the values in the sample. Empty until it is taken. */
  readonly ranges: readonly SectionRange[];
}

/** A range of pile keys, for the records of one value. */
interface SectionRange {
  readonly text: string;
  readonly firstKey: bigint;
  readonly width: bigint;
}

/** More values are a mistake, and directories that nobody looks at. */
export const MOST_SECTIONS = 10_000;
const KEYS = 2n ** 64n;
/** The least part of the keys for values that the sample has not. */
const LEAST_UNSEEN = 1 / 64;

/** The records of a value in a sample. */
export type SampledValues = ReadonlyMap<string, { readonly records: number; readonly bytes: number }>;

/**
 * Returns the ranges of the values in a sample. About as many bytes have values that it lacks as have values that it has once
 * (Good, "The population frequencies of species", Biometrika 1953).
 */
export function sectionRanges(sample: SampledValues): readonly SectionRange[] {
  const bytesOf = (all: SampledValues) => [...all.values()].reduce((sum, { bytes }) => sum + bytes, 0);
  const once = new Map([...sample].filter(([, { records }]) => records === 1));
  const all = bytesOf(sample);
  const unseen = Math.min(1 / 2, Math.max(LEAST_UNSEEN, bytesOf(once) / Math.max(1, all)));
  const keys = BigInt(Number(KEYS) * (1 - unseen));
  let firstKey = 0n;
  return [...sample].slice(0, MOST_SECTIONS).map(([text, { bytes }]) => {
    const range = { text, firstKey, width: (keys * BigInt(bytes)) / BigInt(all) };
    firstKey += range.width;
    return range;
  });
}

/** Returns the range of a value, by its text. Values that the sample has not have one key, behind the others. */
export type RangeOfSection = (text: string) => Pick<SectionRange, 'firstKey' | 'width'>;

export function rangesOf({ ranges }: Pick<SectionRule, 'ranges'>): RangeOfSection {
  const known = new Map(ranges.map((range) => [range.text, range]));
  const first = ranges.reduce((end, { width }) => end + width, 0n);
  return (text) => known.get(text) ?? { firstKey: first + ((hashOf(text) * (KEYS - first)) >> 64n), width: 1n };
}

/** Returns a hash of 64 bits: FNV-1a, whose lower bits are brought up. Values of one hash are refused. */
function hashOf(text: string): bigint {
  const step = (hash: bigint, byte: number) => ((hash ^ BigInt(byte)) * 0x100000001b3n) & (KEYS - 1n);
  return (Buffer.from(text, 'latin1').reduce(step, 0xcbf29ce484222325n) * 0x9e3779b97f4a7c15n) & (KEYS - 1n);
}

/** The records of one value, or those that write it in one way. */
export interface SectionTally {
  /** A character for each byte of the value: a quote and its characters, or what JSON has for others. */
  readonly text: string;
  readonly records: number;
  readonly bytes: number;
  readonly checksum: string;
}

/** The directory of records with null, or with no characters, as in Hive. */
const NO_VALUE = '__HIVE_DEFAULT_PARTITION__';
// biome-ignore lint/suspicious/noControlCharactersInRegex: Hive escapes them.
const ESCAPED = /[\x01-\x1f\x7f"#%'*/:=?\\{[\]^]/g;
const LONGEST_NAME_BYTES = 255;
/** The file that says that all is complete has a longer name. */
const MOST_NAME_BYTES = 200;

/** Returns the name of the directory of a value. @param text as `SectionTally` has it. */
export function sectionDirectory({ name }: Pick<SectionRule, 'name'>, text: string): string {
  const bytes = Buffer.from(text, 'latin1');
  const characters = text.startsWith('"') ? bytes.subarray(1) : bytes;
  const directory = `${name}=${text === 'null' || text === '"' ? NO_VALUE : escaped(characters)}`;
  if (!directory.includes('\0') && Buffer.byteLength(directory) <= LONGEST_NAME_BYTES) return directory;
  throw new InputError(
    'ERR_VALUES_UNFIT',
    `the value ${JSON.stringify(characters.toString('utf8', 0, 80))} of \`each\` can name no directory: it has ${directory.includes('\0') ? 'a NUL' : `${Buffer.byteLength(directory)} bytes with what is escaped`}; expected at most ${LONGEST_NAME_BYTES} bytes without a NUL`,
  );
}

function escaped(bytes: Buffer): string {
  const code = (character: string) => `%${character.charCodeAt(0).toString(16).toUpperCase().padStart(2, '0')}`;
  const characters = bytes.toString();
  if (Buffer.from(characters).equals(bytes)) return characters.replace(ESCAPED, code);
  return bytes
    .toString('latin1')
    .replace(ESCAPED, code)
    .replace(/[\x80-\xff]/g, code);
}

/** Returns whether a part of the output is a section: no split has such a name. */
export function isSectionName(name: string): boolean {
  return name.includes('=');
}

/** Returns the characters of a value by the name of its directory. Null: it has none. */
export function valueOfDirectory(directory: string): string | null {
  const text = directory.slice(directory.indexOf('=') + 1);
  if (text === NO_VALUE) return null;
  const bytes = Buffer.from(text).toString('latin1');
  const unescaped = bytes.replace(/%([0-9A-F]{2})/g, (_, hex: string) => String.fromCharCode(Number.parseInt(hex, 16)));
  return Buffer.from(unescaped, 'latin1').toString();
}

/** Returns the first part of the names of directories. @param given else the selector says it. */
export function completeSectionName(given: string | undefined, selector: Selector): string {
  const name = escaped(Buffer.from(given ?? nameOfSelector(selector)));
  // Programs that read directories of Hive skip hidden ones.
  if (/^[^.\0][^\0]*$/.test(name) && Buffer.byteLength(name) <= MOST_NAME_BYTES) return name;
  throw new UsageError(
    `\`each\` would write directories ${JSON.stringify(`${name}=...`)}; expected a name of 1 to ${MOST_NAME_BYTES} bytes, no dot first: give one, as in source=.site`,
  );
}

function nameOfSelector(selector: Selector): string {
  if (selector.kind === 'field') return selector.path.at(-1) ?? '';
  if (selector.kind === 'column' && typeof selector.column === 'string') return selector.column;
  return selector.kind === 'key' ? 'key' : 'value';
}

export function tooManySectionsError({ value }: Pick<SectionRule, 'value'>, count: number): InputError {
  return new InputError(
    'ERR_VALUES_UNFIT',
    `\`each\` ${value.selector.text} has found ${count} different values; expected at most ${MOST_SECTIONS}, which together take at most 400 kB: choose a value of which there are fewer, or a part of it by an expression`,
  );
}
