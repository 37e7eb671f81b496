/**
 * Questions about paths: what links are taken for, and that only what is not there is said not to be there.
 */
import { linkSync, mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { beforeEach, describe, expect, it } from 'vitest';
import { SystemError } from '#src/errors.js';
import { isSameEntry, isSameFile, isWritable, lstatPath, nameExists, statPath } from '#src/io/paths.js';
import { failWith, useFileCalls } from '../fixtures/replaced-file-calls.js';
import { useTestDirectory } from '../fixtures/temp-directory.js';

const directory = useTestDirectory();
const fileCalls = useFileCalls();
const path = (name: string) => directory.path(name);

beforeEach(() => {
  for (const name of ['file', 'other']) writeFileSync(path(name), name);
  linkSync(path('file'), path('same'));
  symlinkSync('file', path('link'));
  symlinkSync('nowhere', path('dangling'));
  linkSync(path('dangling'), path('same dangling'));
});

describe('names', () => {
  it('exist, be they of links that lead nowhere', () => {
    for (const name of ['file', 'link', 'dangling', 'temp']) expect(nameExists(path(name), 'temp')).toBe(true);
    for (const name of ['none', 'file/below', 'none/below']) expect(nameExists(path(name), 'temp')).toBe(false);
    expect(lstatPath(path('link'), 'temp')?.isSymbolicLink()).toBe(true);
    expect(statPath(path('link'), 'temp')?.isFile()).toBe(true);
    expect(statPath(path('dangling'), 'temp')).toBeUndefined();
  });

  it('are not said to be missing when that cannot be found out', () => {
    fileCalls.replace({ lstat: failWith('EACCES'), stat: failWith('EIO') });
    expect(() => nameExists(path('none'), 'temp')).toThrow(SystemError);
    expect(() => statPath(path('none'), 'output')).toThrow(/^cannot examine output .*\/none: the device reports/);
  });
});

describe('two names', () => {
  const pairs: readonly [a: string, b: string, isSame: boolean, isOneEntry: boolean][] = [
    ['file', 'same', true, true],
    ['file', 'other', false, false],
    ['file', 'link', true, false],
    ['dangling', 'same dangling', false, true],
    ['link', 'dangling', false, false],
    ['file', 'none', false, false],
    ['none', 'none', false, false],
  ];
  it.each(pairs)('%s and %s lead to one file: %s, are of one entry: %s', (a, b, isSame, isOneEntry) => {
    expect(isSameFile(path(a), path(b), 'output')).toBe(isSame);
    expect(isSameEntry(path(a), path(b), 'output')).toBe(isOneEntry);
  });
});

describe('isWritable', () => {
  it('is what permissions say, and nothing else', () => {
    mkdirSync(path('directory'));
    expect(isWritable(path('directory'), 'output')).toBe(true);
    for (const errno of ['EACCES', 'EPERM', 'EROFS']) {
      fileCalls.replace({ access: failWith(errno) });
      expect(isWritable(path('directory'), 'output')).toBe(false);
    }
    fileCalls.replace({ access: failWith('EIO') });
    expect(() => isWritable(path('directory'), 'output')).toThrow(SystemError);
  });
});
