/**
 * All framings, against the plainest way to say what their records are: whole or in pieces of any size, with any
 * number of records at a time, wherever the bytes lie.
 */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { BadRecord, type Cut } from '#src/formats/framing.js';
import { type FramingSpec, framingOf, LINES } from '#src/formats/framing-table.js';
import { ARENA_START, Kernel } from '#workers/kernel/kernel.js';
import { framedInputs } from './any-records.js';
import { crc32c, prefixed, splitPlainly, tfrecordOf } from './plain-framings.js';

const kernel = new Kernel();
kernel.ensureArena(256 * 1024);
const TABLE = ARENA_START;
const DATA = ARENA_START + 16 * 1024;
const LIMITS = { maxRecordBytes: 100_000 };

interface Pieces {
  readonly sizes: readonly number[];
  readonly most: number;
}

/** Scans as a task does: what is not scattered moves to the front before each piece. */
function scan(spec: FramingSpec, input: Buffer, { sizes, most }: Pieces): Buffer[] {
  const scanner = framingOf(spec).openScanner(kernel, LIMITS, 0);
  const records: Buffer[] = [];
  let recordStart = DATA;
  let scannedEnd = DATA;
  let filledEnd = DATA;
  const take = (piece: Uint8Array) => {
    kernel.bytes.copyWithin(DATA, recordStart, filledEnd);
    const moved = recordStart - DATA;
    [recordStart, scannedEnd, filledEnd] = [DATA, scannedEnd - moved, filledEnd - moved];
    kernel.bytes.set(piece, filledEnd);
    filledEnd += piece.byteLength;
    // What lies behind must not matter.
    kernel.bytes.set(Buffer.from('\n"\n\n\0ab\r\n'), filledEnd);
    for (let count = most; count === most; ) {
      count = scanner.scan(scannedEnd, filledEnd, recordStart, TABLE, most);
      for (let i = 0; i < count; i++) {
        expect(kernel.view.getUint32(TABLE + 8 * i, true)).toBe(recordStart);
        const end = kernel.view.getUint32(TABLE + 8 * i + 4, true);
        records.push(Buffer.from(kernel.bytes.subarray(recordStart, end)));
        recordStart = end;
      }
      scannedEnd = count === most ? recordStart : filledEnd;
    }
  };
  for (let at = 0, i = 0; at < input.byteLength; i++) {
    const size = sizes[i % sizes.length] ?? 1;
    take(input.subarray(at, at + size));
    at += size;
  }
  if (filledEnd > recordStart) {
    const missing = scanner.complete(recordStart, filledEnd);
    if (missing === 'trailer') return records;
    kernel.bytes.set(missing, filledEnd);
    records.push(Buffer.from(kernel.bytes.subarray(recordStart, filledEnd + missing.byteLength)));
  }
  return records;
}

const pieces: fc.Arbitrary<Pieces> = fc.record({
  sizes: fc.array(fc.oneof(fc.integer({ min: 1, max: 9 }), fc.integer({ min: 10, max: 500 })), {
    minLength: 1,
    maxLength: 4,
  }),
  most: fc.oneof(fc.integer({ min: 1, max: 5 }), fc.constant(1024)),
});
const texts = (records: readonly Buffer[]) => records.map((record) => record.toString('latin1'));

describe.each(Object.entries(framedInputs))('%s', (_, framed) => {
  it('finds the records of any input, in pieces of any size', () => {
    fc.assert(
      fc.property(framed, pieces, ({ spec, input }, cut) => {
        expect(texts(scan(spec, input, cut))).toEqual(texts(splitPlainly(spec, input)));
      }),
      { numRuns: 500 },
    );
  });
});

