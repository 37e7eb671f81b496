/**
 * Framings: the specs of lines and NUL-terminated records, what a framing asks the kernel for, and
 * that a scan in pieces finds what one over the whole does.
 */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { type BoundaryScanner, framingOf, LINES, NUL_TERMINATED } from '#src/formats/framing.js';
import { ARENA_START, Kernel } from '#workers/kernel/kernel.js';

describe('framingOf', () => {
  it.each([
    ['lines', LINES, 0x0a],
    ['NUL-terminated records', NUL_TERMINATED, 0x00],
  ])('%s may be cut anywhere and end in their delimiter', (_, spec, delimiter) => {
    expect(framingOf(spec)).toMatchObject({ cut: 'anywhere', terminator: delimiter });
  });

  it('hands its delimiter and all addresses to the scanner, and back what that says', () => {
    const calls: number[][] = [];
    const scanner: BoundaryScanner = {
      scanDelimiter: (...call) => {
        calls.push(call);
        return 7;
      },
    };
    expect(framingOf(LINES).scan(scanner, 1, 2, 3, 4, 5)).toBe(7);
    expect(framingOf(NUL_TERMINATED).scan(scanner, 1, 2, 3, 4, 5)).toBe(7);
    expect(calls).toEqual([
      [1, 2, 3, 0x0a, 4, 5],
      [1, 2, 3, 0x00, 4, 5],
    ]);
  });

  it('finds the same records in pieces, of any size and with any number at a time', () => {
    const kernel = new Kernel();
    kernel.ensureArena(64 * 1024);
    const table = ARENA_START;
    const data = ARENA_START + 16 * 1024;
    const bytes = fc
      .array(fc.constantFrom(0x00, 0x0a, 0x61, 0xff), { maxLength: 400 })
      .map((values) => Buffer.from(values));
    const pieces = fc.array(fc.integer({ min: 1, max: 100 }), { minLength: 1, maxLength: 5 });
    fc.assert(
      fc.property(bytes, pieces, fc.integer({ min: 1, max: 9 }), fc.boolean(), (input, sizes, most, isNul) => {
        const framing = framingOf(isNul ? NUL_TERMINATED : LINES);
        kernel.bytes.fill(framing.terminator, data, data + 1024);
        kernel.bytes.set(input, data);
        const ends: number[] = [];
        let recordStart = data;
        for (let from = data, i = 0; from < data + input.byteLength; ) {
          const to = Math.min(from + (sizes[i++ % sizes.length] ?? 1), data + input.byteLength);
          for (let count = most; count === most; ) {
            count = framing.scan(kernel.run, from, to, recordStart, table, most);
            for (let j = 0; j < count; j++) {
              expect(kernel.view.getUint32(table + 8 * j, true)).toBe(recordStart);
              recordStart = kernel.view.getUint32(table + 8 * j + 4, true);
              ends.push(recordStart - data);
            }
            from = count === most ? recordStart : to;
          }
        }
        expect(ends).toEqual([...input.entries()].flatMap(([i, byte]) => (byte === framing.terminator ? [i + 1] : [])));
      }),
      { numRuns: 300 },
    );
  });
});
