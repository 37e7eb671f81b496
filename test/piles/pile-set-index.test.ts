/**
 * The index of a pile set is read as it was written, for any range of piles, from memory and from a file. A damaged
 * index is recognised, never half read; whatever an index holds, its readers give a right answer or a
 * VerificationError, and need no more memory than its size.
 */
import { writeFileSync } from 'node:fs';
import { crc32 } from 'node:zlib';
import fc from 'fast-check';
import { describe, expect, it, vi } from 'vitest';
import { VerificationError } from '#src/errors.js';
import {
  type DataFileSize,
  encodePileSetIndex,
  type IndexSource,
  MOST_COMPRESSED_BYTES,
  type PileEntry,
  type PileSetDescription,
  readPileEntries,
  readPileSetDescription,
  readPileTotals,
} from '#src/piles/pile-set-index.js';
import { pileTotalsOf, type RecordTotals } from '#src/piles/pile-totals.js';
import { type Segment, SegmentLog } from '#src/piles/segments.js';
import { atScale } from '../fixtures/scale.js';
import { useTestDirectory } from '../fixtures/temp-directory.js';

const STRIPES = 2;
const DISKS = 3;
const HEADER_BYTES = 44;
const PILES_AT = HEADER_BYTES + STRIPES * DISKS * 8;
const PILE_BYTES = 48;
const SEGMENT_BYTES = 24;

interface Written {
  readonly tallies: readonly RecordTotals[];
  readonly written: readonly { readonly pile: number; readonly segment: Segment }[];
  readonly report: unknown;
}

const u64 = fc.bigInt({ min: 0n, max: 2n ** 64n - 1n });
const tally: fc.Arbitrary<RecordTotals> = fc.record({
  records: fc.maxSafeNat(),
  bytes: fc.maxSafeNat(),
  checksum: u64,
});
const place = fc.nat({ max: Number.MAX_SAFE_INTEGER - 2 ** 32 });
const uncompressed = fc
  .tuple(place, fc.integer({ min: 1, max: 2 ** 32 - 1 }), fc.boolean(), u64)
  .map(([at, byteLength, isInMemory, checksum]) => ({
    place: at,
    byteLength,
    diskBytes: isInMemory ? 0 : byteLength,
    checksum,
  }));
const compressed = fc
  .tuple(place, fc.integer({ min: 2, max: MOST_COMPRESSED_BYTES }), fc.nat(), u64)
  .map(([at, byteLength, n, checksum]) => ({
    place: at,
    byteLength,
    diskBytes: 1 + (n % (byteLength - 1)),
    checksum,
  }));
const segment: fc.Arbitrary<Segment> = fc.oneof(uncompressed, compressed);
const anyIndex: fc.Arbitrary<Written> = fc.array(tally, { minLength: 1, maxLength: 12 }).chain((tallies) =>
  fc.record({
    tallies: fc.constant(tallies),
    written: fc.array(fc.record({ pile: fc.nat({ max: tallies.length - 1 }), segment }), { maxLength: 40 }),
    report: fc.jsonValue().map((value): unknown => JSON.parse(JSON.stringify(value))),
  }),
);

function descriptionOf({ tallies, written, report }: Written): PileSetDescription {
  const sizes = new Map<number, number>();
  for (const { pile, segment } of written) {
    if (segment.diskBytes === 0) continue;
    const file = Math.floor((pile * STRIPES) / tallies.length) * DISKS + (pile % DISKS);
    sizes.set(file, Math.max(sizes.get(file) ?? 0, segment.place + segment.diskBytes));
  }
  const dataFiles = [...sizes]
    .sort(([a], [b]) => a - b)
    .map(([file, byteLength]): DataFileSize => ({ stripe: Math.floor(file / DISKS), disk: file % DISKS, byteLength }));
  return { name: 'set-000012-7f', stripeCount: STRIPES, diskCount: DISKS, dataFiles, report };
}

function encode(index: Written): Buffer {
  const log = new SegmentLog();
  for (const { pile, segment } of index.written) {
    log.add(pile, segment);
  }
  return Buffer.from(encodePileSetIndex(pileTotalsOf(index.tallies), log, descriptionOf(index)));
}

function entriesOf({ tallies, written }: Written): PileEntry[] {
  return tallies.map((pileTally, pile) => ({
    ...pileTally,
    segments: written.filter((entry) => entry.pile === pile).map((entry) => entry.segment),
  }));
}

function talliesOf({ tallies }: Written) {
  return {
    records: Float64Array.from(tallies, ({ records }) => records),
    recordBytes: Float64Array.from(tallies, ({ bytes }) => bytes),
    checksums: BigUint64Array.from(tallies, ({ checksum }) => checksum),
  };
}

