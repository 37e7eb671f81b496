/**
 * The error for a file of a job directory that is not as a job wrote it.
 */
import { VerificationError } from '../errors.js';

/** @param problem what is wrong, in one line: `expected ..., got ...`. */
export function damagedFile(path: string, problem: string): VerificationError {
  return new VerificationError(`${path} is damaged: ${problem}; give --force to discard the job`);
}
