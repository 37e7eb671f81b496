/**
 * Blocks of record ends: any lengths are read back as they were written, and take few bits.
 */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { BLOCK_RECORDS } from '#src/record-index/index-layout.js';
import { type BlockShape, blockBytesOf, encodeBlock, RecordBlock } from '#src/record-index/record-block.js';

function encode(lengths: readonly number[]): { readonly bytes: Uint8Array; readonly shape: BlockShape } {
  const ends = new Float64Array(BLOCK_RECORDS);
  let end = 0;
  for (const [i, length] of lengths.entries()) {
    end += length;
    ends[i] = end;
  }
  const leastBytes = lengths.reduce((least, length) => Math.min(least, length), Number.POSITIVE_INFINITY);
  const shape = { recordCount: lengths.length, byteLength: end, leastBytes };
  const bytes = new Uint8Array(blockBytesOf(shape));
  encodeBlock(ends, shape, bytes);
  return { bytes, shape };
}

function boundsOf(lengths: readonly number[]) {
  const bounds: { start: number; end: number }[] = [];
  let start = 0;
  for (const length of lengths) {
    bounds.push({ start, end: start + length });
    start += length;
  }
  return bounds;
}

function decoded(lengths: readonly number[]) {
  const { bytes, shape } = encode(lengths);
  const block = new RecordBlock(bytes, shape);
  return lengths.map((_, i) => block.boundsOf(i));
}

const LONGEST = 2 ** 31 - 1;
const anyLength = fc.oneof(
  { weight: 6, arbitrary: fc.integer({ min: 1, max: 300 }) },
  { weight: 2, arbitrary: fc.integer({ min: 1, max: 2 }) },
  { weight: 1, arbitrary: fc.integer({ min: 1, max: LONGEST }) },
  { weight: 1, arbitrary: fc.constantFrom(1, LONGEST, 2 ** 16, 2 ** 24 - 1) },
);

describe('a block', () => {
  it('has the bounds of each record, whatever the lengths', () => {
    const anyLengths = fc.oneof(
      fc.array(anyLength, { minLength: 1, maxLength: 300 }),
      fc.array(fc.integer({ min: 1, max: 9 }), { minLength: 1, maxLength: 300 }),
    );
    fc.assert(
      fc.property(anyLengths, (lengths) => {
        expect(decoded(lengths)).toEqual(boundsOf(lengths));
      }),
      { numRuns: 400 },
    );
  });

  it('may have 4,096 records, of the greatest length, or with one far longer than the others', () => {
    const longest = Array.from({ length: BLOCK_RECORDS }, (_, i) => LONGEST - (i % 3));
    expect(decoded(longest)).toEqual(boundsOf(longest));
    for (const at of [0, 1, 2000, BLOCK_RECORDS - 1]) {
      const lengths = Array.from({ length: BLOCK_RECORDS }, (_, i) => (i === at ? LONGEST : 1 + (i % 40)));
      expect(decoded(lengths)).toEqual(boundsOf(lengths));
    }
  });

  it('takes no bytes for records of one length', () => {
    const lengths = Array.from({ length: 1000 }, () => 768);
    expect(encode(lengths).bytes.byteLength).toBe(0);
    expect(decoded(lengths)).toEqual(boundsOf(lengths));
  });

  it('takes at most 2 + log2(mean length) bits a record, and 2 bytes', () => {
    fc.assert(
      fc.property(fc.array(anyLength, { minLength: 1, maxLength: 500 }), (lengths) => {
        const { bytes, shape } = encode(lengths);
        const bits = shape.recordCount * (2 + Math.log2(shape.byteLength / shape.recordCount));
        expect(bytes.byteLength).toBeLessThanOrEqual(Math.ceil(bits / 8) + 2);
      }),
    );
  });
});
