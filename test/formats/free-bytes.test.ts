/** Memory that is given back at once, and memory that is not ours alone. */
import { describe, expect, it } from 'vitest';
import { freeBytes } from '#src/formats/free-bytes.js';

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
