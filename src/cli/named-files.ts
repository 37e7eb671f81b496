/**
 * Reads what a call names in files: the inputs, by operands and the lists of `--files-from` and `--files0-from`, their
 * ids, a mix, and the source of a seed. A list is taken literally and in its order, which is part of what the seed
 * means. An empty name or list is refused: it is most likely a mistake in a pipeline, and a shuffle of too few inputs
 * would look like success.
 */

import { createHash } from 'node:crypto';
import { open, readFile } from 'node:fs/promises';
import { addAbortSignal } from 'node:stream';
import { buffer } from 'node:stream/consumers';
import { AbortError, InputError, UsageError } from '../errors.js';
import { errnoOf, reasonOf } from '../io/io-error.js';
import type { InputIdsChoice, InputList } from '../options/parse-options.js';
import type { ShuffleOptions } from '../options/shuffle-options.js';
import { isStandardInput, readsFromTerminal } from './standard-streams.js';

/** The inputs among the operands: standard input if nothing names an input. */
export function chooseInputs(operands: readonly string[], lists: readonly InputList[]): readonly string[] {
  if (operands.includes('')) {
    throw new UsageError('an input is an empty string; expected a path, or - for standard input');
  }
  const inputs = operands.length === 0 && lists.length === 0 ? ['-'] : operands;
  refuseStdinTwice(inputs, lists);
  return inputs;
}

/** Tells a person at the terminal what the job waits for: a name or a pipe may be forgotten. */
export function hintAtTerminal(
  inputs: readonly string[],
  lists: readonly InputList[],
  hint: (line: string) => void,
): void {
  const what = lists.some(({ path }) => path === '-')
    ? 'names of inputs'
    : inputs.includes('-')
      ? 'records'
      : undefined;
  if (what === undefined || !readsFromTerminal()) return;
  hint(`waiting for ${what} from standard input, which is this terminal; end them with Ctrl-D`);
}

function refuseStdinTwice(inputs: readonly string[], lists: readonly InputList[]): void {
  const [list, otherList] = lists.filter(({ path }) => path === '-');
  const [input, otherInput] = inputs.filter((path) => path === '-');
  if (otherList !== undefined) {
    throw new UsageError('two lists of inputs would be read from standard input; give one of them as a file');
  }
  if (list !== undefined && input !== undefined) {
    const both = `both the list of inputs (${list.flag} -) and an input (-)`;
    throw new UsageError(`standard input cannot be ${both}; give one of them as a file`);
  }
  if (otherInput !== undefined) {
    throw new UsageError('standard input (-) is given twice as an input, but can be read only once; give it once');
  }
}

interface NamedFiles {
  readonly inputLists?: readonly InputList[] | undefined;
  readonly inputIds?: InputIdsChoice | undefined;
  readonly mix?: string | undefined;
  readonly randomSource?: string | undefined;
  readonly seed?: string | undefined;
}

/** Reads what a call names in files. @param typed the inputs among its words. */
export async function readNamedFiles(
  { inputLists = [], inputIds, mix, randomSource, seed }: NamedFiles,
  typed: readonly string[],
  signal: AbortSignal,
): Promise<Pick<ShuffleOptions, 'inputs' | 'inputIds' | 'mix' | 'seed'>> {
  return {
    inputs: await resolveInputs(typed, inputLists, signal),
    inputIds: await resolveInputIds(inputIds, signal),
    seed: randomSource === undefined ? seed : await readSeedFrom(randomSource, typed.includes('-')),
    mix: mix === undefined ? undefined : await readMix(mix, signal),
  };
}

async function readMix(path: string, signal: AbortSignal): Promise<ShuffleOptions['mix']> {
  const { parseMixFile: mixIn } = await import('./mix-file.js');
  return mixIn(await readNamedFile(`the mix ${path}`, path, signal), path);
}

/** The inputs that were typed, then the entries of the lists. */
export async function resolveInputs(
  typedInputs: readonly string[],
  lists: readonly InputList[],
  signal: AbortSignal,
): Promise<ShuffleOptions['inputs']> {
  const inputs: (string | { readonly path: string })[] = [...typedInputs];
  let stdinIsUsed = typedInputs.includes('-') || lists.some(({ path }) => path === '-');
  for (const list of lists) {
    const { flag, path } = list;
    const names = splitList(await readNamedFile(`the list of inputs ${flag} ${path}`, path, signal), list);
    if (names.includes('-')) {
      if (stdinIsUsed) throw new UsageError(`${flag} ${path}: names standard input (-), which is already in use`);
      stdinIsUsed = true;
    }
    for (const name of names) inputs.push({ path: name });
  }
  return inputs;
}

