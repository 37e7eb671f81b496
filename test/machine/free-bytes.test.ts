/** Memory is returned at once, and waiting bytes hold no more memory than they count. */
import { describe, expect, it } from 'vitest';
import { freeBytes, shrinkToFit } from '#src/machine/free-bytes.js';

describe('freeBytes', () => {
  it('empties every view of the buffer', () => {
    const bytes = new Uint8Array(1000);
    const other = new Uint8Array(bytes.buffer, 10, 10);
    freeBytes(bytes.subarray(5, 9));
    expect([bytes.byteLength, other.byteLength]).toEqual([0, 0]);
  });

  it('leaves small pieces, which lie in a buffer that Node shares, as they are', () => {
    const piece = Buffer.concat([Buffer.from('ab'), Buffer.from('cd')]);
    expect(piece.buffer.byteLength).toBeGreaterThan(piece.byteLength);
    freeBytes(piece);
    expect(piece.toString()).toBe('abcd');
    freeBytes(new Uint8Array(new SharedArrayBuffer(8)));
  });
});

describe('shrinkToFit', () => {
  const room = () => new Uint8Array([1, 2, 3, 4, 5, 6]).buffer;

  it.each([
    ['an array', new Uint8Array(room(), 1, 3)],
    // As zlib hands over what does not fill a piece; its `slice` copies nothing.
    ['a Buffer', Buffer.from(room(), 1, 3)],
    ['a Buffer among others', Buffer.concat([Buffer.from([2, 3, 4])])],
  ])('keeps the bytes of %s, and no others', (_, bytes) => {
    const own = shrinkToFit(bytes);
    expect([...own]).toEqual([2, 3, 4]);
    expect(own.buffer.byteLength).toBe(3);
  });

  it('leaves bytes where they are that fill their buffer', () => {
    const bytes = new Uint8Array(3);
    expect(shrinkToFit(bytes)).toBe(bytes);
  });
});
