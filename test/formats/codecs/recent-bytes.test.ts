/** The last bytes of an input, compared with all of its bytes. */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { RecentBytes } from '#src/formats/codecs/igzip.js';

const KEPT = 50;
const MOST_PIECE = 8;
const MOST_REST = 5;

describe('RecentBytes', () => {
  it('keeps the last bytes, and gives each piece behind those before it', () => {
    const piece = fc.record({
      byteLength: fc.nat(MOST_PIECE),
      rest: fc.nat(MOST_REST),
      /** Bytes that a reader wrote behind the piece, and did not add. */
      behind: fc.nat(MOST_PIECE),
    });
    fc.assert(
      fc.property(fc.array(piece, { maxLength: 60 }), (pieces) => {
        const recent = new RecentBytes(KEPT, MOST_PIECE, MOST_REST);
        let all = Buffer.alloc(MOST_REST);
        for (const { byteLength, rest, behind } of pieces) {
          const bytes = Buffer.from(Array.from({ length: byteLength }, (_, i) => (all.byteLength + i) % 251));
          const room = recent.room();
          room.set(bytes);
          room.fill(255, byteLength, Math.min(room.byteLength, byteLength + behind));
          all = Buffer.concat([all, bytes]);
          expect(recent.add(byteLength, rest).equals(all.subarray(all.byteLength - byteLength - rest))).toBe(true);
          recent.room().fill(254);
          const kept = recent.all();
          expect(kept.byteLength).toBeGreaterThanOrEqual(Math.min(KEPT, all.byteLength - MOST_REST));
          expect(kept.equals(all.subarray(all.byteLength - kept.byteLength))).toBe(true);
        }
      }),
    );
  });

  it('leaves a piece where it is until so many bytes were added as are kept', () => {
    const recent = new RecentBytes(KEPT, MOST_PIECE, MOST_REST);
    for (let round = 0; round < 40; round++) {
      recent.room().fill(round);
      const held = recent.add(MOST_PIECE, 0);
      for (let added = MOST_PIECE; added < KEPT; added += MOST_PIECE) {
        recent.room().fill(255);
        recent.add(Math.min(MOST_PIECE, KEPT - added), 0);
      }
      expect(held.every((byte) => byte === round)).toBe(true);
    }
  });

  it('frees its memory', () => {
    const recent = new RecentBytes(KEPT, MOST_PIECE, MOST_REST);
    const room = recent.room();
    recent.free();
    expect(room.byteLength).toBe(0);
  });
});
