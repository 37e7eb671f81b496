/**
 * Slices: their parts tile every input, small files are grouped, large plain files are cut for all workers, and inputs
 * that cannot be cut stay whole.
 */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { type PlannedInput, planSliceBytes, planSlices, type Slice } from '#src/plan/slices.js';
import { atScale } from '../fixtures/scale.js';

const MIB = 1024 * 1024;
const GIB = 1024 * MIB;
const TB = 1e12;

function plain(byteLength: number): PlannedInput {
  return withHeader(0, byteLength);
}

function withHeader(start: number, recordBytes: number): PlannedInput {
  return { cutBytes: 1, start, byteLength: start + recordBytes, decodedBytes: recordBytes };
}

function compressed(byteLength: number, decodedBytes: number): PlannedInput {
  return { cutBytes: undefined, start: 0, byteLength, decodedBytes };
}

const stream: PlannedInput = { cutBytes: undefined, start: 0, byteLength: undefined, decodedBytes: 8 * GIB };

function expectTiled(slices: readonly Slice[], inputs: readonly PlannedInput[]): void {
  const parts = slices.flat();
  expect(parts.map(({ inputOrdinal }) => inputOrdinal)).toEqual(
    parts.map(({ inputOrdinal }) => inputOrdinal).sort((a, b) => a - b),
  );
  for (const [ordinal, { start, byteLength }] of inputs.entries()) {
    const own = parts.filter(({ inputOrdinal }) => inputOrdinal === ordinal);
    expect(own.length).toBeGreaterThanOrEqual(1);
    expect(own[0]?.start).toBe(start);
    expect(own.at(-1)?.end).toBe(byteLength);
    expect(own.slice(1).filter((part, i) => part.start !== own[i]?.end)).toEqual([]);
    if (own.length > 1) expect(own.filter((part) => part.start >= (part.end ?? 0))).toEqual([]);
  }
}

describe('planSlices', () => {
  const size = fc.oneof(fc.nat({ max: 50 }), fc.nat({ max: 5000 }), fc.nat({ max: 2 ** 40 }));
  const input = fc.oneof(
    { weight: 4, arbitrary: size.map(plain) },
    { weight: 2, arbitrary: fc.tuple(fc.nat({ max: 100 }), size).map(([start, n]) => withHeader(start, n)) },
    {
      weight: 2,
      arbitrary: fc.tuple(size, fc.integer({ min: 1, max: 9 })).map(([n, times]) => compressed(n, n * times)),
    },
    { weight: 1, arbitrary: fc.constant(stream) },
  );

  it('tiles every input, in order, without a part that is empty', () => {
    const sliceBytes = fc.oneof(fc.integer({ min: 1, max: 100 }), fc.integer({ min: 100, max: 2 ** 36 }));
    fc.assert(
      fc.property(fc.array(input, { maxLength: 30 }), sliceBytes, (inputs, bytes) => {
        const largest = Math.max(0, ...inputs.map(({ decodedBytes }) => decodedBytes));
        fc.pre(largest / bytes < 2000);
        const slices = [...planSlices(inputs, bytes)];
        expect(slices.every((slice) => slice.length > 0)).toBe(true);
        expectTiled(slices, inputs);
      }),
      { numRuns: atScale(120, 250, 500) },
    );
  });

  it('groups inputs up to the size of a slice and no further', () => {
    fc.assert(
      fc.property(fc.array(fc.nat({ max: 100 }), { maxLength: 50 }), (sizes) => {
        const slices = [...planSlices(sizes.map(plain), 100)];
        const bytesOf = (slice: Slice) => slice.reduce((sum, { inputOrdinal }) => sum + (sizes[inputOrdinal] ?? 0), 0);
        for (const slice of slices) expect(bytesOf(slice)).toBeLessThanOrEqual(100);
      }),
    );
  });

  it('cuts a plain file in parts of nearly equal size', () => {
    expect([...planSlices([plain(1000)], 300)]).toEqual([
      [{ inputOrdinal: 0, start: 0, end: 333 }],
      [{ inputOrdinal: 0, start: 333, end: 666 }],
      [{ inputOrdinal: 0, start: 666, end: 1000 }],
    ]);
  });

  it('leaves compressed files and streams whole, and groups small ones around them', () => {
    const inputs = [withHeader(10, 1), compressed(900, 4000), plain(2), stream, compressed(3, 9), plain(4)];
    expect([...planSlices(inputs, 100)]).toEqual([
      [{ inputOrdinal: 0, start: 10, end: 11 }],
      [{ inputOrdinal: 1, start: 0, end: 900 }],
      [{ inputOrdinal: 2, start: 0, end: 2 }],
      [{ inputOrdinal: 3, start: 0, end: undefined }],
      [
        { inputOrdinal: 4, start: 0, end: 3 },
        { inputOrdinal: 5, start: 0, end: 4 },
      ],
    ]);
  });

  describe('of an input that can be cut at some places', () => {
    const points = fc
      .uniqueArray(fc.integer({ min: 1, max: 5000 }), { maxLength: 60 })
      .map((starts) => starts.sort((a, b) => a - b))
      .map((starts) => starts.map((at) => ({ start: at + 1, storedStart: 3 * at, decodedStart: at })));
    const cutInput = fc
      .record({ cutPoints: points, rest: fc.integer({ min: 2, max: 500 }), headerBytes: fc.nat({ max: 20 }) })
      .map(({ cutPoints, rest, headerBytes }) => {
        const decodedBytes = (cutPoints.at(-1)?.decodedStart ?? 0) + rest;
        const start = Math.min(headerBytes, (cutPoints[0]?.decodedStart ?? decodedBytes) - 1);
        return { cutBytes: undefined, start, byteLength: 3 * decodedBytes, decodedBytes, cutPoints };
      });

    it('tiles what is stored and what is decoded, at those places only', () => {
      fc.assert(
        fc.property(cutInput, fc.double({ min: 0, max: 1, noNaN: true }), (input, share) => {
          const sliceBytes = Math.max(1, Math.floor(share * input.decodedBytes));
          const parts = [...planSlices([input], sliceBytes)].flat();
          const starts = new Map(input.cutPoints.map((point) => [point.start, point]));
          let expected = { start: input.start, storedStart: 0, decodedStart: 0 };
          for (const { start, end, members } of parts) {
            expect({ start, storedStart: members?.storedStart, decodedStart: members?.decodedStart }).toEqual(expected);
            const isLast = end === input.decodedBytes;
            const whole = {
              start: input.decodedBytes,
              storedStart: input.byteLength,
              decodedStart: input.decodedBytes,
            };
            expected = isLast ? whole : (starts.get(end ?? 0) ?? expect.fail(`cut at ${end}`));
            expect(members).toMatchObject({ storedEnd: expected.storedStart, decodedEnd: expected.decodedStart });
          }
          expect(expected.start).toBe(input.decodedBytes);
          expect(parts.length).toBeLessThanOrEqual(Math.max(1, Math.round(input.decodedBytes / sliceBytes)));
        }),
        { numRuns: atScale(120, 250, 500) },
      );
    });

    it('makes them nearly as equal as the places allow', () => {
      const cutPoints = Array.from({ length: 999 }, (_, i) => ({
        start: 1000 * (i + 1) + 1,
        storedStart: 300 * (i + 1),
        decodedStart: 1000 * (i + 1),
      }));
      const input = { cutBytes: undefined, start: 0, byteLength: 300_000, decodedBytes: 1_000_000, cutPoints };
      for (const sliceBytes of [1, 1000, 1500, 10_000, 33_000, 400_000]) {
        const parts = [...planSlices([input], sliceBytes)].flat();
        const count = Math.min(1000, Math.round(1_000_000 / sliceBytes));
        expect(parts.length, `slices of ${sliceBytes} bytes`).toBeGreaterThan(0.8 * count);
        for (const { start, end } of parts) expect((end ?? 0) - start).toBeLessThanOrEqual(1_000_000 / count + 1001);
      }
    });
  });
});

