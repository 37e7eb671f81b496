/**
 * Reads the input as far as it is few bytes. Most inputs of shuf are: they are ordered without the library. What is larger
 * goes to the library, with the bytes that were read of it if it can be read only once.
 */
import { closeSync, fstatSync, openSync } from 'node:fs';
import { quoteName } from './quoted.js';
import { bytesOfWord, hasRawBytes } from './raw-words.js';
import { reasonOf, ShufError } from './shuf-error.js';
import { readSome } from './waiting-calls.js';

/** Up to so much is ordered faster without the library: more takes longer than the library takes to start. */
const FEW_BYTES_OF_FILE = 2 ** 18;
/** For a stream, the library starts threads. */
const FEW_BYTES_OF_STREAM = 2 ** 20;
const PIECE_BYTES = 2 ** 16;

export type TakenInput =
  | { readonly kind: 'few'; readonly bytes: Uint8Array }
  /** `begin` is what was read of a stream; a file is read from its beginning. */
  | { readonly kind: 'many'; readonly input: { readonly path: string; readonly begin?: Uint8Array } };

/**
 * @param path undefined: standard input.
 * @param standardInput the open file that is standard input.
 * @throws ShufError
 */
export function takeInput(path: string | undefined, standardInput: number): TakenInput {
  if (path === undefined) return takeStream(standardInput, '-');
  const fd = openInput(path);
  const stat = fstatSync(fd);
  // The library has paths that are UTF-8. The file stays open under its number.
  const pathForLibrary = stat.isFile() && !hasRawBytes(path) ? path : `/dev/fd/${fd}`;
  // Files of /proc have size 0.
  if (stat.isFile() && stat.size > FEW_BYTES_OF_FILE) return { kind: 'many', input: { path: pathForLibrary } };
  const taken = takeStream(fd, pathForLibrary);
  if (taken.kind === 'few') closeSync(fd);
  else if (stat.isFile()) return { kind: 'many', input: { path: pathForLibrary } };
  return taken;
}

/** @throws ShufError */
export function openInput(path: string): number {
  try {
    return openSync(hasRawBytes(path) ? bytesOfWord(path) : path, 'r');
  } catch (error) {
    throw new ShufError(`${quoteName(path)}: ${reasonOf(error)}`);
  }
}

function takeStream(fd: number, path: string): TakenInput {
  let bytes = new Uint8Array(PIECE_BYTES);
  let filled = 0;
  for (;;) {
    const count = readSome(fd, bytes, filled);
    if (count === 0) return { kind: 'few', bytes: bytes.subarray(0, filled) };
    filled += count;
    if (filled > FEW_BYTES_OF_STREAM) return { kind: 'many', input: { path, begin: bytes.subarray(0, filled) } };
    if (filled === bytes.byteLength) {
      const larger = new Uint8Array(4 * filled);
      larger.set(bytes);
      bytes = larger;
    }
  }
}