/** Returns the entries of a list. The last one may lack its terminator. */
export function splitList(bytes: Uint8Array, { flag, path }: InputList): string[] {
  const refuse = (reason: string): UsageError => new UsageError(`${flag} ${path}: ${reason}`);
  const names = splitText(bytes, flag === '--files0-from' ? '\0' : '\n', `${flag} ${path}`);
  if (names.length === 0) throw refuse('the list is empty; expected at least one input');
  for (const [index, name] of names.entries()) {
    if (name === '') throw refuse(`entry ${index + 1} is empty; expected a path`);
    if (name.includes('\0')) {
      const advice = 'expected one path a line (for names that end in NUL: --files0-from)';
      throw refuse(`entry ${index + 1} holds a NUL; ${advice}`);
    }
  }
  if (names.filter((name) => name === '-').length > 1) {
    throw refuse('names standard input (-) twice, but it can be read only once');
  }
  return names;
}

export async function resolveInputIds(
  choice: InputIdsChoice | undefined,
  signal: AbortSignal,
): Promise<ShuffleOptions['inputIds']> {
  if (typeof choice !== 'object') return choice;
  const source = `--input-ids file:${choice.file}`;
  const ids = splitText(await readNamedFile(`the ids ${source}`, choice.file, signal), '\n', source);
  const empty = ids.indexOf('');
  if (empty >= 0) throw new UsageError(`${source}: line ${empty + 1} is empty; expected an input id`);
  return ids;
}

/** Refuses text that is not UTF-8: as strings, such names would name another file, or none. */
function splitText(bytes: Uint8Array, terminator: string, source: string): string[] {
  let text: string;
  try {
    text = new TextDecoder('utf-8', { fatal: true }).decode(bytes);
  } catch (cause) {
    if (cause instanceof TypeError) throw new UsageError(`${source}: a name is not valid UTF-8; rename the file`);
    throw cause;
  }
  const names = text.split(terminator);
  if (names.at(-1) === '') names.pop();
  return names;
}

/** @param path a file, or `-` for standard input. */
export async function readNamedFile(what: string, path: string, signal: AbortSignal): Promise<Uint8Array> {
  try {
    return path === '-' ? await buffer(addAbortSignal(signal, process.stdin)) : await readFile(path, { signal });
  } catch (cause) {
    if (signal.aborted) throw new AbortError(signal.reason);
    throw unreadableFileError(what, cause);
  }
}

export function unreadableFileError(what: string, cause: unknown): InputError {
  const isMissing = errnoOf(cause) === 'ENOENT';
  const reason = isMissing ? 'no such file; check the path' : reasonOf(cause);
  const code = isMissing ? 'ERR_INPUT_MISSING' : 'ERR_INPUT_UNREADABLE';
  return new InputError(code, `cannot read ${what}: ${reason}`, { cause });
}

const MOST_SOURCE_BYTES = 1024;

/**
 * The seed of `--random-source`: the SHA-256 of the first bytes of the file, which may be endless.
 * @param readsStandardInput whether the job reads it: its bytes are records then.
 */
export async function readSeedFrom(path: string, readsStandardInput: boolean): Promise<string> {
  if (readsStandardInput && isStandardInput(path)) {
    throw new UsageError(`--random-source ${path}: standard input is read as an input; name another file`);
  }
  const seed = await seedIn(path).catch((cause: unknown) => {
    throw unreadableFileError(`the random source ${path}`, cause);
  });
  if (seed !== undefined) return seed;
  throw new InputError('ERR_INPUT_UNREADABLE', `the random source ${path} is empty; expected one byte or more`);
}

async function seedIn(path: string): Promise<string | undefined> {
  const file = await open(path, 'r');
  try {
    const bytes = new Uint8Array(MOST_SOURCE_BYTES);
    let filled = 0;
    for (let count = 1; count > 0 && filled < bytes.byteLength; filled += count) {
      ({ bytesRead: count } = await file.read(bytes, filled));
    }
    return filled === 0 ? undefined : createHash('sha256').update(bytes.subarray(0, filled)).digest('hex');
  } finally {
    await file.close();
  }
}