describe('planSliceBytes', () => {
  const BUFFER_BYTES = 256 * 1024;
  const slicesOf = (inputs: readonly PlannedInput[], workers: number, pileCount: number) => {
    const total = inputs.reduce((sum, { decodedBytes }) => sum + decodedBytes, 0);
    return [...planSlices(inputs, planSliceBytes(total, workers, pileCount, BUFFER_BYTES))];
  };

  it('cuts where records of one size begin, and nowhere else', () => {
    fc.assert(
      fc.property(
        fc.nat({ max: 10_000 }),
        fc.integer({ min: 1, max: 300 }),
        fc.integer({ min: 1, max: 5000 }),
        fc.nat({ max: 500 }),
        (records, cutBytes, sliceBytes, headerBytes) => {
          const inputs = [{ ...withHeader(headerBytes, records * cutBytes), cutBytes }];
          const slices = [...planSlices(inputs, sliceBytes)];
          expectTiled(slices, inputs);
          expect(slices.flat().filter(({ start }) => (start - headerBytes) % cutBytes !== 0)).toEqual([]);
          expect(slices.length).toBeLessThanOrEqual(Math.max(1, records));
        },
      ),
      { numRuns: atScale(20, 50, 100) },
    );
  });

  it('puts no more than 4,096 of the smallest files into one', () => {
    const inputs = Array.from({ length: 10_000 }, () => plain(28));
    const slices = [...planSlices(inputs, 2 ** 20)];
    expect(slices.map((slice) => slice.length)).toEqual([4096, 4096, 10_000 - 2 * 4096]);
    expect(slices.flat().map(({ inputOrdinal }) => inputOrdinal)).toEqual(inputs.map((_, i) => i));
  });

  it('cuts one file of 4 GB so that every worker has two slices or more', () => {
    for (const workers of [1, 2, 3, 7, 16, 64, 300]) {
      for (const pileCount of [1, 89, 5000, 65536]) {
        const slices = slicesOf([plain(4e9)], workers, pileCount);
        expect(slices.length, `${workers} workers, ${pileCount} piles`).toBeGreaterThanOrEqual(2 * workers);
        expectTiled(slices, [plain(4e9)]);
      }
    }
  });

  it('keeps segments of 256 KiB where the data allows, and at least 1 MiB a slice', () => {
    expect(planSliceBytes(200e9, 8, 5000, BUFFER_BYTES)).toBeGreaterThanOrEqual(5000 * 256 * 1024);
    expect(planSliceBytes(200e9, 8, 5000, 32 * 1024)).toBeGreaterThanOrEqual(5000 * 256 * 1024);
    expect(planSliceBytes(1, 1, 1, BUFFER_BYTES)).toBe(MIB);
  });

  it('makes slices of no more than 131,072 full buffers, or of 64 GiB', () => {
    expect(planSliceBytes(1000 * TB, 32, 5770, BUFFER_BYTES)).toBe(32 * GIB);
    expect(planSliceBytes(1000 * TB, 32, 500, 4 * MIB)).toBe(64 * GIB);
    // Smaller ones would leave each pile less than 256 KiB.
    expect(planSliceBytes(1000 * TB, 32, 60_000, 32 * 1024)).toBe(60_000 * 256 * 1024);
  });
});
