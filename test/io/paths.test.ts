/** Queries about paths and the free space below them, and errors that name the failed call. */
import { linkSync, mkdirSync, symlinkSync, truncateSync, writeFileSync } from 'node:fs';
import { beforeEach, describe, expect, it, test } from 'vitest';
import { SystemError } from '#src/errors.js';
import {
  findObstacle,
  isSameEntry,
  isSameFile,
  lstatPath,
  nameExists,
  readFreeBytes,
  readStoredBytes,
  statPath,
} from '#src/io/paths.js';
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

describe('findObstacle', () => {
  it('is what permissions say, and nothing else', () => {
    mkdirSync(path('directory'));
    const find = () => findObstacle(path('directory'), 'write', 'output');
    expect(find()).toBeUndefined();
    for (const errno of ['EACCES', 'EPERM', 'EROFS']) {
      fileCalls.replace({ access: failWith(errno) });
      expect(find()).toEqual(expect.any(String));
    }
    fileCalls.replace({ access: failWith('EIO') });
    expect(find).toThrow(SystemError);
  });
});

describe('readFreeBytes', () => {
  test('is not known of a file system that counts no blocks', () => {
    expect(readFreeBytes('/proc')).toBeUndefined();
  });

  test('of a directory that does not exist throws what statfs throws', () => {
    expect(() => readFreeBytes('/no-such-directory')).toThrow('ENOENT');
  });
});

describe('readStoredBytes', () => {
  const directory = useTestDirectory();

  test('is what the files of a directory take, not what they are long, and nothing of those below', () => {
    mkdirSync(directory.path('data', 'below'), { recursive: true });
    expect(readStoredBytes(directory.path('none'), 'temp')).toBe(0);
    expect(readStoredBytes(directory.path('data'), 'temp')).toBe(0);
    writeFileSync(directory.path('data', 'below', 'file'), Buffer.alloc(2 ** 20, 'x'));
    writeFileSync(directory.path('data', 'sparse'), '');
    truncateSync(directory.path('data', 'sparse'), 2 ** 40);
    for (const name of ['a', 'b']) writeFileSync(directory.path('data', name), Buffer.alloc(2 ** 20, 'x'));
    const storedBytes = readStoredBytes(directory.path('data'), 'temp');
    expect(storedBytes).toBeGreaterThanOrEqual(2 * 2 ** 20);
    expect(storedBytes).toBeLessThan(2.1 * 2 ** 20);
  });
});
