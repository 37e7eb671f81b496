/** The room in which stored pages are read. */
import { expect, it } from 'vitest';
import { JobControl } from '#src/floor/job-control.js';
import { ChunkInput } from '#src/formats/rows/parquet/chunk-pages.js';

it('keeps what was read when it grows, and gives the smaller room back at once', () => {
  const memory = { reserve: () => true, budgetFor: () => '' };
  const source = new ChunkInput({} as never, JobControl.create([], 0), memory, 1);
  const room = source.roomFor(100, Buffer.alloc(0), 0);
  room.fill(7, 0, 100);
  const larger = source.roomFor(2 * room.byteLength, room.subarray(0, 100), 0);
  expect([...larger.subarray(0, 100)]).toEqual(new Array(100).fill(7));
  // Its memory went elsewhere: all views of it are empty.
  expect(room.byteLength).toBe(0);
  expect(source.roomFor(100, larger.subarray(0, 100), 0)).toBe(larger);
});
