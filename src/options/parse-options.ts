/** Values of single options as people type them; `parse-values.ts` has the others. */
import { UsageError } from '../errors.js';
import type { SplitRule } from '../keep/splits.js';
import { readMemory } from '../machine/limits.js';
import type { ShardRule } from '../plan/shard-cuts.js';
import {
  parseCount,
  parsePairs,
  parsePath,
  parsePathAndValue,
  parseRecords,
  parseWords,
  requireSafe,
  UNITS_OF_RECORDS,
} from '../values/parse-values.js';
import { parseAmount, parseSize } from '../values/size.js';
import type { InputWeight, OutputCompression, ParquetCompression, SplitShards } from './values.js';

export interface InputList {
  readonly flag: string;
  /** A file, or `-` for standard input. */
  readonly path: string;
}

export type InputIdsChoice = 'ordinal' | 'path' | 'name' | { readonly file: string };

/** A whole number of at least 0, also with a unit. Of several, the smallest counts. No job has more than a number tells. */
export function parseHeadCount(text: string, flag: string, previous = Number.MAX_SAFE_INTEGER): number {
  const count = parseAmount(text);
  if (count === undefined)
    throw new UsageError(`${flag} ${text}: expected a whole number of at least 0, ${UNITS_OF_RECORDS}`);
  return Math.min(Number(count), previous);
}

const LARGEST_NUMBER = 2n ** 64n - 1n;

/** `LO-HI`, both included. `HI` may be one less than `LO`: such a range is empty. */
export function parseRange(text: string, flag: string): { readonly low: bigint; readonly high: bigint } {
  const [, low, high] = /^(\d+)-(\d+)$/.exec(text) ?? [];
  if (low === undefined || high === undefined)
    throw new UsageError(`${flag} ${text}: expected LO-HI, two whole numbers, as in 1-100`);
  const range = { low: BigInt(low), high: BigInt(high) };
  if (range.low > LARGEST_NUMBER || range.high > LARGEST_NUMBER)
    throw new UsageError(`${flag} ${text}: expected numbers of at most ${LARGEST_NUMBER}`);
  if (range.low > range.high + 1n) throw new UsageError(`${flag} ${text}: expected the lower number first`);
  return range;
}

/** `N`, or `NAME=N,NAME=N` for splits. */
export function parseShards(text: string, flag: string): ShardRule | SplitShards {
  if (!text.includes('=')) return { by: 'count', shardCount: parseCount(text, flag) };
  const counts = parsePairs(text, flag, 'NAME=N for each split, as in train=128,validation=1');
  const entries = counts.map(([name, count]): [string, number] => [name, parseCount(count, `${flag} ${name} =`)]);
  return { by: 'count', shardCount: Object.fromEntries(entries) };
}

/** `NAME=AMOUNT,NAME=AMOUNT`: a part of 1, a number of records, or `rest`. */
export function parseSplits(text: string, flag: string): readonly SplitRule[] {
  const expected = 'NAME=SHARE, NAME=RECORDS or NAME=rest for each split, as in train=0.98,validation=0.02';
  return parsePairs(text, flag, expected).map(([name, amount]): SplitRule => {
    if (amount === 'rest') return { name, rest: true };
    if (/^\d*\.\d+$/.test(amount)) return { name, share: Number(amount) };
    if (parseAmount(amount) !== undefined) return { name, records: parseRecords(amount, `${flag} ${name} =`) };
    throw new UsageError(
      `${flag} ${name}=${amount}: expected a share such as 0.02, a number of records such as 10000, or rest`,
    );
  });
}

/** Parses the path of a random source. Standard input is for records. */
export function parseSourcePath(text: string, flag: string): string {
  if (text !== '-') return parsePath(text, flag);
  throw new UsageError(`${flag} -: expected the name of a file; for standard input, name /dev/stdin`);
}

export function parseStandardOutput(text: string, flag: string): '-' {
  if (text === '-') return text;
  throw new UsageError(`${flag} ${text}: expected -, standard output; for a file, redirect it with >`);
}

/** `FILE,FILE`. Adds to `previous`. */
export function parseTogether(
  text: string,
  flag: string,
  previous: readonly (readonly string[])[] = [],
): readonly (readonly string[])[] {
  const paths = text.split(',');
  if (paths.length > 1 && !paths.includes('')) return [...previous, paths];
  throw new UsageError(`${flag} ${text}: expected two files or more with commas between, as in R1.fq,R2.fq`);
}

export function parseInputList(text: string, flag: string, previous: readonly InputList[] = []): readonly InputList[] {
  return [...previous, { flag, path: parsePath(text, flag) }];
}

export function parsePrefix(text: string, flag: string): string {
  if (text !== '' && !/[/\0]/.test(text)) return text;
  const expected = 'expected the first part of a file name, at least one character and no / or NUL';
  throw new UsageError(`${flag} ${text === '' ? "''" : text}: ${expected}; give the directory to --output`);
}

