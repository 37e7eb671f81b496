/**
 * A second try for work that verifies itself: one bit that flips in memory must not cost a job of days. What it is made
 * from, temp data or an input, is still there.
 */
import { StagedOutputError, VerificationError, WrongStreamError, WrongTwiceError } from '../errors.js';

/**
 * Does the work, and does it once more if its result is wrong.
 * @param work leaves nothing behind when it throws a VerificationError, except the WrongStreamError.
 * @throws WrongTwiceError, or StagedOutputError, if it is wrong again.
 */
export async function onceMore<T>(work: () => Promise<T>, onWarning: (line: string) => void): Promise<T> {
  try {
    return await work();
  } catch (error) {
    if (!mayBeRepeated(error)) throw error;
    onWarning(`${error.message}; it is tried once more`);
  }
  try {
    return await work();
  } catch (error) {
    throw mayBeRepeated(error) && !(error instanceof StagedOutputError) ? new WrongTwiceError(error) : error;
  }
}

function mayBeRepeated(error: unknown): error is VerificationError {
  return error instanceof VerificationError && !(error instanceof WrongStreamError);
}
