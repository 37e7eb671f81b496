/**
 * All framings, against the simplest definition of their records: whole or in pieces of any size, with any number of
 * records at a time, at any address.
 */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { type FramingSpec, framingOf } from '#src/formats/framing-table.js';
import { framedInputs } from './any-records.js';
import { crc32c, prefixed, splitPlainly, tfrecordOf } from './plain-framings.js';
import { paxLine, TAR_DIALECTS, tarEntry, tarHeader, tarNote, tarOf, withChecksum } from './plain-tar.js';
import { type Pieces, scan } from './scan-in-pieces.js';

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

describe('paragraphs of a file that lacks its last newline', () => {
  const spec: FramingSpec = { kind: 'paragraphs', value: null };
  const recordsOf = (text: string) => texts(scan(spec, Buffer.from(text), { sizes: [3], most: 2 }));

  it.each([
    ['a\n\r', ['a\n\r\n']],
    ['a\r\n\r', ['a\r\n\r\n']],
    ['a\n\n\r', ['a\n\n\r\n']],
    ['a\r', ['a\r\n\r\n']],
    ['\r', ['\r\n']],
    ['a\n\nb\r', ['a\n\n', 'b\r\n\r\n']],
    ['a\r\n\r\nb', ['a\r\n\r\n', 'b\r\n\r\n']],
    ['a\n\n\nb', ['a\n\n\n', 'b\n\n']],
    ['a\r\nb', ['a\r\nb\r\n\r\n']],
  ])('%j are %j', (text, records) => expect(recordsOf(text)).toEqual(records));
});

