/**
 * Indexes larger than one write, made by tasks that write in turns: each block is found at its place.
 */
import { writeFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { BlockWriter, SharedPlaces } from '#src/record-index/block-writer.js';
import { IndexAttempt } from '#src/record-index/index-attempt.js';
import { HEADER_BYTES } from '#src/record-index/index-layout.js';
import { OpenIndex } from '#src/record-index/open-index.js';
import { drawsFor } from '../fixtures/draws.js';
import { useFastDirectory } from '../laws/fast-directory.js';

const directory = useFastDirectory();

/** A task that adds records of random lengths, a table at a time. */
function noter(writer: BlockWriter, firstPosition: number, draw: () => number, starts: number[]) {
  const table = new DataView(new ArrayBuffer(8 * 1000));
  let position = firstPosition;
  return {
    note: () => {
      let address = 65_536;
      const offset = position - address;
      for (let i = 0; i < 1000; i++) {
        starts.push(position);
        const byteLength = 1 + Math.floor(draw() * 2 ** 20);
        table.setUint32(8 * i, address, true);
        address += byteLength;
        position += byteLength;
        table.setUint32(8 * i + 4, address, true);
      }
      writer.add(table, 0, 1000, offset);
    },
    end: () => position,
  };
}

describe('an index of many blocks', () => {
  it('has the places of all records, even if tasks wrote it in turns', async () => {
    const path = directory.path('in');
    writeFileSync(path, '');
    const attempt = new IndexAttempt(`${path}.pileshuf-index`);
    const places = SharedPlaces.from(HEADER_BYTES);
    const draw = drawsFor('records');
    const starts: [number[], number[]] = [[], []];
    const writers = [0, 1].map(() => new BlockWriter(attempt.file, new SharedPlaces(places.buffer)));
    const far = 2 ** 45;
    const noters = writers.map((writer, i) => noter(writer, i * far, draw, starts[i as 0 | 1]));
    for (let turn = 0; turn < 500; turn++) for (const { note } of noters) note();
    const description = {
      file: { byteLength: 0, modified: '0', ends: '' },
      format: 'delimited 0a',
      codec: null,
      recordsStart: 0,
      recordsEnd: noters[1]?.end() ?? 0,
      missing: '',
    };
    const stretches = writers.map((writer) => writer.finish());
    expect(stretches.map(({ recordCount }) => recordCount)).toEqual([500_000, 500_000]);
    // Each task wrote more than one piece.
    expect(places.end).toBeGreaterThan(2 * 1.2 * 2 ** 20);
    await attempt.complete({ stretches, cellCount: 0, blocksEnd: places.end, description });
    await attempt.commit();

    const index = OpenIndex.open(`${path}.pileshuf-index`, path);
    try {
      const all = starts.flat();
      expect(index.recordCount).toBe(all.length);
      for (let i = 0; i < all.length; i += 97) expect(index.boundsOf(i).start).toBe(all[i]);
      const last = noters.map(({ end }) => end());
      expect([499_999, 999_999].map((i) => index.boundsOf(i).end)).toEqual(last);
    } finally {
      index.close();
    }
  });
});
