/** The library's one function. */
import type { Tuning } from '../plan/memory-plan.js';
import type { ShuffleOptions, ShuffleReport } from './options.js';
import { runShuffleJob } from './shuffle.js';

/**
 * Puts the records of all inputs into one uniformly random order.
 *
 * The order is a function of the seed, the bytes of the inputs and their order in the list, and of
 * nothing else: not of workers, memory, temp directories, compression or the machine.
 * The output appears when it is complete and verified, or not at all (standard output excepted).
 *
 * @param tuning sizes that only tests have a reason to change; they do not change the output.
 * @throws PileshufError one of its subclasses, with a `code` and a one-line message: UsageError,
 *   InputError, SystemError, VerificationError, AbortedError (the signal fired), ClosedPipeError.
 */
export function shuffle(options: ShuffleOptions, tuning: Partial<Tuning> = {}): Promise<ShuffleReport> {
  return runShuffleJob(options, tuning);
}
