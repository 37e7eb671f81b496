/**
 * Names of files that say who made them: reading a name returns the owner that was written, and refuses other names.
 */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { type FileOwner, formatOwnerName, hostInName, parseOwnerName } from '#src/machine/file-owner.js';
import { fromCi } from '../fixtures/scale.js';

const owner = {
  host: 'node-7.example_1.org',
  bootId: '9a3b30c1-ff84-4829-847a-c6121708c694',
  pidNamespace: '4026531836',
  pid: 21641,
  startTicks: '3444652',
  threadId: 0,
  token: '0123456789abcdef',
};
const name =
  'lock+node-7.example_1.org+9a3b30c1-ff84-4829-847a-c6121708c694+4026531836+21641+3444652+0+0123456789abcdef';
const formatLock = (of: FileOwner) => formatOwnerName('lock', of);
const parseLock = (of: string) => parseOwnerName('lock', of);

describe('names of owners', () => {
  it('say who made the file', () => {
    expect(formatLock(owner)).toBe(name);
    expect(parseLock(name)).toEqual(owner);
  });

  it('say what is not known', () => {
    const unknown = { ...owner, bootId: undefined, pidNamespace: undefined, startTicks: undefined };
    expect(parseLock(formatLock(unknown))).toEqual(unknown);
  });

  it.runIf(fromCi)('have any host in a name that a file can have, each host another', () => {
    const anyHost = fc.string({ unit: 'binary', minLength: 1, maxLength: 300 });
    fc.assert(
      fc.property(anyHost, anyHost, (a, b) => {
        const longest = { ...owner, host: a, pid: 2 ** 31 - 1, threadId: 999, startTicks: '9'.repeat(20) };
        const nameOfLongest = formatLock(longest);
        expect(nameOfLongest).toMatch(/^[A-Za-z0-9.%+_-]{1,255}$/);
        expect(parseLock(nameOfLongest)).toEqual({ ...longest, host: hostInName(a) });
        expect(hostInName(a) === hostInName(b)).toBe(a === b);
      }),
    );
  });

  it.each([
    'lock',
    'lock+',
    'lock.pid',
    `${name}0`,
    `${name}\n`,
    name.replace('+21641', '+0'),
    name.replace('+21641', '+-1'),
    name.replace('+21641', '+2147483648'),
    name.replace('+0+', '+'),
    name.replace('3444652', '34x'),
    name.replace('9a3b30c1', '9A3B30C1'),
    name.replace('node-7', 'node/7'),
  ])('are told from what no job has made: %j', (other) => {
    expect(parseLock(other)).toBeUndefined();
  });
});
