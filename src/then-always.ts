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
    attachFailure(error, after);
    throw error;
  }
  after();
  return result;
}

export async function thenAlwaysAsync<T>(work: () => Promise<T>, after: () => void): Promise<T> {
  let result: T;
  try {
    result = await work();
  } catch (error) {
    attachFailure(error, after);
    throw error;
  }
  after();
  return result;
}

function attachFailure(error: unknown, after: () => void): void {
  try {
    after();
  } catch (failure) {
    if (error instanceof PileshufError) addCleanupErrors(error, [failure]);
  }
}
