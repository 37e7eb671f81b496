/** `--input-ids`: what the keys of the records of an input are derived from. */
import type { Command } from 'commander';
import { type ShuffleOptions, UsageError } from '../../index.js';
import { readNamedFile, splitText } from '../input-list.js';

/** A rule, or the file that has the ids. */
export type InputIdsChoice = 'ordinal' | 'path' | 'name' | { readonly file: string };

/** As commander collects them. */
export interface InputIdsOptionValues {
  readonly inputIds?: InputIdsChoice;
}

/** @param defaultRule as the help says it. */
export function declareInputIdsOption(command: Command, defaultRule: 'ordinal' | 'path'): void {
  command.option(
    '--input-ids <RULE>',
    `what keys are derived from: ordinal, path, name (its last part) or file:FILE, one a line (default: ${defaultRule})`,
    parseInputIds,
  );
}

function parseInputIds(text: string): InputIdsChoice {
  if (text === 'ordinal' || text === 'path' || text === 'name') return text;
  const [, file] = /^file:(.+)$/s.exec(text) ?? [];
  if (file !== undefined && file !== '-') return { file };
  throw new UsageError(`--input-ids ${text}: expected ordinal, path, name or file:FILE`);
}

/** @throws InputError when the file cannot be read, UsageError for one that holds no usable ids, AbortedError */
export async function resolveInputIds(
  choice: InputIdsChoice | undefined,
  signal: AbortSignal,
): Promise<ShuffleOptions['inputIds']> {
  if (typeof choice !== 'object') return choice;
  const option = `--input-ids file:${choice.file}`;
  const ids = splitText(await readNamedFile(`the ids ${option}`, choice.file, signal), '\n', option);
  const empty = ids.indexOf('');
  if (empty >= 0) throw new UsageError(`${option}: line ${empty + 1} is empty; expected an input id`);
  return ids;
}
