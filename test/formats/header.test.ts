/** Reading a header from pieces of any size: only the bytes needed, none lost, and always with a bound. */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { InputError } from '#src/errors.js';
import { MOST_HEADER_BYTES, readHeader } from '#src/formats/header.js';
import { linesHeader } from '#src/formats/headers/leading-header.js';

const rule = linesHeader({ count: 2, lineEnd: '0a', isQuoted: false });

/** Each piece lies in the same memory, as those of a decoder may. */
async function* piecesOf(input: Buffer, sizes: readonly number[]): AsyncGenerator<Uint8Array, void> {
  const memory = Buffer.alloc(Math.max(...sizes));
  for (let at = 0, i = 0; at < input.byteLength; i++) {
    const piece = input.subarray(at, at + (sizes[i % sizes.length] ?? 1));
    memory.set(piece);
    yield memory.subarray(0, piece.byteLength);
    memory.fill(0, 0, piece.byteLength);
    at += piece.byteLength;
  }
}

describe('readHeader', () => {
  it('gives the header and what was read behind it, whatever the pieces', async () => {
    const sizes = fc.array(fc.integer({ min: 1, max: 300_000 }), { minLength: 1, maxLength: 3 });
    const line = fc.oneof(fc.constant(0), fc.nat({ max: 400_000 }));
    await fc.assert(
      fc.asyncProperty(line, fc.nat({ max: 5000 }), sizes, async (lineBytes, restBytes, pieceSizes) => {
        fc.pre((lineBytes + restBytes) / Math.min(...pieceSizes) < 1000);
        const header = `${'x'.repeat(lineBytes)}\n\n`;
        const input = Buffer.from(header + 'r'.repeat(restBytes));
        const pieces = piecesOf(input, pieceSizes);
        const read = await readHeader(pieces, rule, 'in');
        expect(read.header.byteLength).toBe(header.length);
        expect(Buffer.from(read.header.bytes).toString()).toBe(header);
        const rest = [Buffer.from(read.rest)];
        for await (const piece of pieces) rest.push(Buffer.from(piece));
        expect(Buffer.concat(rest).toString()).toBe('r'.repeat(restBytes));
      }),
      { numRuns: 50 },
    );
  });

  it('reads no further than it must', async () => {
    const pieces = piecesOf(Buffer.from('a\nb\nrecords'), [1]);
    expect((await readHeader(pieces, rule, 'in')).rest).toHaveLength(0);
    expect(await pieces.next()).toEqual({ done: false, value: Buffer.from('r') });
  });

  it('refuses an input that ends, and a header without an end', async () => {
    await expect(readHeader(piecesOf(Buffer.from('a\n'), [1]), rule, 'in')).rejects.toThrow(/^in: byte 2 is the end/);
    const endless = (async function* () {
      for (;;) yield Buffer.alloc(2 ** 20, 'x');
    })();
    const reading = readHeader(endless, rule, 'in');
    await expect(reading).rejects.toThrow(InputError);
    await expect(reading).rejects.toThrow(`in: its header has more than ${MOST_HEADER_BYTES} bytes`);
  });
});
