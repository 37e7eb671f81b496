/**
 * The error for a file that is not as it was written, and what whoever sees it can do.
 */
import { VerificationError } from '../errors.js';

/** What can be done about a file that cannot be used, behind a semicolon. */
export interface Remedy {
  readonly ifDamaged: string;
  readonly ifOtherVersion: string;
  readonly otherVersionCode: 'ERR_JOB_VERSION' | 'ERR_STORE_VERSION' | 'ERR_INDEX_VERSION';
}

/** For files of a job directory. */
export const JOB_REMEDY: Remedy = {
  ifDamaged: 'give `force` to discard the job',
  ifOtherVersion: 'finish the job with that version or give `force` to discard it',
  otherVersionCode: 'ERR_JOB_VERSION',
};

/** @param problem what is wrong, in one line: `expected ..., got ...`. */
export function damagedFile(path: string, problem: string, remedy: Remedy = JOB_REMEDY): VerificationError {
  return new VerificationError(`${path} is damaged: ${problem}; ${remedy.ifDamaged}`);
}
