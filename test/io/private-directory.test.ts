/**
 * Private directories: nobody else's name, nobody else's access, removed with all that is in them.
 */
import { existsSync, mkdirSync, readdirSync, statSync, symlinkSync, writeFileSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { SystemError } from '#src/errors.js';
import { makePrivateDirectory, removeDirectory } from '#src/io/private-directory.js';
import { useTestDirectory } from '../fixtures/temp-directory.js';

describe('private directories', () => {
  const directory = useTestDirectory();

  it('are new each time, below the parent, and closed to others whatever the umask', () => {
    const umask = process.umask(0);
    try {
      const paths = [0, 1, 2].map(() => makePrivateDirectory(directory.path(), 'job-', 'temp'));
      expect(new Set(paths).size).toBe(3);
      for (const path of paths) {
        expect(dirname(path)).toBe(directory.path());
        expect(basename(path)).toMatch(/^job-.{6}/);
        expect(statSync(path).mode & 0o777).toBe(0o700);
        expect(readdirSync(path)).toEqual([]);
      }
    } finally {
      process.umask(umask);
    }
  });

  it('are removed with all that is in them, and nothing behind a link', () => {
    const path = makePrivateDirectory(directory.path(), 'job-', 'temp');
    mkdirSync(directory.path('kept'));
    writeFileSync(directory.path('kept', 'file'), 'x');
    mkdirSync(join(path, 'a', 'b'), { recursive: true });
    writeFileSync(join(path, 'a', 'b', 'c'), 'x');
    symlinkSync(directory.path('kept'), join(path, 'link'));
    removeDirectory(path);
    expect(existsSync(path)).toBe(false);
    expect(readdirSync(directory.path('kept'))).toEqual(['file']);
    // Once more changes nothing.
    removeDirectory(path);
  });

  it.each([
    ['temp', 'ERR_TEMP_DIR', /^cannot make a directory in the temp directory .*--temp-dir$/],
    ['output', 'ERR_IO', /^cannot make the output in /],
  ] as const)('say what cannot be made: %s', (purpose, code, message) => {
    for (const [parent, reason] of [
      ['none', 'it does not exist'],
      ['file', 'a part of the path is not a directory'],
    ] as const) {
      writeFileSync(directory.path('file'), '');
      const make = () => makePrivateDirectory(directory.path(parent), 'job-', purpose);
      expect(make).toThrow(SystemError);
      expect(make).toThrow(expect.objectContaining({ code, message: expect.stringMatching(message) }));
      expect(make).toThrow(reason);
    }
  });
});
