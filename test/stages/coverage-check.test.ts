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
import type { Coverage } from '#src/sources/input-part.js';
import { type Input, type InputHeader, NO_HEADER } from '#src/sources/source.js';
import { CoverageCheck } from '#src/stages/coverage-check.js';
import { verifyRange } from '#src/stages/shuffle.js';
import type { WriteResult } from '#workers/tasks/write-range.js';

function file(path: string, byteLength: number, codec?: typeof gzip, header: InputHeader = NO_HEADER): Input {
  return {
    kind: 'file',
    path,
    codec,
    finding: undefined,
    header,
    version: { identity: `1:${byteLength}`, byteLength, modifiedNanoseconds: 0n },
  };
}

function part(start: number, end: number, inputOrdinal = 0, inputBytes?: number, addedBytes = 0): Coverage {
  return { inputOrdinal, start, end, inputBytes, addedBytes, trailerBytes: 0 };
}

/** Has the parts checked, and as many bytes put on the piles as they say. */
function verifyCoverage(inputs: readonly Input[], parts: readonly Coverage[], lostBytes = 0): void {
  const check = new CoverageCheck(inputs);
  for (const each of parts) check.add(each);
  check.verify(parts.reduce((sum, { start, end, addedBytes }) => sum + (end - start) + addedBytes, 0) - lostBytes);
}

describe('CoverageCheck', () => {
  const stream: Input = { kind: 'stream', path: '-', identity: '0:0' };
  const inputs = [file('plain', 100), file('packed.gz', 10, gzip), stream];
  const whole = [part(0, 40), part(40, 100), part(0, 55, 1, 55), part(0, 7, 2, 7)];

  it('accepts parts that tile every input, in any order, and parts that hold nothing', () => {
    expect(() => verifyCoverage(inputs, whole)).not.toThrow();
    expect(() => verifyCoverage(inputs, whole.toReversed())).not.toThrow();
    expect(() => verifyCoverage(inputs, [...whole, part(70, 70), part(100, 100, 0, 100)])).not.toThrow();
    expect(() => verifyCoverage([file('empty', 0)], [part(0, 0)])).not.toThrow();
    expect(() => verifyCoverage([file('nothing.gz', 20, gzip)], [part(0, 0, 0, 0)])).not.toThrow();
  });

  it.each<[string, Coverage[], string]>([
    ['a gap at the beginning', [part(1, 100)], 'plain was read up to byte 0 and from byte 1 on'],
    ['a gap of one byte', [part(0, 40), part(41, 100)], 'plain was read up to byte 40 and from byte 41 on'],
    ['an overlap of one byte', [part(0, 41), part(40, 100)], 'plain was read up to byte 41 and from byte 40 on'],
    ['a part again', [part(0, 100), part(40, 100)], 'plain was read whole, and again from byte 40 on'],
    ['a part that came before', [part(40, 100), part(0, 100)], 'plain was read up to byte 100 and from byte 40 on'],
    ['all of it twice', [part(0, 100), part(0, 100)], 'plain was read whole, and again from byte 0 on'],
    ['a gap at the end', [part(0, 99)], 'plain was read up to byte 99, expected 100'],
    ['more than there is', [part(0, 101)], 'plain was read up to byte 101, expected 100'],
    ['nothing at all', [], 'plain was read up to byte 0, expected 100'],
  ])('refuses %s in a plain file', (_, parts, message) => {
    const verify = () => verifyCoverage([file('plain', 100)], parts);
    expect(verify).toThrow(VerificationError);
    expect(verify).toThrow(message);
  });

  it.each<[string, Coverage[], string]>([
    ['an end that nobody met', [part(0, 55, 0)], 'packed.gz was not read to its end'],
    ['nothing at all', [], 'packed.gz was not read to its end'],
    ['less than was decoded', [part(0, 54, 0, 55)], 'packed.gz was read up to byte 54, expected 55'],
    ['a beginning that is missing', [part(5, 55, 0, 55)], 'packed.gz was read up to byte 0 and from byte 5 on'],
  ])('refuses %s in a compressed file', (_, parts, message) => {
    const verify = () => verifyCoverage([file('packed.gz', 10, gzip)], parts);
    expect(verify).toThrow(VerificationError);
    expect(verify).toThrow(message);
  });

  it('refuses records in memory of which a part was not taken', () => {
    const list = joinRecords(['aaaa', 'bbbb'], Buffer.from('\n'));
    const inputs: Input[] = [{ kind: 'list', path: 'the given records', identity: 'list', list }];
    expect(() => verifyCoverage(inputs, [part(0, 10, 0, 10)])).not.toThrow();
    expect(() => verifyCoverage(inputs, [part(0, 5, 0, 5)])).toThrow(
      'the given records was read up to byte 5, expected 10',
    );
    expect(() => verifyCoverage(inputs, [])).toThrow('the given records was read up to byte 0, expected 10');
  });

  it('accepts ranges without a record of their own beside one that reads all, in any order', () => {
    for (const parts of [
      [part(0, 100), part(50, 50)],
      [part(50, 50), part(0, 100)],
    ])
      expect(() => verifyCoverage([file('one record', 100)], parts)).not.toThrow();
  });

  it('counts a terminator that was added, and refuses piles that did not get every byte', () => {
    const parts = [part(0, 100, 0, 100, 1)];
    expect(() => verifyCoverage([file('plain', 100)], parts)).not.toThrow();
    expect(() => verifyCoverage([file('plain', 100)], parts, 1)).toThrow(
      'put 100 bytes on the piles, expected the 101',
    );
    expect(() => verifyCoverage([file('plain', 100)], parts, -1)).toThrow(VerificationError);
  });

  it('begins behind headers', () => {
    const header = { byteLength: 10, recordBytes: undefined };
    const withHeaders = [file('plain', 100, undefined, header), file('packed.gz', 10, gzip, header)];
    const behind = [part(10, 40), part(40, 100), part(10, 55, 1, 55)];
    expect(() => verifyCoverage(withHeaders, behind)).not.toThrow();
    expect(() => verifyCoverage([file('nothing else', 10, undefined, header)], [part(0, 0)])).not.toThrow();
    expect(() => verifyCoverage(withHeaders, whole.slice(0, 3))).toThrow(
      'plain was read up to byte 10 and from byte 0',
    );
    const check = new CoverageCheck([stream]);
    check.setHeader(0, header);
    check.add(part(10, 55, 0, 55));
    expect(() => check.verify(45)).not.toThrow();
  });

  it('counts records, and refuses ordinals that do not go on where those before end', () => {
    const counted = (start: number, end: number, first: number, last: number) => ({
      ...part(start, end),
      ordinals: { start: first, end: last },
    });
    const check = new CoverageCheck([file('plain', 100)]);
    for (const each of [counted(40, 100, 7, 9), counted(0, 40, 0, 7)]) check.add(each);
    expect(() => check.verify(100)).not.toThrow();
    expect(check.counts.records).toEqual(Float64Array.of(9));
    for (const first of [6, 8]) {
      const wrong = () => verifyCoverage([file('plain', 100)], [counted(0, 40, 0, 7), counted(40, 100, first, 9)]);
      expect(wrong).toThrow(VerificationError);
      expect(wrong).toThrow(`plain: the records from byte 40 on were counted from ${first} on, expected 7`);
    }
    expect(() => verifyCoverage([file('plain', 100)], [counted(0, 100, 1, 9)])).toThrow('expected 0');
  });

  it('refuses inputs that do not hold what their header says', () => {
    const header = { byteLength: 10, recordBytes: 45 };
    const inputs = [file('packed.gz', 10, gzip, header)];
    expect(() => verifyCoverage(inputs, [part(10, 55, 0, 55)])).not.toThrow();
    const ending = (end: number) => () => verifyCoverage(inputs, [part(10, end, 0, end)]);
    for (const end of [54, 56]) expect(ending(end)).toThrow(InputError);
    expect(ending(54)).toThrow('packed.gz: byte 54 is the end of the input; expected 55 bytes by its header');
    expect(ending(56)).toThrow('packed.gz: byte 55 lies behind the last record that its header declares');
  });

  it('refuses every tiling with one edge moved', () => {
    const edges = fc.uniqueArray(fc.integer({ min: 1, max: 98 }), { minLength: 1, maxLength: 8 });
    fc.assert(
      fc.property(edges, fc.nat(), fc.boolean(), (inside, which, isStart) => {
        const cuts = [0, ...inside.toSorted((a, b) => a - b), 100];
        const parts = cuts.slice(1).map((end, i) => part(cuts[i] ?? 0, end));
        expect(() => verifyCoverage([file('plain', 100)], parts)).not.toThrow();
        const moved = parts.map((each, i) => {
          if (i !== which % parts.length) return each;
          return isStart ? { ...each, start: each.start + 1 } : { ...each, end: each.end + 1 };
        });
        const last = moved.at(-1);
        // A part of one byte whose start moves is one that holds nothing: a gap all the same.
        expect(last).toBeDefined();
        expect(() => verifyCoverage([file('plain', 100)], moved)).toThrow(VerificationError);
      }),
    );
  });
});

