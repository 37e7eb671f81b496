/** Tells a stopped job that it would have kept the finished part of its work, had it been started with `resume`. */
import { AbortError, addCleanupErrors } from '../errors.js';
import type { PreparedShuffle } from './prepare-shuffle.js';

export function tellOfDiscarded(error: unknown, prepared: PreparedShuffle): unknown {
  if (!(error instanceof AbortError) || !couldHaveBeenKept(prepared)) return error;
  const told = new AbortError(error.cause, 'discarded');
  addCleanupErrors(told, error.cleanupErrors);
  return told;
}

function couldHaveBeenKept({ plan, site, inputs, control }: PreparedShuffle): boolean {
  const canBeResumed = site.kind === 'files' && inputs.every(({ kind }) => kind === 'file');
  return canBeResumed && !plan.isResumable && control.counted('finishedSlices') > 0;
}