describe('a framing says where an input may be cut', () => {
  it.each<[FramingSpec, Cut]>([
    [LINES, { kind: 'anywhere', lookBehindBytes: 1 }],
    [
      { kind: 'delimited', value: '0d0a' },
      { kind: 'anywhere', lookBehindBytes: 2 },
    ],
    [{ kind: 'delimited', value: '0d0a0d0a' }, { kind: 'never' }],
    [{ kind: 'delimited', value: '0a0a' }, { kind: 'never' }],
    [{ kind: 'delimited', value: '616261' }, { kind: 'never' }],
    [
      { kind: 'lines', value: 4 },
      { kind: 'after-counting', byte: 0x0a, lookBehindBytes: 1 },
    ],
    [
      { kind: 'csv', value: null },
      { kind: 'after-counting', byte: 0x22, lookBehindBytes: 1 },
    ],
    [
      { kind: 'fixed', value: 12 },
      { kind: 'every', byteLength: 12 },
    ],
    [{ kind: 'paragraphs', value: null }, { kind: 'never' }],
    [{ kind: 'tfrecord', value: null }, { kind: 'never' }],
    [{ kind: 'length-prefixed', value: 'varint' }, { kind: 'never' }],
  ])('%j: %j', (spec, cut) => {
    expect(framingOf(spec).cut).toEqual(cut);
  });
});

describe('what is malformed', () => {
  const all: Pieces = { sizes: [1000], most: 1024 };
  const flipped = (bytes: Buffer, at: number) => {
    const copy = Buffer.from(bytes);
    copy[at] = (copy[at] ?? 0) ^ 1;
    return copy;
  };
  const [one, two] = [tfrecordOf(Buffer.from('one')), tfrecordOf(Buffer.from('two'))];

  it.each<[string, FramingSpec, Buffer, number, RegExp]>([
    [
      'lines that are too few',
      { kind: 'lines', value: 4 },
      Buffer.from('a\nb\nc\nd\ne\nf'),
      8,
      /^begins a record of 2 lines, .*expected 4 lines a record$/,
    ],
    [
      'a quote that is not closed',
      { kind: 'csv', value: null },
      Buffer.from('a\n"b\nc\n'),
      2,
      /^begins a record with a double quote that is not closed before the input ends$/,
    ],
    [
      'a size that does not divide',
      { kind: 'fixed', value: 4 },
      Buffer.from('0123456'),
      4,
      /^begins a record of 3 bytes, .*expected 4 bytes a record$/,
    ],
    [
      'a TFRecord whose length is damaged',
      { kind: 'tfrecord', value: null },
      Buffer.concat([one, flipped(two, 2)]),
      19,
      /^begins a record whose length does not match its checksum/,
    ],
    [
      'a TFRecord whose data is damaged',
      { kind: 'tfrecord', value: null },
      Buffer.concat([one, flipped(two, 13)]),
      19,
      /^begins a record of 3 bytes of data that do not match their checksum$/,
    ],
    [
      'a TFRecord that is cut off',
      { kind: 'tfrecord', value: null },
      Buffer.concat([one, two.subarray(0, -1)]),
      19,
      /^begins a record that the input ends inside of, after 18 bytes: it is truncated$/,
    ],
    [
      'an absurd length',
      { kind: 'length-prefixed', value: 'u64le' },
      Buffer.concat([prefixed(Buffer.from('x'), 'u64le'), Buffer.alloc(8, 0xff)]),
      9,
      /^begins a record that claims 18446744073709551615 bytes, more than --max-record allows/,
    ],
    [
      'a length over the limit',
      { kind: 'length-prefixed', value: 'u32be' },
      Buffer.from('00020000', 'hex'),
      0,
      /claims 131072 bytes/,
    ],
    [
      'a varint without an end',
      { kind: 'length-prefixed', value: 'varint' },
      Buffer.alloc(12, 0xff),
      0,
      /^begins a record whose length is no varint/,
    ],
    [
      'a record that is cut off',
      { kind: 'length-prefixed', value: 'u32le' },
      Buffer.from('05000000616263', 'hex'),
      0,
      /after 7 bytes: it is truncated$/,
    ],
  ])('is told with its place: %s', (_, spec, input, address, problem) => {
    try {
      scan(spec, input, all);
    } catch (error) {
      if (!(error instanceof BadRecord)) throw error;
      expect(error.message).toMatch(problem);
      // Records before it may have been taken away.
      expect([DATA, DATA + address]).toContain(error.address);
      return;
    }
    expect.fail('it was taken for good');
  });
});

it('CRC-32C gives the published value', () => {
  expect(crc32c(Buffer.from('123456789'))).toBe(0xe3069283);
});
