/**
 * Each link of the chain of checks, broken on its own: bytes that no slice or two slices read, an input that was not
 * read to its end, and a pile that came out of pass 2 with other records, bytes or checksum.
 */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { InputError, VerificationError } from '#src/errors.js';
import { gzip } from '#src/formats/codecs/gzip.js';
import { joinRecords } from '#src/formats/record-format.js';
import type { PileTotals } from '#src/piles/pile-totals.js';
import { type Input, type InputHeader, NO_HEADER } from '#src/sources/input.js';
import type { Coverage } from '#src/sources/input-part.js';
import { CoverageCheck } from '#src/stages/coverage-check.js';
import { verifyRange } from '#src/stages/shuffle-ranges.js';

function file(path: string, byteLength: number, codec?: typeof gzip, header: InputHeader = NO_HEADER): Input {
  const version = { identity: `1:${byteLength}`, byteLength, modifiedNanoseconds: 0n };
  return { kind: 'file', path, codec, finding: undefined, header, version };
}

function part(start: number, end: number, inputOrdinal = 0, inputBytes?: number, addedBytes = 0): Coverage {
  return { inputOrdinal, start, end, inputBytes, addedBytes, trailerBytes: 0 };
}

const counted = (start: number, end: number, first: number, last: number): Coverage => ({
  ...part(start, end),
  ordinals: { start: first, end: last },
});

/** Has the parts checked, and as many bytes put on the piles as they say. */
function verifyCoverage(inputs: readonly Input[], parts: readonly Coverage[], lostBytes = 0): CoverageCheck {
  const check = new CoverageCheck(inputs);
  for (const each of parts) check.add(each);
  check.verify(parts.reduce((sum, { start, end, addedBytes }) => sum + (end - start) + addedBytes, 0) - lostBytes);
  return check;
}

