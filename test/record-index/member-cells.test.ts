/**
 * Spans and cells: every position of a compressed file is found in the span that holds it, by one of two entries.
 */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { CELL_ENTRY_BYTES, CellEncoder, cellEntry, type Span } from '#src/record-index/index-layout.js';

const CELL_BYTES = 10;

interface AnyMember {
  readonly decodedBytes: number;
  readonly storedBytes: number;
}

function encoded(members: readonly AnyMember[]): { readonly spans: readonly Span[]; readonly cells: Buffer } {
  const spans: Span[] = [];
  const entries: Buffer[] = [];
  const encoder = new CellEncoder(
    (span) => spans.push(span),
    (bytes) => entries.push(bytes),
    CELL_BYTES,
  );
  let storedStart = 0;
  let decodedStart = 0;
  for (const { decodedBytes, storedBytes } of members) {
    encoder.add({ storedStart, decodedStart });
    storedStart += storedBytes;
    decodedStart += decodedBytes;
  }
  encoder.end(storedStart, decodedStart);
  const cells = Buffer.concat(entries);
  expect(cells.byteLength).toBe(encoder.cellCount * CELL_ENTRY_BYTES);
  return { spans, cells };
}

const anyMembers = fc.array(
  fc.record({ decodedBytes: fc.integer({ min: 0, max: 35 }), storedBytes: fc.integer({ min: 1, max: 30 }) }),
  { maxLength: 30 },
);
const total = (members: readonly AnyMember[], field: keyof AnyMember) =>
  members.reduce((sum, member) => sum + member[field], 0);

describe('spans', () => {
  it('follow each other without gaps, and all but the last hold at least a cell', () => {
    fc.assert(
      fc.property(anyMembers, (members) => {
        const { spans } = encoded(members);
        let decoded = 0;
        let stored = 0;
        for (const [i, span] of spans.entries()) {
          expect(span).toMatchObject({ decodedStart: decoded, storedStart: stored });
          if (i < spans.length - 1) expect(span.decodedBytes).toBeGreaterThanOrEqual(CELL_BYTES);
          decoded += span.decodedBytes;
          stored += span.storedBytes;
        }
        expect(decoded).toBe(total(members, 'decodedBytes'));
        // Empty members at the end may be in no span.
        const last = members.findLastIndex(({ decodedBytes }) => decodedBytes > 0);
        expect(stored).toBeGreaterThanOrEqual(total(members.slice(0, last + 1), 'storedBytes'));
        expect(stored).toBeLessThanOrEqual(total(members, 'storedBytes'));
      }),
      { numRuns: 1000 },
    );
  });
});

describe('cells', () => {
  it('have the span of every position: in its own cell or in the one before', () => {
    fc.assert(
      fc.property(anyMembers, (members) => {
        const { spans, cells } = encoded(members);
        for (let position = 0; position < total(members, 'decodedBytes'); position++) {
          const cell = Math.floor(position / CELL_BYTES);
          const found = [cell, Math.max(0, cell - 1)].map((number) =>
            cellEntry.readSealed(cells.subarray(number * CELL_ENTRY_BYTES, (number + 1) * CELL_ENTRY_BYTES), number),
          );
          const holder = found.find((span) => span !== undefined && span.decodedStart <= position);
          expect(holder).toEqual(
            spans.find(
              ({ decodedStart, decodedBytes }) => position >= decodedStart && position < decodedStart + decodedBytes,
            ),
          );
        }
      }),
    );
  });

  it('are valid only at their own place', () => {
    const { cells } = encoded([{ decodedBytes: 100, storedBytes: 50 }]);
    const third = cells.subarray(3 * CELL_ENTRY_BYTES, 4 * CELL_ENTRY_BYTES);
    expect(cellEntry.readSealed(third, 3)).toEqual({
      decodedStart: 0,
      storedStart: 0,
      decodedBytes: 100,
      storedBytes: 50,
    });
    expect(cellEntry.readSealed(third, 4)).toBeUndefined();
  });
});
