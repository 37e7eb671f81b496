/** Checks of values that callers of the library give. */
import { UsageError } from '../errors.js';
import { compressionOfOption } from '../formats/rows/parquet/table-output.js';
import { MOST_GLOB_CHARACTERS } from '../io/list-files.js';
import { requireEndpoint, requireObjectHeaders } from '../remote/address.js';
import { type Check, isPath, whole } from '../values/known-options.js';

/** The kernel addresses 4 GiB, of which half may be pile buffers. */
export const LARGEST_MAX_RECORD_BYTES = 2 ** 31 - 2 ** 26;
export const MOST_WORKERS = 1024;
const MOST_MISSING_BYTES = 4096;

export const globs: Check = (value, option) => {
  if (!Array.isArray(value)) throw new UsageError(`${option}: expected an array of glob patterns`);
  for (const glob of value) requireGlob(`${option}: expected each`, glob);
};

export const endpoint: Check = (value, option) => requireEndpoint(value, option);

export const objectHeaders: Check = (value, option) => requireObjectHeaders(value, option);

export const columns: Check = (value, option) => {
  if (!Array.isArray(value) || value.length === 0 || !value.every(isPath))
    throw new UsageError(`${option}: expected an array of names of columns`);
  const twice = value.find((name, i) => value.indexOf(name) !== i);
  if (twice !== undefined) throw new UsageError(`${option} names ${twice} twice; name it once`);
};

/** Returns the codec with its level, also where nobody named one. */
export function parquetCodec(value: unknown): object {
  return compressionOfOption(value as Parameters<typeof compressionOfOption>[0]);
}

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

export const inputIds: Check = (value, option) => {
  const isRule = Array.isArray(value)
    ? value.every((id) => isPath(id) && isWellFormed(id))
    : value === 'ordinal' || value === 'path' || value === 'name';
  if (!isRule)
    throw new UsageError(`${option}: expected 'ordinal', 'path', 'name', or an array of strings that are not empty`);
};

export const selector: Check = (value, option) => {
  if (typeof value !== 'string') throw new UsageError(`${option}: expected a string`);
};

export const missing: Check = (value, option) => {
  if (typeof value !== 'string' || Buffer.byteLength(value) > MOST_MISSING_BYTES)
    throw new UsageError(`${option}: expected a string of at most ${MOST_MISSING_BYTES} bytes`);
};

export const header: Check = (value, option) => {
  const names = typeof value === 'object' && value !== null ? Object.keys(value) : [];
  if (names.length !== 1 || !['lines', 'bytes', 'prefix'].includes(names[0] ?? ''))
    throw new UsageError(`${option}: expected an object with one of \`lines\`, \`prefix\` and \`bytes\``);
};

export const decompressProgram: Check = (value, option) => {
  const isProgram =
    Array.isArray(value) &&
    value.every((word) => typeof word === 'string' && !word.includes('\0')) &&
    value[0] !== undefined &&
    value[0] !== '';
  if (value !== 'none' && !isProgram)
    throw new UsageError(`${option}: expected 'none', or an array of a program and its arguments, without NUL`);
};

export const shardPrefix: Check = (value, option) => {
  if (typeof value === 'string' && value !== '' && !/[/\0]/.test(value)) return;
  throw new UsageError(
    `${option} ${JSON.stringify(value)} cannot be part of a file name; expected one without / and NUL`,
  );
};

export const ioLimits: Check = (value, option) => {
  for (const [place, limit] of Object.entries(Object(value))) whole(1, 2 ** 16)(limit, `${option} ${place}`);
};
