/** The log of segments returns the added segments in order, however many there are. */
import { describe, expect, it } from 'vitest';
import { type Segment, SegmentLog } from '#src/piles/segments.js';

/** Numbers as large as they come: places beyond 32 bits, checksums of 64. */
function segmentOf(number: number): Segment {
  return {
    place: number * 2 ** 33 + 1,
    byteLength: 2 ** 32 - 1 - number,
    diskBytes: number % 2 === 0 ? 0 : number,
    checksum: 2n ** 64n - 1n - BigInt(number),
  };
}

describe('SegmentLog', () => {
  it.each([0, 1, 255, 256, 257, 5000])('gives back %d segments', (count) => {
    const log = new SegmentLog();
    for (let number = 0; number < count; number++) log.add(65535 - number, segmentOf(number));
    expect(log.count).toBe(count);
    for (let number = 0; number < count; number++) {
      expect(log.pile(number)).toBe(65535 - number);
      expect(log.segment(number)).toEqual(segmentOf(number));
    }
  });
});
