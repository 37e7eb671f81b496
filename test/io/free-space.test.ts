import { tmpdir } from 'node:os';
import { describe, expect, test } from 'vitest';
import { readFreeBytes } from '#src/io/free-space.js';

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