describe('what is malformed', () => {
  const flipped = (bytes: Buffer, at: number) => {
    const copy = Buffer.from(bytes);
    copy[at] = (copy[at] ?? 0) ^ 1;
    return copy;
  };
  const [one, two] = [tfrecordOf(Buffer.from('one')), tfrecordOf(Buffer.from('two'))];
  const CSV: FramingSpec = { kind: 'csv', value: null };
  const FASTA: FramingSpec = { kind: 'begins-with', value: '3e' };
  const FASTQ: FramingSpec = { kind: 'fastq', value: null };
  const TFRECORD: FramingSpec = { kind: 'tfrecord', value: null };
  const ofLength = (value: 'u32be' | 'u64le' | 'varint'): FramingSpec => ({ kind: 'length-prefix', value });
  const TAR: FramingSpec = { kind: 'webdataset', value: null };
  const end = Buffer.alloc(1024);
  const sample = { name: '1.a', data: Buffer.alloc(600, 'data') };
  const tar = tarOf([sample]);
  const header = (of: Parameters<typeof tarHeader>[0]) => Buffer.concat([tarHeader(of), end]);
  const odd = withChecksum(Buffer.from(tarOf([sample]).fill('9', 124, 130).subarray(0, 512)));
  const isLate = [tarEntry({ name: '0.a' }), tarNote('g', paxLine('comment', 'c')), tar];

  it.each<[string, FramingSpec, string | Buffer | Buffer[], number, RegExp]>([
    ['a quote that is not closed', CSV, 'a\n"b\nc\n', 2, /^begins a record with a double quote that is not closed/],
    ['a quote in a field', CSV, 'a,"b"\n6" pipe,c\n', 7, /^is a double quote in a field that does not/],
    ['a quote behind a space', CSV, 'a, "b"\n', 3, /^is a double quote in a field that does not/],
    ['text behind a quote', CSV, '"a";"b"c\n', 7, /^is text after the double quote that ends/],
    ['a line end inside of another', CSV, '"a"\rb\n', 4, /^is text after the double quote that ends/],
    ['text before a sequence', FASTA, '\n>a\n', 0, /^is before the first record; expected ">" at its/],
    ['text that is not a sequence', FASTA, ';a', 0, /^is before the first record/],
    ['a read without @', FASTQ, 'a\nA\n+\nI\n', 0, /^begins a read with "a"; expected @: a read is four/],
    ['a wrapped read', FASTQ, '@1\nA\n+\nI\n@2\r\nA\r\nA\r\n+\r\nII\r\n', 16, /^begins the third line/],
    ['a quality that is too short', FASTQ, '@1\nAC\n+\nI\r\n', 0, /sequence of 2 and a quality of 1; /],
    ['a last read that is wrong', FASTQ, '@1\nAC\n+\nI', 0, /sequence of 2 and a quality of 1; /],
    ['a read that is cut off', FASTQ, '@1\nAC\n+\n', 0, /^begins a record of 3 lines at the end/],
    ['a read after a blank line', FASTQ, '@1\nA\n+\nI\n \n@1\n', 11, /^lies after a blank line/],
    ['a wrong length', TFRECORD, [one, flipped(two, 2)], 19, /^begins a record whose length does not match its/],
    ['a cut record', TFRECORD, [one, two.subarray(0, -1)], 19, /^begins a truncated .* ends after 18 of its bytes$/],
    [
      'an absurd length',
      ofLength('u64le'),
      [prefixed(Buffer.from('x'), 'u64le'), Buffer.alloc(8, 0xff)],
      9,
      /^begins a record that claims 18446744073709551615 bytes, more than `maxRecordBytes` allows/,
    ],
    ['a length over the limit', ofLength('u32be'), '\0\x02\0\0', 0, /claims 131072 bytes/],
    [
      'an endless varint',
      ofLength('varint'),
      Buffer.alloc(12, 0xff),
      0,
      /^begins a record whose length is not a varint/,
    ],
    ['a cut varint', ofLength('varint'), Buffer.of(1, 0x61, 0xac), 2, /^begins a truncated .* after 1 of its bytes$/],
    ['no end', TAR, tarOf([{ name: '0.a' }], 0), 512, /^is the end of a tar file without the zero blocks/],
    ['a cut header', TAR, tarOf([{ name: '0.a' }, sample], 0).subarray(0, 600), 0, /^begins a sample that/],
    ['cut data', TAR, tarOf([sample], 0).subarray(0, 1024), 0, /^begins a sample that .*truncated$/],
    ['no announced member', TAR, [tarEntry(sample), tarNote('L', '1.a\0'), end], 2560, /^is a zero block where a/],
    ['bytes behind the end', TAR, [tar, tar], 2560, /^lies after the zero blocks/],
    [
      'a damaged header',
      TAR,
      flipped(tarOf([{ name: '0.a' }, sample]), 520),
      512,
      /^is not a tar header: its checksum/,
    ],
    ['a size that is not a number', TAR, [odd, end], 0, /^is a tar header whose size is not a number$/],
    [
      'a member of an absurd size',
      TAR,
      header({ name: '0.a', byteLength: 2 ** 40, type: '0', isBase256: true }),
      0,
      /^begins a member of 1099511628288 bytes, which makes its sample longer than `maxRecordBytes` allows; raise it$/,
    ],
    ['an absurd name', TAR, header({ name: 'x', byteLength: 2 ** 21, type: 'x' }), 0, /claims 2097152 bytes of notes/],
    ['a pax header without lengths', TAR, [tarNote('x', 'path=0.a\n'), tar], 0, /^is a pax .* not made of lines/],
    ['a pax line that goes on', TAR, [tarNote('x', '13 path=0.a\n'), tar], 0, /^is a pax .* not made of lines/],
    [
      'a pax size of no bytes',
      TAR,
      [tarNote('x', paxLine('size', '-1')), tar],
      0,
      /^is a pax .* size is not a number$/,
    ],
    ['a late global header', TAR, isLate, 512, /^is a global pax header after the first member/],
    ['a member without a key', TAR, tarOf([{ name: '0.a' }, { name: 'd.e/README' }]), 512, /"d.e\/README", whose base/],
    ['a hidden member', TAR, tarOf([{ name: 'd/.a.jpg' }]), 0, /"d\/.a.jpg", whose base name has nothing/],
    ['a hard link', TAR, header({ name: '1.a', byteLength: 0, type: '1' }), 0, /^is the header of "1.a", a hard link/],
  ])('is told with its place: %s', (_, spec, given, position, problem) => {
    const input = Array.isArray(given) ? Buffer.concat(given) : Buffer.from(given);
    for (const sizes of [[1000], [1], [100_000]]) {
      const malformed = expect(() => scan(spec, input, { sizes, most: 1024 }));
      malformed.toThrow(expect.objectContaining({ message: expect.stringMatching(problem), position }));
    }
  });
});

