/** How a task of either pass comes back: errors cross threads as plain data. */
import { type EncodedError, encodeError } from '../src/errors.js';

export type Outcome<T> = { readonly result: T } | { readonly error: EncodedError };

export async function outcomeOf<T>(work: () => Promise<T>): Promise<Outcome<T>> {
  try {
    return { result: await work() };
  } catch (error) {
    return { error: encodeError(error) };
  }
}
