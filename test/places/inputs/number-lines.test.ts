/** The lines of numbers at any place, in any order of reads. */
import { describe, expect, it } from 'vitest';
import { addressOfNumbers, NumberLines } from '#src/places/inputs/number-lines.js';
import { drawsFor } from '../../fixtures/draws.js';

const RANGES = [
  [0, 0],
  [0, 12_345],
  [7, 1005],
  [1000, 1999],
  [18_999, 20_123],
  [99_500, 100_499],
  [5, 4],
  [0, -1],
] as const;

describe.each([false, true])('lines that end in NUL: %s', (endsInNul) => {
  it.each(RANGES)('of %d to %d', (low, high) => {
    const draw = drawsFor(`${low}-${high}`);
    const numbers = Array.from({ length: high - low + 1 }, (_, i) => low + i);
    const text = Buffer.from(numbers.map((number) => `${number}${endsInNul ? '\0' : '\n'}`).join(''));
    const lines = new NumberLines(addressOfNumbers({ low: BigInt(low), high: BigInt(high) }, endsInNul));
    expect(lines.version.byteLength).toBe(text.byteLength);
    for (let position = 0, i = 0; i < 100; i++) {
      const wanted = Math.floor(draw() * 6000);
      const bytes = Buffer.alloc(wanted + 2, 'x');
      const count = lines.readAt(bytes, 1, wanted, position);
      const expected = text.subarray(position, position + wanted);
      expect(bytes.toString('latin1')).toBe(`x${expected.toString('latin1')}`.padEnd(wanted + 2, 'x'));
      expect(count).toBe(expected.byteLength);
      position = i % 3 > 0 ? position + count : Math.floor(draw() * (text.byteLength + 5));
    }
  });
});
