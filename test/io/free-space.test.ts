/**
 * Space on disks: what is free, and what is taken already.
 */
import { mkdirSync, truncateSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { describe, expect, test } from 'vitest';
import { readFreeBytes, readStoredBytes } from '#src/io/free-space.js';
import { useTestDirectory } from '../fixtures/temp-directory.js';

describe('readFreeBytes', () => {
  test('of the temp directory is a number of bytes', () => {
    const freeBytes = readFreeBytes(tmpdir());
    expect(Number.isSafeInteger(freeBytes)).toBe(true);
    expect(freeBytes).toBeGreaterThan(0);
  });

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
