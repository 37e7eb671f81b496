/**
 * Damage never gives other records. Every prefix of an input, and every input with a changed byte that the format can
 * detect, is refused or holds the records that the simplest reader finds.
 */
import { describe, expect, it } from 'vitest';
import type { FramingSpec } from '#src/formats/framing-table.js';
import { fromCi, sampled } from '../fixtures/scale.js';
import { prefixed, splitPlainly, tfrecordOf } from './plain-framings.js';
import { TAR_DIALECTS, tarOf } from './plain-tar.js';
import { Malformed, type Pieces, scan } from './scan-in-pieces.js';

const AT_ONCE: Pieces = { sizes: [100_000], most: 1024 };
const SMALL: readonly Pieces[] = [AT_ONCE, { sizes: [1], most: 1 }, { sizes: [3, 70], most: 2 }];
/** Tar files have thousands of bytes, and as many beginnings. */
const LARGE: readonly Pieces[] = [AT_ONCE, { sizes: [700], most: 1 }];

const texts = ['', 'a', '"\n"', 'x'.repeat(130), '\n\n'].map((text) => Buffer.from(text));
const all = (write: (data: Buffer) => Buffer) => Buffer.concat([...texts, ...texts].map(write));
const prefixes = ['u32le', 'u32be', 'u64le', 'varint'] as const;

/** @returns undefined: refused. */
function recordsOf(spec: FramingSpec, input: Buffer, pieces: Pieces): string[] | undefined {
  try {
    return scan(spec, input, pieces).map((record) => record.toString('latin1'));
  } catch (error) {
    if (error instanceof Malformed) return undefined;
    throw error;
  }
}

/** How many of the inputs were not refused; each of them holds what the plain reading finds. */
function countTaken(spec: FramingSpec, inputs: Iterable<Buffer>): number {
  let taken = 0;
  for (const input of inputs) {
    const found = (spec.kind === 'webdataset' ? LARGE : SMALL).map((pieces) => recordsOf(spec, input, pieces));
    const [records] = found;
    for (const other of found) expect(other).toEqual(records);
    if (records === undefined) continue;
    taken += 1;
    expect(records).toEqual(splitPlainly(spec, input).map((record) => record.toString('latin1')));
  }
  return taken;
}

function* beginningsOf(input: Buffer): Generator<Buffer> {
  for (let end = 1; end < input.byteLength; end++) yield input.subarray(0, end);
}

/** The input with each of the bytes [start, end) changed to several others. */
function* changedIn(input: Buffer, start: number, end: number): Generator<Buffer> {
  for (let at = start; at < end; at++) {
    for (const change of sampled([0x01, 0x80, 0xff, 0x20], 2)) {
      const copy = Buffer.from(input);
      copy[at] = (copy[at] ?? 0) ^ change;
      yield copy;
    }
  }
}

describe('every beginning of an input', () => {
  it.each<FramingSpec>([
    { kind: 'lines', value: 1 },
    { kind: 'delimiter', value: '0d0a' },
    { kind: 'delimiter', value: '0a0a' },
    { kind: 'paragraphs', value: null },
  ])('is taken, where records are told by their ends alone: %j', (spec) => {
    const input = Buffer.from('a\r\n\r\n\nb\n\n\nccc\r\n\r\r\n"\n');
    expect(countTaken(spec, beginningsOf(input))).toBe(input.byteLength - 1);
  });

  it('is taken when its lines divide', () => {
    // Each record of three lines may lack the last newline, unless nothing stands before that.
    const input = Buffer.from('a\nb\nc\nd\n\nee\n\n\n\n');
    expect(countTaken({ kind: 'lines', value: 3 }, beginningsOf(input))).toBe(5);
  });

  it('is taken outside of quotes', () => {
    const input = Buffer.from('a,"b\nc"\n"d""\n"\n');
    const outside = [...beginningsOf(input)].filter(
      (part) => part.filter((byte) => byte === 0x22).byteLength % 2 === 0,
    );
    expect(countTaken({ kind: 'csv', value: null }, beginningsOf(input))).toBe(outside.length);
  });

  it('is taken when it divides', () => {
    expect(countTaken({ kind: 'size', value: 7 }, beginningsOf(Buffer.alloc(70, 'abc')))).toBe(9);
  });

  it.each(prefixes)('is taken between records with lengths: %s', (prefix) => {
    const input = all((data) => prefixed(data, prefix));
    expect(countTaken({ kind: 'length-prefix', value: prefix }, beginningsOf(input))).toBe(2 * texts.length - 1);
  });

  it('is taken between TFRecords', () => {
    expect(countTaken({ kind: 'tfrecord', value: null }, beginningsOf(all(tfrecordOf)))).toBe(2 * texts.length - 1);
  });

  it.runIf(fromCi)('is taken behind the first zero block of a tar file', () => {
    const entries = TAR_DIALECTS.map((dialect, i) => ({
      name: `d/${i >> 1}.${dialect}`,
      data: texts[3] ?? expect.fail(),
      dialect,
    }));
    expect(countTaken({ kind: 'webdataset', value: null }, beginningsOf(tarOf(entries, 3)))).toBe(2 * 512);
  });
});

describe('every byte', () => {
  it('of a TFRecord is looked at', () => {
    const input = all(tfrecordOf);
    expect(countTaken({ kind: 'tfrecord', value: null }, changedIn(input, 0, input.byteLength))).toBe(0);
  });

  it('of a tar header is looked at, but for those behind the digits of its checksum', () => {
    const input = tarOf(['0.a', '0.b', '1.a'].map((name) => ({ name, data: Buffer.from(name) })));
    const spec: FramingSpec = { kind: 'webdataset', value: null };
    const [digitsEnd, checksumEnd] = [154, 156];
    for (const header of sampled([0, 1024, 2048], 3, 1)) {
      expect(countTaken(spec, changedIn(input, header, header + digitsEnd))).toBe(0);
      expect(countTaken(spec, changedIn(input, header + digitsEnd, header + checksumEnd))).toBeGreaterThan(0);
      expect(countTaken(spec, changedIn(input, header + checksumEnd, header + 512))).toBe(0);
    }
  });
});