const small: Written = {
  tallies: [
    { records: 3, bytes: 30, checksum: 7n },
    { records: 0, bytes: 0, checksum: 0n },
    { records: 5, bytes: 50, checksum: 2n ** 64n - 1n },
    { records: 1, bytes: 9, checksum: 1n },
  ],
  written: [
    { pile: 2, segment: { place: 0, byteLength: 640, diskBytes: 64, checksum: 2n ** 64n - 1n } },
    { pile: 0, segment: { place: 2 ** 40, byteLength: 66, diskBytes: 0, checksum: 5n } },
    { pile: 2, segment: { place: 0, byteLength: 46, diskBytes: 0, checksum: 6n } },
    { pile: 3, segment: { place: 2 ** 41, byteLength: 21, diskBytes: 21, checksum: 0n } },
  ],
  report: { read: ['a', null, 1.5], ü: true },
};
const PILES = small.tallies.length;

/** What all the readers make of an index; each gives its answer or a VerificationError, else this throws. */
function readAll(source: IndexSource, piles: number): unknown[] {
  const readers = [
    () => readPileTotals(source),
    () => readPileSetDescription(source),
    () => readPileEntries(source, 0, piles),
    () => readPileEntries(source, piles - 1, piles),
  ];
  return readers.map((read) => {
    try {
      return read();
    } catch (error) {
      if (error instanceof VerificationError) return 'refused';
      throw error;
    }
  });
}

function answersTo(index: Written): unknown[] {
  const entries = entriesOf(index);
  return [talliesOf(index), descriptionOf(index), entries, entries.slice(-1)];
}

/** Makes the checksums of an index right, where its tables can be found. */
function reseal(bytes: Buffer): void {
  const within = (at: number, byteLength: number) => bytes.subarray(at, at + byteLength);
  if (bytes.byteLength < HEADER_BYTES) return;
  const piles = bytes.readUInt32LE(16);
  const pilesAt = HEADER_BYTES + 8 * bytes.readUInt32LE(20) * bytes.readUInt32LE(24);
  const segmentsAt = pilesAt + piles * PILE_BYTES;
  for (let pile = 0; pile < piles; pile++) {
    const entry = within(pilesAt + pile * PILE_BYTES, PILE_BYTES);
    if (entry.byteLength < PILE_BYTES) break;
    const [first, count] = [Number(entry.readBigUInt64LE(0)), Number(entry.readBigUInt64LE(8))];
    entry.writeUInt32LE(crc32(within(segmentsAt + first * SEGMENT_BYTES, count * SEGMENT_BYTES)), 40);
    entry.writeUInt32LE(crc32(entry.subarray(0, 44), pile), 44);
  }
  bytes.writeUInt32LE(crc32(bytes.subarray(HEADER_BYTES, pilesAt)), 32);
  bytes.writeUInt32LE(crc32(bytes.subarray(Math.max(0, bytes.byteLength - bytes.readUInt32LE(28)))), 36);
  bytes.writeUInt32LE(crc32(bytes.subarray(0, 40)), 40);
}

describe('the index of a pile set', () => {
  it('reads as it was encoded, segments in the order in which they were written', () => {
    fc.assert(
      fc.property(anyIndex, fc.nat({ max: 12 }), fc.nat({ max: 12 }), (index, a, b) => {
        const [first = 0, end = 0] = [a, b].map((i) => Math.min(i, index.tallies.length)).sort((x, y) => x - y);
        const source = { bytes: encode(index) };
        expect(readPileEntries(source, first, end)).toEqual(entriesOf(index).slice(first, end));
        expect(readAll(source, index.tallies.length)).toEqual(answersTo(index));
      }),
      { numRuns: 300 },
    );
  });

  it('has the tallies of more piles than one read covers', () => {
    const tallies = Array.from({ length: 10_000 }, (_, i) => ({ records: i, bytes: 2 * i, checksum: BigInt(i) }));
    const many: Written = { tallies, written: small.written, report: null };
    expect(readPileTotals({ bytes: encode(many) })).toEqual(talliesOf(many));
  });

  it('is not made for a name that would leave its directory', () => {
    for (const name of ['', '..', 'a/b', '../set', 'SET', 'a.b', 'a\0', 'set\n']) {
      const description = { ...descriptionOf(small), name };
      expect(() => encodePileSetIndex(pileTotalsOf(small.tallies), new SegmentLog(), description), name).toThrow(
        RangeError,
      );
    }
  });

  it('does not have more piles than it has', () => {
    expect(() => readPileEntries({ bytes: encode(small) }, 0, 5)).toThrow('it has 4 piles, expected at least 5');
  });
});

