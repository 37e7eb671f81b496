/** The temp space of piles that are too large to be loaded. */
import { describe, expect, it } from 'vitest';
import { ENTRY_BYTES, OUTPUT_BUFFER_COUNT, STORED_HEADER_BYTES } from '#src/plan/arena-sizes.js';
import { planRescatter } from '#src/plan/pass2-memory.js';

const OUTPUT_BYTES = 1000;
const storedBytes = (records: number, bytes: number) => bytes + STORED_HEADER_BYTES * records;
const loadedBytes = (records: number, bytes: number) => storedBytes(records, bytes) + ENTRY_BYTES * records;
const totals = {
  records: Float64Array.of(10, 300, 200, 100, 1),
  recordBytes: Float64Array.of(100, 6000, 4000, 2000, 9e6),
};
const plan = (workers: number, roomBytes: number, spareBytes = 0) => {
  const arenaBytes = roomBytes + OUTPUT_BUFFER_COUNT * OUTPUT_BYTES;
  return planRescatter(totals, { workers, arenaBytes, spareBytes }, OUTPUT_BYTES);
};

describe('planRescatter', () => {
  it('counts nothing when every pile of several records fits, to the byte', () => {
    expect(plan(3, loadedBytes(300, 6000))).toEqual({ least: 0, most: 0 });
    expect(plan(3, loadedBytes(300, 6000) - 1)).toEqual({
      least: storedBytes(300, 6000),
      most: storedBytes(300, 6000),
    });
  });

  it('counts the largest piles, one a thread', () => {
    const [first, second, third] = [storedBytes(300, 6000), storedBytes(200, 4000), storedBytes(100, 2000)];
    const room = loadedBytes(100, 2000) - 1;
    expect(plan(1, room)).toEqual({ least: first, most: first });
    expect(plan(2, room)).toEqual({ least: first, most: first + second });
    expect(plan(8, room)).toEqual({ least: first, most: first + second + third });
  });

  it('is sure of those only that do not fit with all of the spare memory', () => {
    const room = loadedBytes(100, 2000);
    expect(plan(1, room, loadedBytes(300, 6000))).toEqual({ least: 0, most: storedBytes(300, 6000) });
  });
});