describe('samples of a tar file', () => {
  const spec: FramingSpec = { kind: 'webdataset', value: null };
  const scanAll = (input: Buffer) => texts(scan(spec, input, { sizes: [10_000], most: 1024 }));
  const blocks = (...parts: Buffer[]) => Buffer.concat(parts).toString('latin1');
  const [jpg, txt, dir, next] = ['a/0.jpg', 'a/0.seg.txt', 'b/', 'b/0.jpg'].map((name) => tarEntry({ name })) as [
    Buffer,
    Buffer,
    Buffer,
    Buffer,
  ];
  const end = Buffer.alloc(1024);

  it('end where the key changes; directories go with the sample behind them, or with the last', () => {
    expect(scanAll(Buffer.concat([jpg, txt, dir, next, end]))).toEqual([blocks(jpg, txt), blocks(dir, next)]);
    expect(scanAll(Buffer.concat([jpg, dir, txt, next, dir, dir, end]))).toEqual([
      blocks(jpg, dir, txt),
      blocks(next, dir, dir),
    ]);
    expect(scanAll(Buffer.concat([jpg, next, txt, end]))).toEqual([blocks(jpg), blocks(next), blocks(txt)]);
    expect(scanAll(Buffer.concat([dir, dir, end]))).toEqual([blocks(dir, dir)]);
    expect(scanAll(end)).toEqual([]);
  });

  it('have what is said of a member before it, and of a directory before that', () => {
    const long = `${'d'.repeat(200)}/0.jpg`;
    const said = tarEntry({ name: long, dialect: 'gnu' });
    const saidOfDirectory = tarEntry({ name: `${'e'.repeat(200)}/`, dialect: 'pax' });
    expect(scanAll(Buffer.concat([jpg, said, saidOfDirectory, next, end]))).toEqual([
      blocks(jpg),
      blocks(said),
      blocks(saidOfDirectory, next),
    ]);
  });

  it('may have long names whose beginning looks like the name of a directory', () => {
    const name = `${'d/'.repeat(60)}0.jpg`;
    for (const dialect of ['gnu', 'pax'] as const) {
      const long = tarEntry({ name, data: Buffer.alloc(700), dialect });
      const header = long.subarray(long.byteLength - 512 - 1024, long.byteLength - 1024);
      withChecksum(header.fill(name.slice(0, 100), 0, 100));
      expect(scanAll(Buffer.concat([jpg, long, next, end]))).toEqual([blocks(jpg), blocks(long), blocks(next)]);
    }
  });

  it('may hold sparse files, whose maps go on in further blocks and whose names stand elsewhere', () => {
    const sparse = tarHeader({ name: 'a/0.bin', byteLength: 512, type: 'S', magic: 'ustar  \0' });
    sparse[482] = 1;
    const [more, last] = [Buffer.alloc(512, 1), Buffer.alloc(512)];
    const old = Buffer.concat([withChecksum(sparse), more, last, Buffer.alloc(512, 'data')]);
    const named = Buffer.concat([
      tarNote('x', paxLine('path', 'GNUSparseFile.0/0.bin') + paxLine('GNU.sparse.name', 'a/0.sparse')),
      tarHeader({ name: 'GNUSparseFile.0/0.bin', byteLength: 0, type: '0' }),
    ]);
    const [whole, samples] = [Buffer.concat([jpg, old, named, next, end]), [blocks(jpg, old, named), blocks(next)]];
    expect(scanAll(whole)).toEqual(samples);
    for (const size of [100, 511, 512, 513])
      expect(texts(scan(spec, whole, { sizes: [size], most: 3 }))).toEqual(samples);
  });

  it('may hold links and devices, which have no data whatever their size', () => {
    const link = tarHeader({ name: 'a/0.link', byteLength: 5000, type: '2' });
    const device = Buffer.concat([
      tarNote('x', paxLine('size', '700')),
      tarHeader({ name: 'a/0.tty', byteLength: 0, type: '3' }),
    ]);
    expect(scanAll(Buffer.concat([jpg, link, device, next, end]))).toEqual([blocks(jpg, link, device), blocks(next)]);
  });

  it('are told apart by the bytes of their names', () => {
    // Neither of the two is UTF-8.
    const [one, two] = [0xe9, 0xe8].map((byte) => {
      const block = tarHeader({ name: 'x.jpg', byteLength: 0, type: '0' });
      block[0] = byte;
      return withChecksum(block);
    }) as [Buffer, Buffer];
    expect(scanAll(Buffer.concat([one, two, end]))).toEqual([blocks(one), blocks(two)]);
  });

  it('have the key of their first file, in all dialects', () => {
    const keyOf = (...parts: Buffer[]) => framingOf(spec).sampleKeys?.keyOf(Buffer.concat(parts));
    for (const dialect of TAR_DIALECTS) {
      for (const name of ['a.b/é.seg.txt', './a/0.x', `${'d/'.repeat(40)}0.jpg`]) {
        const file = tarEntry({ name, data: Buffer.alloc(700), dialect });
        const key = Buffer.from(name.slice(0, name.indexOf('.', name.lastIndexOf('/'))), 'utf8').toString('latin1');
        expect(keyOf(file)).toBe(key);
        expect(keyOf(tarEntry({ name: `${'e/'.repeat(90)}`, dialect: 'pax' }), file, next)).toBe(key);
      }
    }
    const link = tarHeader({ name: 'b/0.link', byteLength: 5000, type: '2' });
    expect(keyOf(dir, link, jpg, next)).toBe('a/0');
    // Nothing that readers see, or not all of it.
    for (const parts of [[], [end], [dir, link], [tarEntry({ name: 'README' })], [tarNote('L', 'a'.repeat(999))]]) {
      expect(keyOf(...parts)).toBe(undefined);
    }
    expect(keyOf(tarNote('L', `${'a'.repeat(999)}.x`).subarray(0, 1024), jpg)).toBe(undefined);
  });
});

it('CRC-32C gives the published value', () => {
  expect(crc32c(Buffer.from('123456789'))).toBe(0xe3069283);
});