describe('damage to the index of a pile set', () => {
  const directory = useTestDirectory();

  it('is an error that names the path and the pile set', () => {
    const path = directory.path('set.index');
    const bytes = encode(small);
    bytes[0] = 0;
    writeFileSync(path, bytes);
    expect(() => readPileEntries({ path }, 0, 3, 'set-7')).toThrow(
      expect.objectContaining({
        message: `verification failed: the index ${path} of a pile set is damaged: its magic bytes are wrong; check the disk; if the job can be resumed, give \`resume\``,
        pileSetName: 'set-7',
      }),
    );
  });

  it('is seen in every bit by a reader of all, and nowhere misread by a reader of a range', () => {
    const good = encode(small);
    const [, description, ...entries] = answersTo(small);
    const rangeOfLast = [
      [0, PILES_AT],
      [PILES_AT + (PILES - 1) * PILE_BYTES, PILES_AT + PILES * PILE_BYTES],
      [PILES_AT + PILES * PILE_BYTES + 3 * SEGMENT_BYTES, PILES_AT + PILES * PILE_BYTES + 4 * SEGMENT_BYTES],
    ] as const;
    for (let bit = 0; bit < good.byteLength * 8; bit += atScale(5, 1)) {
      const at = bit >> 3;
      const bytes = Buffer.from(good);
      bytes[at] = (bytes[at] ?? 0) ^ (1 << (bit & 7));
      const [tallies, ofSet, ofAll, ofLast] = readAll({ bytes }, PILES);
      expect(tallies, `bit ${bit}`).toBe('refused');
      const isDescribed = at < PILES_AT || at >= PILES_AT + PILES * PILE_BYTES + 4 * SEGMENT_BYTES;
      expect(ofSet, `bit ${bit}`).toEqual(isDescribed ? 'refused' : description);
      const isInEntries = at < PILES_AT + PILES * PILE_BYTES + 4 * SEGMENT_BYTES;
      expect(ofAll, `bit ${bit}`).toEqual(isInEntries ? 'refused' : entries[0]);
      const isOfLast = rangeOfLast.some(([from, to]) => from <= at && at < to);
      expect(ofLast, `bit ${bit}`).toEqual(isOfLast ? 'refused' : entries[1]);
    }
  });

  it('is seen when it is truncated or longer', () => {
    const path = directory.path('set.index');
    const good = encode(small);
    const longer = Buffer.concat([good, Buffer.alloc(3)]);
    for (let byteLength = 0; byteLength <= longer.byteLength; byteLength += atScale(5, 1)) {
      if (byteLength === good.byteLength) continue;
      const bytes = longer.subarray(0, byteLength);
      writeFileSync(path, bytes);
      expect(readAll({ bytes }, PILES)).toEqual(Array(4).fill('refused'));
      expect(readAll({ path }, PILES)).toEqual(Array(4).fill('refused'));
    }
  });

  it('is seen when the file is gone, but not when its directory is', () => {
    expect(() => readPileTotals({ path: directory.path('gone.index') })).toThrow(VerificationError);
    const unmounted = { path: directory.path('gone', 'set.index') };
    expect(() => readPileTotals(unmounted)).toThrow(expect.objectContaining({ code: 'ERR_IO' }));
  });

  it.each<[what: string, at: number, value: bigint, message: string]>([
    ['a first segment that does not join', PILES_AT + PILE_BYTES, 0n, 'its segment tables do not join'],
    ['a number of segments that does not join', PILES_AT + 8, 0n, 'its segment tables do not join'],
    ['segments beyond the table', PILES_AT + (PILES - 1) * PILE_BYTES + 8, 9n, 'its segment counts do not add up'],
    ['a huge number of segments', PILES_AT + 8, 2n ** 53n - 1n, 'its segment tables do not join'],
    ['a number above 2^53', PILES_AT + 16, 2n ** 53n, 'it holds the number 9007199254740992'],
    ['more segments than its size', 8, 5n, 'bytes, expected'],
    ['a data file that is too short', HEADER_BYTES + 3 * 8, 2n ** 41n + 20n, 'ends after its data file'],
    ['a segment behind 2^53', PILES_AT + PILES * PILE_BYTES, 2n ** 53n, 'it holds the number'],
  ])('is seen in %s, were the checksums right', (_, at, value, message) => {
    const bytes = encode(small);
    bytes.writeBigUInt64LE(value, at);
    reseal(bytes);
    expect(() => readPileEntries({ bytes }, 0, PILES)).toThrow(message);
    expect(() => readPileTotals({ bytes })).toThrow(message);
  });

  it('is seen in a compressed segment that claims fewer bytes than it takes, or more than any has, were the checksums right', () => {
    const bytes = encode(small);
    const at = PILES_AT + PILES * PILE_BYTES + SEGMENT_BYTES + 8;
    expect([bytes.readUInt32LE(at), bytes.readUInt32LE(at + 4)]).toEqual([640, 64]);
    bytes.writeUInt32LE(63, at);
    reseal(bytes);
    expect(() => readPileEntries({ bytes }, 0, PILES)).toThrow('a segment of pile 2 takes 64 bytes and has 63');
    bytes.writeUInt32LE(MOST_COMPRESSED_BYTES, at);
    reseal(bytes);
    expect(readPileEntries({ bytes }, 0, PILES)[2]?.segments[0]?.byteLength).toBe(MOST_COMPRESSED_BYTES);
    bytes.writeUInt32LE(MOST_COMPRESSED_BYTES + 1, at);
    reseal(bytes);
    expect(() => readPileEntries({ bytes }, 0, PILES)).toThrow(
      'a segment of pile 2 has 4194305 bytes, too many for one that is compressed',
    );
  });

  it.each(['', '1', 'null', '"set"', '{', '{}', '{"name":7}', '{"name":"../set"}', '{"name":""}'])(
    'is seen in the description %j, were the checksums right',
    (text) => {
      const good = encode(small);
      const bytes = Buffer.concat([
        good.subarray(0, PILES_AT + PILES * PILE_BYTES + 4 * SEGMENT_BYTES),
        Buffer.from(text),
      ]);
      bytes.writeUInt32LE(text.length, 28);
      reseal(bytes);
      expect(() => readPileSetDescription({ bytes })).toThrow(VerificationError);
      expect(() => readPileTotals({ bytes })).toThrow(VerificationError);
      expect(readPileEntries({ bytes }, 0, PILES)).toEqual(entriesOf(small));
    },
  );
});

