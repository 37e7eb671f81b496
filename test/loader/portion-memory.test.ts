/** The number of key ranges in which a pile is read: as few as the memory allows. */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { rangeCountOfPile, requireMemory } from '#src/loader/portion-reader.js';

const MIB = 2 ** 20;
const memory = { memoryBytes: 64 * MIB, threadCount: 2, bufferCount: 3 };

/** Bytes that threads and buffers hold at one time, for piles of this size. */
function held(records: number, recordBytes: number, { threadCount, bufferCount }: typeof memory): number {
  return threadCount * (recordBytes + 32 * records) + bufferCount * (recordBytes + 4 * records);
}

describe('rangeCountOfPile', () => {
  it('is 1 if all threads and buffers can hold such a pile at the same time', () => {
    expect(rangeCountOfPile(100_000, 8 * MIB, memory)).toBe(1);
    expect(rangeCountOfPile(0, 0, memory)).toBe(1);
  });

  it('leaves room for ranges that hold more than others, and is no larger than necessary', () => {
    const pile = fc.record({
      records: fc.integer({ min: 1000, max: 10_000_000 }),
      meanBytes: fc.integer({ min: 1, max: 1000 }),
      memoryBytes: fc.integer({ min: 16 * MIB, max: 2 ** 36 }),
      threadCount: fc.integer({ min: 1, max: 16 }),
      bufferCount: fc.integer({ min: 1, max: 16 }),
    });
    fc.assert(
      fc.property(pile, ({ records, meanBytes, ...limits }) => {
        const count = rangeCountOfPile(records, records * meanBytes, limits);
        const neededBytes = held(records, records * meanBytes, limits);
        if (count === 1) expect(neededBytes).toBeLessThanOrEqual(limits.memoryBytes);
        else if (count < 1024) expect(neededBytes / count).toBeLessThanOrEqual(0.81 * limits.memoryBytes);
        if (count > 2) {
          const isAddressable = records * (meanBytes + 32) <= 2 ** 31;
          if (isAddressable) expect(neededBytes / (count - 1)).toBeGreaterThan(0.79 * limits.memoryBytes);
        }
      }),
    );
  });

  it('keeps a portion within the addresses of a thread, whatever the memory', () => {
    expect(rangeCountOfPile(100, 40 * 2 ** 30, { ...memory, memoryBytes: 2 ** 45 })).toBe(13);
  });

  it('is never more than the number of records, or about a thousand', () => {
    expect(rangeCountOfPile(1, 2 ** 40, memory)).toBe(1);
    expect(rangeCountOfPile(3, 2 ** 40, memory)).toBe(3);
    expect(rangeCountOfPile(10 ** 6, 2 ** 50, memory)).toBe(1024);
  });
});

describe('requireMemory', () => {
  const pile = { records: Float64Array.of(0, 100_000, 3), recordBytes: Float64Array.of(0, 64 * MIB, 2 ** 30) };
  const neededBytes = held(100_000, 64 * MIB, memory);
  const told = (memoryBytes: number, longestRecordBytes = 1000) => {
    try {
      requireMemory(pile, longestRecordBytes, { ...memory, memoryBytes });
      return undefined;
    } catch (error) {
      return error;
    }
  };

  it('refuses memory with which piles are read more than 64 times, and names the bytes needed', () => {
    const least = Math.ceil(neededBytes / (0.8 * 64));
    expect(told(least)).toBeUndefined();
    expect(rangeCountOfPile(100_000, 64 * MIB, { ...memory, memoryBytes: least })).toBe(64);
    for (const memoryBytes of [1, least - 1]) {
      expect(told(memoryBytes)).toMatchObject({
        code: 'ERR_MEMORY_BUDGET',
        kind: 'usage',
        message: `a memory budget of ${memoryBytes} bytes is too small for the piles of this store: expected at least ${least}; raise \`memoryBytes\`, or lower \`prefetchPiles\``,
      });
    }
  });

  it('refuses memory that does not hold the longest record', () => {
    expect(told(64 * MIB, 64 * MIB)).toMatchObject({ code: 'ERR_MEMORY_BUDGET' });
    expect(told(64 * MIB, 64 * MIB - 32)).toBeUndefined();
  });
});
