/** The exit code of everything that can be thrown; scripts rely on these numbers. */
import { describe, expect, it } from 'vitest';
import { exitCodeOf } from '#src/cli/messages.js';
import { AbortError, ClosedPipeError, InputError, SystemError, UsageError, VerificationError } from '#src/index.js';

describe('exitCodeOf', () => {
  it.each([
    [new SystemError('ERR_NO_SPACE', 'x'), undefined, 1],
    [new UsageError('x'), undefined, 2],
    [new InputError('ERR_INPUT_MISSING', 'x'), undefined, 3],
    [new VerificationError('x'), undefined, 4],
    [new AbortError(), 'SIGHUP' as const, 129],
    [new AbortError(), 'SIGINT' as const, 130],
    [new AbortError(), 'SIGTERM' as const, 143],
    [new AbortError(), undefined, 1],
    [new ClosedPipeError(), undefined, 141],
    [new SystemError('ERR_IO', 'while stopping'), 'SIGINT' as const, 1],
    [new TypeError('a mistake of ours'), undefined, 1],
    ['not even an error', undefined, 1],
  ])('%s after %s: %d', (thrown, signal, code) => {
    expect(exitCodeOf(thrown, signal)).toBe(code);
  });
});
