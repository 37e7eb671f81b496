/** Bytes that move to a buffer of their own are the same bytes, whatever kind of view they were. */
import { describe, expect, it } from 'vitest';
import { inOwnBuffer } from '#src/formats/own-buffer.js';

describe('inOwnBuffer', () => {
  const room = () => new Uint8Array([1, 2, 3, 4, 5, 6]).buffer;

  it.each([
    ['an array', new Uint8Array(room(), 1, 3)],
    // As zlib hands over what does not fill a piece; its `slice` copies nothing.
    ['a Buffer', Buffer.from(room(), 1, 3)],
    ['a Buffer among others', Buffer.concat([Buffer.from([2, 3, 4])])],
  ])('keeps the bytes of %s, and no others', (_, bytes) => {
    const own = inOwnBuffer(bytes);
    expect([...own]).toEqual([2, 3, 4]);
    expect(own.buffer.byteLength).toBe(3);
  });

  it('leaves bytes where they are that fill their buffer', () => {
    const bytes = new Uint8Array(3);
    expect(inOwnBuffer(bytes)).toBe(bytes);
  });
});
