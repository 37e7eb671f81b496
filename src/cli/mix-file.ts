/** The file of `--mix`, in YAML, which has all of JSON. The library checks it; only here a size may have a unit. */
import { UsageError } from '../errors.js';
import type { Mix } from '../options/values.js';
import { parseAmount, parseSize } from '../values/size.js';

export async function parseMixFile(bytes: Uint8Array, path: string): Promise<Mix> {
  const value = await parse(textOf(bytes, path), path);
  if (typeof value !== 'object' || value === null || Array.isArray(value))
    throw new UsageError(`--mix ${path}: expected an object with groups (docs/CHOOSING-RECORDS.md)`);
  const { unit, total } = { unit: undefined, total: undefined, ...value };
  // The library refuses all that is not a mix.
  const mix = value as Mix;
  if (typeof total !== 'string') return mix;
  const flag = `--mix ${path}: total`;
  return { ...mix, total: unit === 'bytes' ? parseSize(total, { flag }) : parseTotal(total, flag) };
}

function parseTotal(text: string, flag: string): number {
  const amount = Number(parseAmount(text));
  if (Number.isSafeInteger(amount)) return amount;
  throw new UsageError(`${flag} ${text}: expected a whole number, or one with K, M, B or T, as in 300B`);
}

function textOf(bytes: Uint8Array, path: string): string {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes);
  } catch (cause) {
    if (cause instanceof TypeError) throw new UsageError(`--mix ${path}: the text is not valid UTF-8`);
    throw cause;
  }
}

async function parse(text: string, path: string): Promise<unknown> {
  const { parseDocument } = await import('yaml');
  const document = parseDocument(text, { logLevel: 'silent' });
  const [problem = document.warnings[0]] = document.errors;
  // What follows the first line of a message shows the place, which the first line names.
  const refuse = (message: string) =>
    new UsageError(`--mix ${path}: ${(message.split('\n')[0] ?? '').replace(/:$/, '')}; expected YAML or JSON`);
  if (problem !== undefined) throw refuse(problem.message);
  try {
    return document.toJS();
  } catch (error) {
    throw refuse(error instanceof Error ? error.message : String(error));
  }
}
