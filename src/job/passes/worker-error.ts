/** What is said when a worker thread does not start, or ends before its time. */
import { SystemError } from '../../errors.js';

export function workerError(error: unknown): SystemError {
  const reason = error instanceof Error ? error.message : String(error);
  // An error that a thread raises while it starts or loads its modules crosses without its errno; the text has it.
  if (/\bEMFILE\b/.test(reason)) {
    return new SystemError('ERR_WORKER', 'cannot start a worker thread: too many open files (raise `ulimit -n`)', {
      cause: error,
    });
  }
  return new SystemError(
    'ERR_WORKER',
    `a worker thread did not start or ended before its task: ${reason}; if memory or open files ran out, give less to \`memoryBytes\` or use fewer \`workers\``,
    { cause: error },
  );
}
