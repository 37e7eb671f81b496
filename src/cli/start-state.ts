/** The value of `--start`: where a stream goes on, as JSON, or the file that holds it. */
import { type LoaderState, UsageError } from '../index.js';
import { readNamedFile } from './input-list.js';

/**
 * Whether it is a state, the library finds out.
 * @param value JSON, or `@FILE`.
 * @throws UsageError when it is no JSON; InputError when the file cannot be read; AbortedError
 */
export async function readStartState(value: string, signal: AbortSignal): Promise<LoaderState> {
  const text = value.startsWith('@')
    ? Buffer.from(await readNamedFile(`the state --start ${value}`, value.slice(1), signal)).toString()
    : value;
  try {
    return JSON.parse(text);
  } catch {
    throw new UsageError(`--start ${value}: expected a state as JSON, as --print-start prints it, or @FILE with one`);
  }
}
