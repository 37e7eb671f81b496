/**
 * Spans and cells: every position of a compressed file is found in the span that holds it, by one of two entries.
 */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { CELL_ENTRY_BYTES, CellEncoder, cellEntry, type Span, SpanBuilder } from '#src/record-index/index-layout.js';

const CELL_BYTES = 10;

interface AnyMember {
  readonly decodedBytes: number;
  readonly storedBytes: number;
}

function spansOf(members: readonly AnyMember[]): Span[] {
  const spans: Span[] = [];
  const builder = new SpanBuilder((span) => spans.push(span), CELL_BYTES);
  let storedStart = 0;
  let decodedStart = 0;
  for (const { decodedBytes, storedBytes } of members) {
    builder.add({ storedStart, decodedStart });
    storedStart += storedBytes;
    decodedStart += decodedBytes;
  }
  builder.end(storedStart, decodedStart);
  return spans;
}

function cellsOf(spans: readonly Span[]): Buffer {
  const encoder = new CellEncoder(CELL_BYTES);
  const cells = Buffer.concat([...spans.map((span) => encoder.add(span)), encoder.end()]);
  expect(cells.byteLength).toBe(encoder.cellCount * CELL_ENTRY_BYTES);
  return cells;
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
        const spans = spansOf(members);
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
        const spans = spansOf(members);
        const cells = cellsOf(spans);
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
    const cells = cellsOf(spansOf([{ decodedBytes: 100, storedBytes: 50 }]));
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