describe('verifyRange', () => {
  const totals: PileTotals = {
    records: Float64Array.of(5, 3, 0, 8),
    recordBytes: Float64Array.of(50, 30, 0, 80),
    checksums: BigUint64Array.of(1n, 2n ** 64n - 1n, 0n, 4n),
  };
  const run = { first: 1, end: 4, firstRank: 5, firstByte: 50 };
  const totalsOfRange = (): PileTotals => ({
    records: Float64Array.of(3, 0, 8),
    recordBytes: Float64Array.of(30, 0, 80),
    checksums: BigUint64Array.of(2n ** 64n - 1n, 0n, 4n),
  });
  const resultOf = (ofRange = totalsOfRange()): WriteResult => ({ totals: ofRange, regions: [] });

  it('accepts what pass 1 put there', () => {
    expect(() => verifyRange(totals, run, resultOf())).not.toThrow();
  });

  it.each([0, 1, 2])('refuses pile %i of the range with a record, a byte or a hash more or less', (i) => {
    for (const by of [1, -1]) {
      const [records, bytes, checksum] = [totalsOfRange(), totalsOfRange(), totalsOfRange()];
      records.records[i] = (records.records[i] ?? 0) + by;
      bytes.recordBytes[i] = (bytes.recordBytes[i] ?? 0) + by;
      checksum.checksums[i] = (checksum.checksums[i] ?? 0n) + BigInt(by);
      for (const result of [records, bytes, checksum].map(resultOf)) {
        expect(() => verifyRange(totals, run, result)).toThrow(VerificationError);
        expect(() => verifyRange(totals, run, result)).toThrow(`pile ${run.first + i} came out of pass 2 with`);
      }
    }
  });

  it('refuses two piles exchanged, and a result that lacks a pile', () => {
    const { records, recordBytes, checksums } = totalsOfRange();
    const exchanged = {
      records: records.toReversed(),
      recordBytes: recordBytes.toReversed(),
      checksums: checksums.toReversed(),
    };
    expect(() => verifyRange(totals, run, resultOf(exchanged))).toThrow(VerificationError);
    const short = { ...totalsOfRange(), records: records.subarray(0, 2) };
    expect(() => verifyRange(totals, run, resultOf(short))).toThrow(VerificationError);
  });
});
