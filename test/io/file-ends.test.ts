/**
 * The hash of a file's ends: another one when any of the first or last 4 KiB is, and for nothing between.
 */
import { writeFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { hashFileEnds } from '#src/io/file-ends.js';
import { useTestDirectory } from '../fixtures/temp-directory.js';

describe('hashFileEnds', () => {
  const directory = useTestDirectory();

  function hashOf(bytes: Uint8Array): string {
    writeFileSync(directory.path('file'), bytes);
    return hashFileEnds(directory.path('file'), bytes.byteLength, 'input').toString('hex');
  }

  it.each([1, 4095, 4096, 4097, 8191, 8192, 8193, 20_000])('sees each changed byte at the ends of %d bytes', (size) => {
    const bytes = Buffer.alloc(size, 'x');
    const hash = hashOf(bytes);
    expect(hashOf(bytes)).toBe(hash);
    for (const index of [0, 1, 4095, 4096, size - 4097, size - 4096, size - 1]) {
      if (index < 0 || index >= size) continue;
      const changed = Buffer.from(bytes);
      changed[index] = 0;
      const isAtEnd = index < 4096 || index >= size - 4096;
      expect(hashOf(changed) !== hash, `byte ${index}`).toBe(isAtEnd);
    }
  });

  it('tells files apart that are empty, short or missing', () => {
    const hashes = [0, 1, 2, 4095, 4096].map((size) => hashOf(Buffer.alloc(size, 'x')));
    expect(new Set(hashes).size).toBe(hashes.length);
    expect(() => hashFileEnds(directory.path('none'), 1, 'input')).toThrow(
      expect.objectContaining({ code: 'ERR_INPUT_MISSING' }),
    );
  });
});
