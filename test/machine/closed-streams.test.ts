/** Which open files stand for a standard stream that the caller closed. */
import { closeSync, constants, openSync } from 'node:fs';
import { expect, it } from 'vitest';
import { isClosedStream } from '#src/machine/closed-streams.js';

it.runIf(process.platform === 'linux').each([
  ['/dev/null', constants.O_RDWR, true],
  ['/dev/null', constants.O_WRONLY, false],
  ['/dev/null', constants.O_RDONLY, false],
  ['/dev/zero', constants.O_RDWR, false],
])('%s, opened with the flags %i: %s', (path, flags, expected) => {
  const fd = openSync(path, flags);
  try {
    expect(isClosedStream(fd)).toBe(expected);
    // Where there is no /proc.
    expect(isClosedStream(fd, () => undefined)).toBe(false);
  } finally {
    closeSync(fd);
  }
});