export function parseInputIds(text: string, flag: string): InputIdsChoice {
  if (text === 'ordinal' || text === 'path' || text === 'name') return text;
  const [, file] = /^file:(.+)$/s.exec(text) ?? [];
  if (file !== undefined && file !== '-') return { file };
  throw new UsageError(`${flag} ${text}: expected ordinal, path, name or file:FILE`);
}

/** `PATH=N`. Adds to `previous`. */
export function parseIoLimit(
  text: string,
  flag: string,
  previous: Readonly<Record<string, number>> = {},
): Readonly<Record<string, number>> {
  const [path, value] = parsePathAndValue(text, flag, 'PATH=N, such as /mnt/disk1=4');
  const limit = parseCount(value, `${flag} ${path}=N with N =`);
  // A path may be `__proto__`: only entries are safe.
  const known = new Map(Object.entries(previous));
  const former = known.get(path);
  if (former !== undefined && former !== limit) {
    throw new UsageError(`${flag} gives ${path} both ${former} and ${limit}; give one of them`);
  }
  return Object.fromEntries(known.set(path, limit));
}

/** `NAME: VALUE`. The library checks both. Adds to `previous`. */
export function parseHeader(
  text: string,
  flag: string,
  previous: Readonly<Record<string, string>> = {},
): Readonly<Record<string, string>> {
  const [, name, value] = /^([^\s:]+):\s*(.*?)\s*$/.exec(text) ?? [];
  if (name === undefined || value === undefined)
    throw new UsageError(`${flag}: expected NAME: VALUE, such as 'x-amz-acl: bucket-owner-full-control'`);
  return { ...previous, [name.toLowerCase()]: value };
}

/** `GLOB=FACTOR`. The library checks the factor. Adds to `previous`. */
export function parseWeight(text: string, flag: string, previous: readonly InputWeight[] = []): readonly InputWeight[] {
  const [glob, factor] = parsePathAndValue(text, flag, "GLOB=FACTOR, such as 'wiki*=2.5'");
  return [...previous, { glob, factor }];
}

export function parseMemory(text: string, flag: string): number {
  return parseSize(text, { flag, allowPercentOf: () => readMemory().totalBytes });
}

const WITH_LEVEL = /^(snappy|gzip|brotli|zstd|lz4)(?::(\d{1,3}))?$/;

/** `none`, or a codec, alone or with a level after a colon. The library knows the levels. */
export function parseCompression(text: string, flag: string): OutputCompression {
  if (text === 'none') return text;
  const [, codec, level] = WITH_LEVEL.exec(text) ?? [];
  if (codec === 'gzip' || codec === 'zstd') return level === undefined ? { codec } : { codec, level: Number(level) };
  throw new UsageError(`${flag} ${text}: expected none, gzip or zstd, with a level as in zstd:9`);
}

export function parseParquetCompression(text: string, flag: string): ParquetCompression {
  if (text === 'none') return text;
  const [, codec, level] = WITH_LEVEL.exec(text) ?? [];
  if (codec === 'snappy' || codec === 'gzip' || codec === 'brotli' || codec === 'zstd' || codec === 'lz4')
    return level === undefined ? { codec } : { codec, level: Number(level) };
  throw new UsageError(`${flag} ${text}: expected none, snappy, gzip, brotli, zstd or lz4, with a level as in zstd:3`);
}

export function parseTempCompression(text: string, flag: string): { readonly codec: 'zstd'; readonly level?: number } {
  const [, codec, level] = WITH_LEVEL.exec(text) ?? [];
  if (codec === 'zstd') return level === undefined ? { codec } : { codec, level: Number(level) };
  throw new UsageError(`${flag} ${text}: expected zstd, or with a level as in zstd:3`);
}

/** A program and its arguments. Blanks divide them, text in quotes is literal, and no other character has a meaning. */
export function parseDecompressProgram(text: string, flag: string): readonly string[] {
  const words = parseWords(text, flag);
  if (words[0] !== undefined && words[0] !== '') return words;
  throw new UsageError(`${flag}: expected a program and its arguments, such as 'xz -dc'`);
}

export function parseSbatchArgs(text: string, flag: string, previous: readonly string[] = []): readonly string[] {
  return [...previous, ...parseWords(text, flag)];
}

/** Parses a size as sbatch reads it: a whole number of MiB, or with one of K, M, G and T, which are powers of 1024. */
export function parseSlurmMemory(text: string, flag: string): number {
  const [, digits, letter] = /^(\d+)([KMGT]?)$/i.exec(text) ?? [];
  const power = 'KMGT'.indexOf((letter || 'M').toUpperCase()) + 1;
  if (digits !== undefined) return requireSafe(Number(digits) * 1024 ** power, text, flag);
  throw new UsageError(
    `${flag} ${text}: expected what sbatch takes: 16G, 900M, 900 for as many MiB, or 0 for all memory of a node`,
  );
}

export function parseNames(text: string, flag: string): readonly string[] {
  const names = text.split(',');
  if (names.every((name) => name !== '')) return names;
  throw new UsageError(
    `${flag} ${text === '' ? "''" : text}: expected at least one name, and commas between names, as in text,meta.url`,
  );
}
