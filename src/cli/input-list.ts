/**
 * Reads the lists of `--files-from` and `--files0-from`. A list is taken literally and in its order,
 * which is part of what the seed means. Nothing in it is skipped: an empty name, or a list without
 * any, is most likely a pipeline that went wrong, and a shuffle of less than was meant would look
 * like success.
 */

import { readFile } from 'node:fs/promises';
import { addAbortSignal } from 'node:stream';
import { buffer } from 'node:stream/consumers';
import { AbortedError, InputError, type ShuffleOptions, UsageError } from '../index.js';

export interface InputList {
  readonly option: '--files-from' | '--files0-from';
  /** A file, or `-` for standard input. */
  readonly path: string;
}

/**
 * The inputs that were typed, then the entries of the lists. Throws InputError for a list that cannot
 * be read, UsageError for one that holds no usable names, AbortedError when `signal` says so.
 */
export async function resolveInputs(
  typedInputs: readonly string[],
  lists: readonly InputList[],
  signal: AbortSignal,
): Promise<ShuffleOptions['inputs']> {
  const inputs: (string | { readonly path: string })[] = [...typedInputs];
  const stdinIsList = lists.some(({ path }) => path === '-');
  for (const list of lists) {
    const names = splitList(await readList(list, signal), list);
    if (
      names.includes('-') &&
      (stdinIsList || inputs.some((input) => (typeof input === 'string' ? input : input.path) === '-'))
    ) {
      throw new UsageError(`${list.option} ${list.path}: names standard input (-), which is in use already`);
    }
    for (const name of names) {
      inputs.push({ path: name });
    }
  }
  return inputs;
}

/** The names in a list, each with or without its end at the end of the list. Throws UsageError. */
export function splitList(bytes: Uint8Array, { option, path }: InputList): string[] {
  const refuse = (reason: string): UsageError => new UsageError(`${option} ${path}: ${reason}`);
  const names = splitText(bytes, option === '--files0-from' ? '\0' : '\n', `${option} ${path}`);
  if (names.length === 0) {
    throw refuse('the list is empty; expected at least one input');
  }
  for (const [index, name] of names.entries()) {
    if (name === '') {
      throw refuse(`entry ${index + 1} is empty; expected a path`);
    }
    if (name.includes('\0')) {
      throw refuse(
        `entry ${index + 1} holds a NUL; expected one path a line (for names that end in NUL: --files0-from)`,
      );
    }
  }
  if (names.filter((name) => name === '-').length > 1) {
    throw refuse('names standard input (-) twice, and it can be read only once');
  }
  return names;
}

/**
 * What stands in the file of an option, each with or without its end at the end of the file.
 * @throws UsageError for what is no UTF-8: as strings, such names would name another file, or none.
 */
export function splitText(bytes: Uint8Array, terminator: string, option: string): string[] {
  let text: string;
  try {
    text = new TextDecoder('utf-8', { fatal: true }).decode(bytes);
  } catch (cause) {
    if (cause instanceof TypeError) {
      throw new UsageError(`${option}: a name is not valid UTF-8; rename the file`);
    }
    throw cause;
  }
  const names = text.split(terminator);
  if (names.at(-1) === '') {
    names.pop();
  }
  return names;
}

function readList({ option, path }: InputList, signal: AbortSignal): Promise<Uint8Array> {
  return readNamedFile(`the list of inputs ${option} ${path}`, path, signal);
}

/**
 * @param what it is, in messages.
 * @param path a file, or `-` for standard input.
 * @throws InputError, AbortedError
 */
export async function readNamedFile(what: string, path: string, signal: AbortSignal): Promise<Uint8Array> {
  try {
    return path === '-' ? await buffer(addAbortSignal(signal, process.stdin)) : await readFile(path, { signal });
  } catch (cause) {
    if (signal.aborted) {
      throw new AbortedError();
    }
    const isMissing = cause instanceof Error && 'code' in cause && cause.code === 'ENOENT';
    const reason = isMissing ? 'no such file; check the path' : cause instanceof Error ? cause.message : String(cause);
    throw new InputError(isMissing ? 'ERR_INPUT_MISSING' : 'ERR_INPUT_UNREADABLE', `cannot read ${what}: ${reason}`, {
      cause,
    });
  }
}
