/**
 * Reads the value of one option. Each function takes the option's name for its message and throws
 * UsageError (ERR_OPTION); what two options say to each other is checked in `command-line.ts`.
 */

import { type OutputCompression, type RecordKind, type ShuffleOptions, UsageError } from '../index.js';
import type { ProgressStyle } from './progress.js';

const progressStyles: readonly ProgressStyle[] = ['auto', 'bar', 'plain', 'json', 'none'];

/** A whole number of at least 1, in plain decimal digits. */
export function parseCount(text: string, option: string): number {
  const count = Number(text);
  if (!/^\d+$/.test(text) || !Number.isSafeInteger(count) || count < 1) {
    throw new UsageError(`${option} ${text}: expected a whole number of at least 1`);
  }
  return count;
}

/** Any path but the empty one, which is what an unset shell variable leaves. */
export function parsePath(text: string, option: string): string {
  if (text === '') {
    throw new UsageError(`${option}: expected a path, got an empty string`);
  }
  return text;
}

/** The output: given once, since the first of two would silently stay unwritten. */
export function parseOutput(text: string, previous: string | undefined): string {
  if (previous !== undefined && previous !== text) {
    throw new UsageError(`--output is given twice, as ${previous} and as ${text}; give it once`);
  }
  return parsePath(text, '--output');
}

/** The first part of a file name. */
export function parsePrefix(text: string): string {
  if (text === '' || /[/\0]/.test(text)) {
    throw new UsageError(
      `--prefix ${text}: expected the first part of a file name, not empty and without / or NUL; the directory goes to --output`,
    );
  }
  return text;
}

/** `PATH=N`; the last `=` divides, since a path may hold one. Adds to `previous`. */
export function parseIoLimit(text: string, previous: ReadonlyMap<string, number> = new Map()): Map<string, number> {
  const cut = text.lastIndexOf('=');
  if (cut < 1) {
    throw new UsageError(`--io-limit ${text}: expected PATH=N, such as /mnt/disk1=4`);
  }
  const path = text.slice(0, cut);
  const limit = parseCount(text.slice(cut + 1), `--io-limit ${path}=N with N =`);
  const known = previous.get(path);
  if (known !== undefined && known !== limit) {
    throw new UsageError(`--io-limit gives ${path} both ${known} and ${limit}; give one of them`);
  }
  return new Map([...previous, [path, limit]]);
}

const lengthPrefixes = ['u32le', 'u32be', 'u64le', 'varint'] as const;

export function parseLengthPrefix(text: string): Extract<RecordKind, { by: 'length-prefix' }>['prefix'] {
  const prefix = lengthPrefixes.find((known) => known === text);
  if (prefix === undefined) {
    throw new UsageError(`--length-prefixed ${text}: expected one of ${lengthPrefixes.join(', ')}`);
  }
  return prefix;
}

/** `none`, or a codec, alone or with a level behind a colon. The library knows which levels there are. */
export function parseCompression(text: string): OutputCompression {
  if (text === 'none') return text;
  const [, codec, level] = /^(gzip|zstd)(?::(\d{1,3}))?$/.exec(text) ?? [];
  if (codec === 'gzip' || codec === 'zstd') return level === undefined ? { codec } : { codec, level: Number(level) };
  throw new UsageError(`--compress ${text}: expected none, gzip or zstd, with a level as in zstd:9`);
}

/** `zstd`, alone or with a level behind a colon. */
export function parseTempCompression(text: string): NonNullable<ShuffleOptions['tempCompress']> {
  const [, codec, level] = /^(zstd)(?::(\d{1,3}))?$/.exec(text) ?? [];
  if (codec === 'zstd') return level === undefined ? { codec } : { codec, level: Number(level) };
  throw new UsageError(`--temp-compress ${text}: expected zstd, or with a level as in zstd:3`);
}

export function parseProgressStyle(text: string): ProgressStyle {
  const style = progressStyles.find((known) => known === text);
  if (style === undefined) {
    throw new UsageError(`--progress ${text}: expected one of ${progressStyles.join(', ')}`);
  }
  return style;
}
