/**
 * Selects a value in a record: a field of a JSON object, by the keys that lead to it, as in `.metadata.site`. Two values are
 * equal if they are strings of the same characters, or the same bytes otherwise: `1` and `1.0` are two values.
 */
import { UsageError } from '../errors.js';

/** The keys from the outermost object in; at least one. */
export type FieldPath = readonly string[];

/** More than data sets nest. */
const MOST_KEYS = 32;
/** A key as it is, or in double quotes as JSON writes it. */
const KEY = /\.(?:([^."[\]\s]+)|("(?:[^"\\]|\\.)*"))/gy;

/** @param what the option, in backquotes. @throws UsageError */
export function parseFieldPath(selector: string, what: string): FieldPath {
  const keys = [...selector.matchAll(KEY)].map(([, bare, quoted = '""']) => bare ?? unquoted(quoted, selector, what));
  const byteLength = [...selector.matchAll(KEY)].reduce((sum, [text]) => sum + text.length, 0);
  if (keys.length > 0 && keys.length <= MOST_KEYS && byteLength === selector.length) return keys;
  throw refused(selector, what);
}

function unquoted(quoted: string, selector: string, what: string): string {
  try {
    return JSON.parse(quoted);
  } catch {
    throw refused(selector, what);
  }
}

function refused(selector: string, what: string): UsageError {
  return new UsageError(
    `${what} ${JSON.stringify(selector)}: expected the keys of a JSON field, such as .site, .metadata.site or ."a key"`,
  );
}

/** The path in the form that the kernel takes. */
export function encodeFieldPath(path: FieldPath): Uint8Array {
  const u32 = (value: number) => Buffer.from(Uint32Array.of(value).buffer);
  const keys = path.map((key) => Buffer.from(key));
  return Buffer.concat([u32(keys.length), ...keys.flatMap((key) => [u32(key.byteLength), key])]);
}
