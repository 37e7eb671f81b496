/**
 * The options of the library's calls, each with the check of its value. To add an option, add it here, to its type in
 * options.ts, and to the table of the command's options. What an option excludes is in contradictions.ts.
 */
import { UsageError } from '../errors.js';
import { MOST_GLOB_CHARACTERS } from '../io/list-files.js';
import { type Check, flag, isPath, type OptionNames, oneOf, path, paths, whole } from '../known-options.js';
import { MOST_PILES } from '../piles/pile-layout.js';
import type {
  AppendOptions,
  IndexOptions,
  ShuffleOptions,
  ShuffleStoreOptions,
  ShuffleTogetherOptions,
} from './options.js';

/** The kernel addresses 4 GiB, of which half may be pile buffers. */
const LARGEST_MAX_RECORD_BYTES = 2 ** 31 - 2 ** 26;
export const MOST_WORKERS = 1024;
const MOST_MISSING_BYTES = 4096;

const globs: Check = (value, option) => {
  if (!Array.isArray(value)) throw new UsageError(`${option}: expected an array of glob patterns`);
  for (const glob of value) requireGlob(`${option}: expected each`, glob);
};

/** @param what the message begins with this. */
export function requireGlob(what: string, glob: unknown): void {
  const isGlob = typeof glob === 'string' && glob !== '' && glob.length <= MOST_GLOB_CHARACTERS && !glob.includes('\0');
  if (!isGlob)
    throw new UsageError(`${what} to be a path or a glob pattern, of 1 to ${MOST_GLOB_CHARACTERS} characters`);
}

/** Seeds and ids are hashed as UTF-8, where every unpaired surrogate becomes the same character. */
function isWellFormed(text: string): boolean {
  return Buffer.from(text).toString() === text;
}

export const seedText: Check = (value, option) => {
  if (typeof value !== 'string') throw new UsageError(`${option}: expected a string`);
  if (!isWellFormed(value)) throw new UsageError(`${option}: expected well-formed Unicode, without half pairs`);
};

const inputIds: Check = (value, option) => {
  const isRule = Array.isArray(value)
    ? value.every((id) => isPath(id) && isWellFormed(id))
    : value === 'ordinal' || value === 'path' || value === 'name';
  if (!isRule)
    throw new UsageError(`${option}: expected 'ordinal', 'path', 'name', or an array of strings that are not empty`);
};

const selector: Check = (value, option) => {
  if (typeof value !== 'string') throw new UsageError(`${option}: expected a string`);
};

const missing: Check = (value, option) => {
  if (typeof value !== 'string' || Buffer.byteLength(value) > MOST_MISSING_BYTES)
    throw new UsageError(`${option}: expected a string of at most ${MOST_MISSING_BYTES} bytes`);
};

const header: Check = (value, option) => {
  const names = typeof value === 'object' && value !== null ? Object.keys(value) : [];
  if (names.length !== 1 || !['lines', 'bytes', 'prefix'].includes(names[0] ?? ''))
    throw new UsageError(`${option}: expected an object with one of \`lines\`, \`prefix\` and \`bytes\``);
};

const decompressProgram: Check = (value, option) => {
  const isProgram =
    Array.isArray(value) &&
    value.every((word) => typeof word === 'string' && !word.includes('\0')) &&
    value[0] !== undefined &&
    value[0] !== '';
  if (value !== 'none' && !isProgram)
    throw new UsageError(`${option}: expected 'none', or an array of a program and its arguments, without NUL`);
};

const shardPrefix: Check = (value, option) => {
  if (typeof value === 'string' && value !== '' && !/[/\0]/.test(value)) return;
  throw new UsageError(
    `${option} ${JSON.stringify(value)} cannot be part of a file name; expected one without / and NUL`,
  );
};

const ioLimits: Check = (value, option) => {
  for (const [place, limit] of Object.entries(Object(value))) whole(1, 2 ** 16)(limit, `${option} ${place}`);
};

const RECORDS = {
  records: true,
  zeroTerminated: flag,
  header,
  maxRecordBytes: whole(1, LARGEST_MAX_RECORD_BYTES),
} as const;
export const CHOICE_OPTIONS = { hidden: flag, include: globs, exclude: globs } as const;
const DECODING = { decompressProgram, igzip: flag } as const;
const OUTPUT = {
  output: path,
  headCount: whole(0),
  splits: true,
  shards: true,
  compress: true,
  shardPrefix,
  force: flag,
} as const;
const TEMP = { tempDirs: paths, tempCompress: true } as const;
const MACHINE = { memoryBytes: whole(1), workers: whole(1, MOST_WORKERS), ioLimits } as const;
const TALK = { signal: true, onProgress: true, onWarning: true } as const;
/** How records are read, and what the call may use. */
export const READING_OPTIONS = { ...RECORDS, ...DECODING, ...MACHINE, ...TALK } as const;

export const SHUFFLE_OPTIONS: OptionNames<ShuffleOptions> = {
  inputs: true,
  inputIds,
  keys: oneOf('position', 'ordinal'),
  seed: seedText,
  repeat: flag,
  splitBy: selector,
  missing,
  weights: true,
  mix: true,
  unique: flag,
  uniqueBy: selector,
  skipBlank: flag,
  resume: flag,
  jobDir: path,
  keepTemp: flag,
  onProfile: true,
  report: true,
  ...CHOICE_OPTIONS,
  ...RECORDS,
  ...DECODING,
  ...OUTPUT,
  ...TEMP,
  ...MACHINE,
  ...TALK,
};

/** `header` is refused in words of its own. */
export const APPEND_OPTIONS: OptionNames<AppendOptions & Pick<ShuffleOptions, 'header'>> = {
  inputs: true,
  inputIds,
  generation: true,
  replace: flag,
  seed: seedText,
  piles: whole(1, MOST_PILES),
  expectedBytes: whole(1),
  ...CHOICE_OPTIONS,
  skipBlank: flag,
  ...RECORDS,
  ...DECODING,
  ...MACHINE,
  ...TALK,
};

export const SHUFFLE_STORE_OPTIONS: OptionNames<ShuffleStoreOptions> = {
  onProfile: true,
  ...OUTPUT,
  ...TEMP,
  ...MACHINE,
  ...TALK,
};

export const INDEX_OPTIONS: OptionNames<IndexOptions> = { index: path, ...RECORDS, ...MACHINE, ...TALK };

export const SHUFFLE_TOGETHER_OPTIONS: OptionNames<ShuffleTogetherOptions> = {
  together: true,
  output: path,
  headCount: OUTPUT.headCount,
  splits: true,
  shards: true,
  compress: true,
  force: flag,
  seed: seedText,
  resume: flag,
  ...RECORDS,
  ...DECODING,
  ...TEMP,
  ...MACHINE,
  ...TALK,
};
