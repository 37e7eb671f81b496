/** All bytes arrive at their place, whatever the alignment of both ends, and no other byte changes. */
import fc from 'fast-check';
import { expect, it } from 'vitest';
import { copySharedBytes } from '#src/io/shared-bytes.js';

const ROOM = 300_000;
const GUARD = 0xee;

const own = new Uint8Array(ROOM);
const shared = new Uint8Array(new SharedArrayBuffer(ROOM));
const pattern = Uint8Array.from({ length: ROOM }, (_, i) => (i * 31 + (i >> 8)) & 0xff);

const anyLength = fc.oneof(fc.nat({ max: 40 }), fc.nat({ max: 200_000 }));
const anyPlace = fc.nat({ max: 40 });

it.each([
  ['from shared memory', shared, own],
  ['to shared memory', own, shared],
])('copySharedBytes copies %s', (_, from, to) => {
  fc.assert(
    fc.property(anyPlace, anyPlace, anyPlace, anyLength, (start, viewStart, offset, byteLength) => {
      from.set(pattern);
      to.fill(GUARD);
      copySharedBytes(from.subarray(start, start + byteLength), to.subarray(viewStart), offset);
      const at = viewStart + offset;
      expect(Buffer.compare(to.slice(at, at + byteLength), pattern.subarray(start, start + byteLength))).toBe(0);
      expect(to.slice(0, at).every((byte) => byte === GUARD)).toBe(true);
      expect(to.slice(at + byteLength, at + byteLength + 100).every((byte) => byte === GUARD)).toBe(true);
    }),
    { numRuns: 200 },
  );
});