describe('the readers of indexes, whatever is in them,', () => {
  const directory = useTestDirectory();

  /** Reads it from a file, and requires that no more memory was asked for than the file has bytes. */
  function readSparingly(bytes: Buffer, piles: number): unknown[] {
    const path = directory.path('fuzzed.index');
    writeFileSync(path, bytes);
    const allocate = vi.spyOn(Buffer, 'allocUnsafe');
    try {
      const answers = readAll({ path }, piles);
      for (const [byteLength] of allocate.mock.calls) {
        expect(byteLength).toBeLessThanOrEqual(Math.max(HEADER_BYTES, bytes.byteLength));
      }
      expect(readAll({ bytes }, piles)).toEqual(answers);
      return answers;
    } finally {
      allocate.mockRestore();
    }
  }

  it('give the right answer or refuse, when bytes of an index changed', () => {
    const change = fc.tuple(fc.nat(), fc.nat({ max: 255 }));
    fc.assert(
      fc.property(anyIndex, fc.array(change, { maxLength: 3 }), fc.nat({ max: 3 }), (index, changes, lost) => {
        const good = encode(index);
        const bytes = Buffer.from(good.subarray(0, good.byteLength - lost));
        for (const [at, value] of changes) bytes[at % bytes.byteLength] = value;
        const right = answersTo(index);
        for (const [i, answer] of readSparingly(bytes, index.tallies.length).entries()) {
          if (answer !== 'refused') expect(answer).toEqual(right[i]);
          else expect(bytes.equals(good)).toBe(false);
        }
      }),
      { numRuns: atScale(100, 250, 500) },
    );
  });

  it('stay within bounds when the checksums are right and the numbers wrong', () => {
    const number = fc.oneof(
      fc.bigInt({ min: 0n, max: 300n }),
      fc.constantFrom(2n ** 32n, 2n ** 53n - 1n, 2n ** 53n),
      u64,
    );
    const change = fc.tuple(fc.nat(), number);
    fc.assert(
      fc.property(anyIndex, fc.array(change, { minLength: 1, maxLength: 3 }), (index, changes) => {
        const bytes = encode(index);
        // Any of the numbers in the tables, and the words of the header.
        const tableBytes = bytes.byteLength - bytes.readUInt32LE(28);
        for (const [at, value] of changes) {
          const place = 4 * (at % (tableBytes / 4 - 1));
          bytes.writeBigUInt64LE(value, place);
        }
        bytes.write('pileset3', 'latin1');
        reseal(bytes);
        const [, , ofAll] = readSparingly(bytes, index.tallies.length);
        if (!Array.isArray(ofAll)) return;
        const entries: readonly PileEntry[] = ofAll;
        expect(entries.flatMap(({ segments }) => segments).length * SEGMENT_BYTES).toBeLessThan(bytes.byteLength);
        for (const { records, bytes, segments } of entries) {
          for (const value of [records, bytes, ...segments.map(({ place }) => place)]) {
            expect(Number.isSafeInteger(value)).toBe(true);
          }
        }
      }),
      { numRuns: atScale(200, 500, 1000) },
    );
  });
});
