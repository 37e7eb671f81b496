/**
 * The error that a job must end with after a failed file call: the documented exit code and error code, from the role
 * of the file and the error of the system, and a message of one line that names the file.
 */
import { expect } from 'vitest';
import { exitCodeOf } from '#src/cli/messages.js';
import type { ErrorCode, PileshufError } from '#src/index.js';
import type { Fault } from './faulty-file-calls.js';
import type { TinyJob } from './tiny-job.js';
import type { FileCall } from './watched-file-calls.js';

interface Refusal {
  readonly exitCode: number;
  readonly code: ErrorCode;
}

/** All that it may be. */
function refusalsOf(fault: Fault, { name, path }: FileCall, job: TinyJob): readonly Refusal[] {
  // What was done in part is done to its end.
  if (!('errno' in fault)) return [];
  const { errno } = fault;
  if (job.inputs.includes(path)) {
    // No fault of the input's.
    if (errno === 'EMFILE') return [{ exitCode: 1, code: 'ERR_IO' }];
    return [{ exitCode: 3, code: 'ERR_INPUT_UNREADABLE' }];
  }
  const isFull = errno === 'ENOSPC' || errno === 'EDQUOT';
  const codes: ErrorCode[] = isFull ? ['ERR_NO_SPACE'] : ['ERR_IO'];
  // Where it is decided whether a temp directory can be used.
  if (!isFull && ['access', 'makeDirectory', 'makeUniqueDirectory'].includes(name)) codes.push('ERR_TEMP_DIR');
  // Former shards could not be put back: that is what the user must know.
  if (isFull && fault.kind === 'fails from then on' && job.movesSeveral) codes.push('ERR_IO');
  return codes.map((code) => ({ exitCode: 1, code }));
}

export function expectErrorOf(fault: Fault, struck: FileCall, error: PileshufError, job: TinyJob, what: string): void {
  const { message, code } = error;
  const line = `${what}: ${code} ${message}`;
  const refusal: Refusal = { exitCode: exitCodeOf(error, undefined), code };
  expect(refusalsOf(fault, struck, job), line).toContainEqual(refusal);
  expect(message.includes('\n'), line).toBe(false);
  // What no part of the program has put into words.
  expect(message.includes('made up'), line).toBe(false);
  const names = [job.root, ...job.inputs, struck.path];
  expect(
    names.some((name) => message.includes(name)),
    line,
  ).toBe(true);
}
