/**
 * Small parts of a file: a few bytes here and there, and the hash of both ends.
 */
import { writeFileSync } from 'node:fs';
import fc from 'fast-check';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { replaceFileCalls, systemFileCalls } from '#src/io/file-calls.js';
import { FileWindow, hashFileEnds } from '#src/io/file-window.js';
import { openForRead, withFile } from '#src/io/files.js';
import { useTestDirectory } from '../fixtures/temp-directory.js';

const directory = useTestDirectory();
const bytes = Buffer.from(Array.from({ length: 700_001 }, (_, i) => (i * 31) % 251));
let reads = 0;

beforeEach(() => {
  writeFileSync(directory.path('in'), bytes);
  reads = 0;
  replaceFileCalls({
    ...systemFileCalls,
    read: (...call) => {
      reads += 1;
      return systemFileCalls.read(...call);
    },
  });
});
afterEach(() => {
  replaceFileCalls(systemFileCalls);
});

function look<T>(use: (window: FileWindow) => T): T {
  return withFile(openForRead(directory.path('in'), 'input'), (file) => use(new FileWindow(file, bytes.byteLength)));
}

describe('FileWindow', () => {
  it('gives the bytes of the file, and none behind its end', () => {
    const place = fc.tuple(
      fc.nat({ max: bytes.byteLength + 10 }),
      fc.oneof(fc.nat({ max: 30 }), fc.nat({ max: 2 ** 18 })),
    );
    fc.assert(
      fc.property(fc.array(place, { maxLength: 20 }), (places) => {
        look((window) => {
          for (const [position, byteLength] of places) {
            const expected = bytes.subarray(position, position + byteLength);
            expect(expected.equals(window.read(position, byteLength)), `${byteLength} at ${position}`).toBe(true);
          }
        });
      }),
    );
  });

  it('reads a file once when it is looked at all over', () => {
    look((window) => {
      for (let position = 0; position < bytes.byteLength; position += 1000) window.read(position, 30);
    });
    expect(reads).toBe(Math.ceil(bytes.byteLength / 2 ** 18));
  });
});

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
