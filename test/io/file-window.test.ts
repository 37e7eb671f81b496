/** A few bytes here and there: the right ones, and few calls. */
import { writeFileSync } from 'node:fs';
import fc from 'fast-check';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { replaceFileCalls, systemFileCalls } from '#src/io/file-calls.js';
import { FileWindow } from '#src/io/file-window.js';
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
