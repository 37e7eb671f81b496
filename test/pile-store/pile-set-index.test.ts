/**
 * The index of a pile set: what is written is what is read, for any range of piles, from memory and
 * from a file; and a damaged index is recognised, never half read.
 */
import { writeFileSync } from 'node:fs';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { VerificationError } from '#src/errors.js';
import {
  encodePileSetIndex,
  type PileEntry,
  type PileTally,
  readPileEntries,
  type Segment,
  SegmentLog,
  writePileSetIndex,
} from '#src/pile-store/pile-set-index.js';
import { useTestDirectory } from '../fixtures/temp-directory.js';

const tally: fc.Arbitrary<PileTally> = fc.record({
  records: fc.nat({ max: Number.MAX_SAFE_INTEGER }),
  recordBytes: fc.nat({ max: Number.MAX_SAFE_INTEGER }),
  checksum: fc.bigInt({ min: 0n, max: 2n ** 64n - 1n }),
});
const segment: fc.Arbitrary<Segment> = fc.record({
  medium: fc.constantFrom('ram' as const, 'disk' as const),
  place: fc.nat({ max: Number.MAX_SAFE_INTEGER }),
  byteLength: fc.nat({ max: 2 ** 32 - 1 }),
});
const anyIndex = fc.array(tally, { minLength: 1, maxLength: 12 }).chain((tallies) =>
  fc.record({
    tallies: fc.constant(tallies),
    written: fc.array(fc.record({ pile: fc.nat({ max: tallies.length - 1 }), segment }), { maxLength: 40 }),
  }),
);

interface Written {
  readonly tallies: readonly PileTally[];
  readonly written: readonly { readonly pile: number; readonly segment: Segment }[];
}

function encode({ tallies, written }: Written): Uint8Array {
  const log = new SegmentLog();
  for (const { pile, segment } of written) {
    log.add(pile, segment.place, segment.byteLength, segment.medium === 'ram');
  }
  return encodePileSetIndex(tallies, log);
}

function entriesOf({ tallies, written }: Written): PileEntry[] {
  return tallies.map((pileTally, pile) => ({
    ...pileTally,
    segments: written.filter((entry) => entry.pile === pile).map((entry) => entry.segment),
  }));
}

const small: Written = {
  tallies: [
    { records: 3, recordBytes: 30, checksum: 7n },
    { records: 0, recordBytes: 0, checksum: 0n },
    { records: 5, recordBytes: 50, checksum: 2n ** 64n - 1n },
  ],
  written: [
    { pile: 2, segment: { medium: 'disk', place: 0, byteLength: 64 } },
    { pile: 0, segment: { medium: 'ram', place: 2 ** 40, byteLength: 66 } },
    { pile: 2, segment: { medium: 'ram', place: 0, byteLength: 46 } },
  ],
};

describe('readPileEntries', () => {
  const directory = useTestDirectory();

  it('reads any range of piles as it was encoded, segments in the order in which they were written', () => {
    fc.assert(
      fc.property(anyIndex, fc.nat({ max: 12 }), fc.nat({ max: 12 }), (index, a, b) => {
        const [first = 0, end = 0] = [a, b].map((i) => Math.min(i, index.tallies.length)).sort((x, y) => x - y);
        const entries = readPileEntries({ bytes: encode(index) }, first, end);
        expect(entries).toEqual(entriesOf(index).slice(first, end));
      }),
      { numRuns: 300 },
    );
  });

  it('reads the same from a file', () => {
    const path = directory.path('set.index');
    writePileSetIndex(path, encode(small));
    expect(readPileEntries({ path }, 0, 3)).toEqual(entriesOf(small));
    expect(readPileEntries({ path }, 1, 2)).toEqual(entriesOf(small).slice(1, 2));
  });

  it('reads an index that lies inside a larger buffer', () => {
    const bytes = Buffer.concat([Buffer.alloc(5, 0xff), encode(small), Buffer.alloc(9, 0xff)]);
    const source = { bytes: bytes.subarray(5, bytes.byteLength - 9) };
    expect(readPileEntries(source, 0, 3)).toEqual(entriesOf(small));
  });

  it('refuses an index with any other magic, and says where it is', () => {
    const path = directory.path('set.index');
    for (let i = 0; i < 8; i++) {
      const bytes = encode(small);
      bytes[i] = (bytes[i] ?? 0) ^ 1;
      writeFileSync(path, bytes);
      const read = () => readPileEntries({ path }, 0, 3);
      expect(read).toThrow(VerificationError);
      expect(read).toThrow(`the index ${path} of a pile set is damaged: its magic bytes are wrong`);
    }
  });

  it('refuses an index that is truncated at any byte', () => {
    const path = directory.path('set.index');
    const bytes = encode(small);
    for (let byteLength = 0; byteLength < bytes.byteLength; byteLength++) {
      expect(() => readPileEntries({ bytes: bytes.subarray(0, byteLength) }, 0, 3)).toThrow(VerificationError);
      writeFileSync(path, bytes.subarray(0, byteLength));
      expect(() => readPileEntries({ path }, 0, 3)).toThrow(VerificationError);
    }
  });

  it('refuses piles that the index does not have', () => {
    expect(() => readPileEntries({ bytes: encode(small) }, 0, 4)).toThrow('it has 3 piles, expected at least 4');
  });

  it('refuses tables that do not join', () => {
    const damages: [byte: number, value: number, what: string][] = [
      [32, 1, 'its segment tables do not join'],
      [32 + 8, 2, 'its segment tables do not join'],
      [32 + 2 * 40 + 8, 200, 'its segment counts do not add up'],
      [16, 2, 'bytes, expected'],
    ];
    for (const [byte, value, what] of damages) {
      const bytes = encode(small);
      bytes[byte] = value;
      expect(() => readPileEntries({ bytes }, 0, 3), `byte ${byte} = ${value}`).toThrow(what);
    }
  });

  it('throws nothing but VerificationError, whichever byte is wrong', () => {
    const position = fc.nat({ max: encode(small).byteLength - 1 });
    fc.assert(
      fc.property(position, fc.integer({ min: 1, max: 255 }), (at, flip) => {
        const bytes = encode(small);
        bytes[at] = (bytes[at] ?? 0) ^ flip;
        try {
          readPileEntries({ bytes }, 0, 3);
        } catch (error) {
          expect(error).toBeInstanceOf(VerificationError);
        }
      }),
      { numRuns: 1000 },
    );
  });
});
