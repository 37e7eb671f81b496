/**
 * Work and what must be done after it: the error of the work is the one that is thrown, and one of what comes
 * after is attached to it.
 */
import { addCleanupErrors, PileshufError } from './errors.js';

export function thenAlways<T>(work: () => T, after: () => void): T {
  let result: T;
  try {
    result = work();
  } catch (error) {
    throw afterFailure(error, after);
  }
  after();
  return result;
}

export async function thenAlwaysAsync<T>(work: () => Promise<T>, after: () => void | Promise<void>): Promise<T> {
  let result: T;
  try {
    result = await work();
  } catch (error) {
    try {
      await after();
    } catch (failure) {
      attach(error, failure);
    }
    throw error;
  }
  await after();
  return result;
}

/** Does what must be done after work that failed. @returns the error of the work, to be thrown. */
export function afterFailure(error: unknown, after: () => void): unknown {
  try {
    after();
  } catch (failure) {
    attach(error, failure);
  }
  return error;
}

function attach(error: unknown, failure: unknown): void {
  if (error instanceof PileshufError) addCleanupErrors(error, [failure]);
}