describe('CoverageCheck', () => {
  const stream: Input = { kind: 'stream', path: '-', identity: '0:0' };
  const list: Input = {
    kind: 'list',
    path: 'the records',
    identity: 'list',
    list: joinRecords(['aaaa', 'bbbb'], Buffer.from('\n')),
  };
  const header = { byteLength: 10, recordBytes: undefined };
  const [plain, packed] = [file('plain', 100), file('packed.gz', 10, gzip)];
  const [plainBehind, packedBehind] = [file('plain', 100, undefined, header), file('packed.gz', 10, gzip, header)];
  const declared = file('packed.gz', 10, gzip, { byteLength: 10, recordBytes: 45 });
  const whole = [part(0, 40), part(40, 100), part(0, 55, 1, 55), part(0, 7, 2, 7), part(0, 10, 3, 10)];

  it.each<[string, Input[], Coverage[]]>([
    ['parts that tile every input', [plain, packed, stream, list], whole],
    ['in any order', [plain, packed, stream, list], whole.toReversed()],
    ['parts that hold nothing', [plain], [part(70, 70), part(0, 100), part(50, 50), part(100, 100, 0, 100)]],
    ['inputs that hold nothing', [file('empty', 0), file('nothing.gz', 20, gzip)], [part(0, 0), part(0, 0, 1, 0)]],
    ['parts behind headers', [plainBehind, packedBehind], [part(10, 40), part(40, 100), part(10, 55, 1, 55)]],
    ['nothing behind a header', [file('header', 10, undefined, header)], [part(0, 0)]],
    ['a terminator that was added', [plain], [part(0, 100, 0, 100, 1)]],
    ['what a header declares', [declared], [part(10, 55, 0, 55)]],
  ])('accepts %s', (_, inputs, parts) => {
    expect(() => verifyCoverage(inputs, parts)).not.toThrow();
  });

  it.each<[string, Input, Coverage[], string]>([
    ['a gap', plain, [part(0, 40), part(41, 100)], 'plain was read up to byte 40 and from byte 41 on'],
    ['a part again', plain, [part(0, 100), part(40, 100)], 'plain was read whole, and again from byte 40 on'],
    ['a part that came before', plain, [part(40, 100), part(0, 100)], 'up to byte 100 and from byte 40 on'],
    ['more than there is', plain, [part(0, 101)], 'plain was read up to byte 101, expected 100'],
    ['nothing at all', plain, [], 'plain was read up to byte 0, expected 100'],
    ['an end that nobody met', packed, [part(0, 55)], 'packed.gz was not read to its end'],
    ['no part of a compressed file', packed, [], 'packed.gz was not read to its end'],
    ['less than was decoded', packed, [part(0, 54, 0, 55)], 'packed.gz was read up to byte 54, expected 55'],
    ['a part of given records', list, [part(0, 5, 0, 5)], 'the records was read up to byte 5, expected 10'],
    ['none of given records', list, [], 'the records was read up to byte 0, expected 10'],
    ['a header taken for records', plainBehind, [part(0, 100)], 'plain was read up to byte 10 and from byte 0'],
    ['ordinals counted twice', plain, [counted(0, 40, 0, 7), counted(40, 100, 6, 9)], 'from 6 on, expected 7'],
    ['ordinals left out', plain, [counted(0, 40, 0, 7), counted(40, 100, 8, 9)], 'from byte 40 on were counted from 8'],
    ['ordinals that do not begin with 0', plain, [counted(0, 100, 1, 9)], 'expected 0'],
  ])('refuses %s', (_, input, parts, message) => {
    const verify = () => verifyCoverage([input], parts);
    expect(verify).toThrow(VerificationError);
    expect(verify).toThrow(message);
  });

  it('refuses every tiling with one edge moved', () => {
    const edges = fc.uniqueArray(fc.integer({ min: 1, max: 98 }), { minLength: 1, maxLength: 8 });
    fc.assert(
      fc.property(edges, fc.nat(), fc.boolean(), (inside, which, isStart) => {
        const cuts = [0, ...inside.toSorted((a, b) => a - b), 100];
        const parts = cuts.slice(1).map((end, i) => part(cuts[i] ?? 0, end));
        expect(() => verifyCoverage([plain], parts)).not.toThrow();
        const moved = parts.map((each, i) => {
          if (i !== which % parts.length) return each;
          return isStart ? { ...each, start: each.start + 1 } : { ...each, end: each.end + 1 };
        });
        expect(() => verifyCoverage([plain], moved)).toThrow(VerificationError);
      }),
    );
  });

  it('refuses piles that did not get every byte, or more', () => {
    const parts = [part(0, 100, 0, 100, 1)];
    expect(() => verifyCoverage([plain], parts, 1)).toThrow('put 100 bytes on the piles, expected the 101');
    expect(() => verifyCoverage([plain], parts, -1)).toThrow(VerificationError);
  });

  it('begins behind the header of a stream, and counts records', () => {
    const check = new CoverageCheck([stream]);
    check.setHeader(0, header);
    check.add(part(10, 55, 0, 55));
    expect(() => check.verify(45)).not.toThrow();
    const { counts } = verifyCoverage([plain], [counted(40, 100, 7, 9), counted(0, 40, 0, 7)]);
    expect(counts.records).toEqual(Float64Array.of(9));
  });

  it.each([
    [54, 'packed.gz: byte 54 is the end of the input; expected 55 bytes by its header'],
    [56, 'packed.gz: byte 55 lies after the last record that its header declares'],
  ])('refuses an input that ends at byte %i, where its header says 55', (end, message) => {
    const verify = () => verifyCoverage([declared], [part(10, end, 0, end)]);
    expect(verify).toThrow(InputError);
    expect(verify).toThrow(message);
  });
});

describe('verifyRange', () => {
  const scattered: PileTotals = {
    records: Float64Array.of(5, 3, 0, 8),
    recordBytes: Float64Array.of(50, 30, 0, 80),
    checksums: BigUint64Array.of(1n, 2n ** 64n - 1n, 0n, 4n),
  };
  const range = { first: 1, end: 4, firstRank: 5, firstByte: 50 };
  const verify = (change: (totals: PileTotals) => object) => () => {
    const { records, recordBytes, checksums } = scattered;
    const totals = { records: records.slice(1), recordBytes: recordBytes.slice(1), checksums: checksums.slice(1) };
    verifyRange(scattered, range, { totals: { ...totals, ...change(totals) }, regions: [] });
  };

  it('accepts what pass 1 put there, and refuses a record, a byte or a hash more or less', () => {
    expect(verify(() => ({}))).not.toThrow();
    for (const i of [0, 1, 2]) {
      for (const by of [1, -1]) {
        const plus = (values: Float64Array) => values.map((value, at) => value + (at === i ? by : 0));
        const wrong = [
          verify(({ records }) => ({ records: plus(records) })),
          verify(({ recordBytes }) => ({ recordBytes: plus(recordBytes) })),
          verify(({ checksums }) => ({
            checksums: checksums.map((value, at) => value + (at === i ? BigInt(by) : 0n)),
          })),
        ];
        for (const each of wrong) expect(each).toThrow(`pile ${range.first + i} came out of pass 2 with`);
      }
    }
  });

  it('refuses a result that lacks a pile', () => {
    expect(verify(({ records }) => ({ records: records.subarray(0, 2) }))).toThrow(VerificationError);
  });
});
