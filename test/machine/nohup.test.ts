/** The traces of a start with SIGHUP ignored. */
import { expect, it } from 'vitest';
import { isHangUpIgnored } from '#src/machine/nohup.js';

it.each([
  ['/usr/bin/nohup', '0000000000000000', true],
  ['/usr/local/bin/pileshuf', '0000000000000001', true],
  ['', '0000000000380005', true],
  ['', '0000000000384004', false],
  ['/nohup/pileshuf', '0000000000000000', false],
])('%s, started by a process that ignores %s: %s', (lastCommand, mask, expected) => {
  const readText = (path: string) =>
    path === `/proc/${process.ppid}/status` ? `SigBlk:\t1\nSigIgn:\t${mask}\nSigCgt:\t1\n` : undefined;
  expect(isHangUpIgnored(lastCommand, readText)).toBe(expected);
});

it('are not looked for where there is no /proc', () => {
  expect(isHangUpIgnored('/usr/bin/bash', () => undefined)).toBe(false);
});
