/**
 * Formats that are not lines: each is known by its first bytes, in pieces of any size, and no text is taken for one. Files
 * without content are known for what they are, and files of as few bytes that have content are not.
 */
import { gzipSync } from 'node:zlib';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { InputError } from '#src/errors.js';
import { examinedPieces } from '#src/formats/first-bytes.js';
import { LINES } from '#src/formats/framing-table.js';
import { FORMAT_HEAD_BYTES, foreignFormatOf, holdsNothing, rowsIn } from '#src/formats/recognition.js';
import { BGZF_END, bgzfFile } from './codecs/bgzf-file.js';
import { foreignSamples } from './foreign-samples.js';

/** Each piece is overwritten when the next one is asked for, as decoders do. */
async function* piecesOf(bytes: Uint8Array, sizes: readonly number[]): AsyncGenerator<Uint8Array> {
  for (let start = 0, i = 0; start < bytes.byteLength; i++) {
    const piece = new Uint8Array(bytes.subarray(start, start + (sizes[i % sizes.length] ?? 1)));
    yield piece;
    start += piece.byteLength;
    piece.fill(0);
  }
}

const format = { framing: LINES, header: undefined, linesAssumed: true };

async function linesOf(bytes: Uint8Array, sizes: readonly number[]): Promise<Buffer> {
  const taken: Buffer[] = [];
  for await (const piece of examinedPieces(piecesOf(bytes, sizes), 'in', format, () => {}))
    taken.push(Buffer.from(piece));
  return Buffer.concat(taken);
}

const sizes = fc.array(fc.integer({ min: 1, max: 700 }), { minLength: 1, maxLength: 5 });

describe('a file that is not lines', () => {
  it.each(foreignSamples.map(([name, bytes], i) => [i, name, bytes] as const))('%i: %s', async (_, name, bytes) => {
    expect(foreignFormatOf(bytes)?.name).toBe(name);
    for (const size of [1, 7, FORMAT_HEAD_BYTES - 1, FORMAT_HEAD_BYTES, 10_000]) {
      const refused = linesOf(bytes, [size]);
      await expect(refused).rejects.toBeInstanceOf(InputError);
      await expect(refused).rejects.toMatchObject({
        code: 'ERR_INPUT_FORMAT',
        message: expect.stringContaining(`in holds ${name}, not lines; `),
      });
    }
  });

  it.each([
    ['gzip', gzipSync('one\ntwo\n')],
    ['bgzf', bgzfFile([Buffer.from('one\n')])],
    ['zstd', Buffer.from('28b52ffd2004210000', 'hex')],
  ])('may be compressed once more: %s', async (name, bytes) => {
    await expect(linesOf(bytes, [5])).rejects.toThrow(`in holds ${name} data that are compressed once more, not lines`);
  });
});

describe('rows', () => {
  it.each([
    ['a.h5', 'text\n', 2 ** 20, 'HDF5'],
    ['a.bin', '\0', 2 ** 20, 'HDF5'],
    ['a.txt', 'text\n', 2 ** 20, undefined],
    ['a.h5', 'text\n', 3 * 2 ** 12, undefined],
  ])('of HDF5 may begin after a block of the user: %s, %j', (path, content, blockBytes, expected) => {
    const bytes = Buffer.concat([Buffer.alloc(blockBytes, content), Buffer.from('894844460d0a1a0a00', 'hex')]);
    const read = (at: number, byteLength: number) => bytes.subarray(at, at + byteLength);
    expect(rowsIn(path, bytes.subarray(0, FORMAT_HEAD_BYTES), bytes.byteLength, read)?.format).toBe(expected);
  });
});

describe('text of two or four bytes a character', () => {
  const languages = {
    English: 'A line of text.\nAnd one more.\n',
    Russian: '\u0421\u0442\u0440\u043e\u043a\u0430 \u0442\u0435\u043a\u0441\u0442\u0430\n',
    Greek: '\u03b3\u03c1\u03b1\u03bc\u03bc\u03ae \u03ba\u03b5\u03b9\u03bc\u03ad\u03bd\u03bf\u03c5\n',
    Hebrew: '\u05e9\u05d5\u05e8\u05d4 \u05e9\u05dc \u05d8\u05e7\u05e1\u05d8\n',
    Hindi: '\u092a\u093e\u0920 \u0915\u0940 \u092a\u0902\u0915\u094d\u0924\u093f\n',
    Chinese: '\u4e00\u884c\u6587\u5b57\u5728\u8fd9\u91cc\n\u8fd8\u6709\u4e00\u884c\n',
    Korean: '\uae00\uc790 \ud55c \uc904\n',
    emoji: '\u{1f600}\u{1f601}\n\u{1f602}\n',
  };
  const inUtf32 = (text: string) =>
    Buffer.from(Uint32Array.from([...text].map((character) => character.codePointAt(0) ?? 0)).buffer);

  it.each(Object.entries(languages))('is none in %s, short and long', (_, line) => {
    for (const text of [line, line.repeat(500)]) {
      const utf16 = Buffer.from(text, 'utf16le');
      const utf32 = inUtf32(text);
      expect(foreignFormatOf(utf16)?.name).toBe('what looks like UTF-16LE text');
      expect(foreignFormatOf(Buffer.from(utf16).swap16())?.name).toBe('what looks like UTF-16BE text');
      expect(foreignFormatOf(utf32)?.name).toBe('what looks like UTF-32LE text');
      expect(foreignFormatOf(Buffer.from(utf32).swap32())?.name).toBe('what looks like UTF-32BE text');
    }
  });

  it('is none with a mark, even without a newline', () => {
    const marked = Buffer.from('\ufeff\u4e2d', 'utf16le');
    expect(foreignFormatOf(marked)?.name).toBe('UTF-16 text');
    expect(foreignFormatOf(inUtf32('\ufeff\u4e2d'))?.name).toBe('UTF-32 text');
  });

  it.each([
    ['UTF-8', Buffer.from(Object.values(languages).join('').repeat(20))],
    ['Latin-1', Buffer.from('une ligne tr\u00e8s fran\u00e7aise\n'.repeat(40), 'latin1')],
    [
      'a code of one byte for Russian',
      Buffer.from(Array.from({ length: 900 }, (_, i) => (i % 9 === 8 ? 10 : 0xe0 + (i % 31)))),
    ],
    [
      'a code of two bytes for Chinese',
      Buffer.from(Array.from({ length: 900 }, (_, i) => (i % 21 === 20 ? 10 : 0xb0 + ((i * 7) % 72)))),
    ],
  ])('is not %s into which NULs have got', (_, text) => {
    for (const places of [[10], [11], [10, 200, 333], [3, 4]]) {
      const bytes = Buffer.from(text);
      for (const place of places) bytes[place] = 0;
      expect(foreignFormatOf(bytes)).toBeUndefined();
    }
  });
});

describe('text', () => {
  it.each([
    '',
    '\n',
    'PAR1 is a word\n',
    'PAREnthesis\n',
    'ORCID,name\n0000-0001,Ada\n',
    'ARROW1\n',
    'FEA1\n',
    'BAM\n',
    'CRAM 2\n',
    'BCF\n',
    'Object\n',
    'PK\n',
    '7z\n',
    'SQLite format 3\n',
    'WARC files\n',
    '%PDF\n',
    '\u00ff\u00fe\n',
    '\ufeffwith a byte order mark\n',
    `${'x'.repeat(257)}ustar 00\n`,
    '[1,2]\n{"a": "\\u0093NUMPY"}\n',
    'one\0\n',
    'a NUL that got into a line of text\0\n',
    `\u043d\u0435\u0442\0\n`,
    `${'\u4e2d\u6587\n'.repeat(100)}\0\n`,
  ])('%j is taken', async (text) => {
    const bytes = Buffer.from(text);
    expect(foreignFormatOf(bytes)).toBeUndefined();
    expect((await linesOf(bytes, [3])).equals(bytes)).toBe(true);
  });

  it('of any words and length is taken, in any pieces', async () => {
    const words = fc.oneof(
      fc.string({ unit: 'grapheme', maxLength: 300 }),
      fc.constantFrom('PAR1', 'ORC', 'ARROW1', 'WARC', 'ustar  ', '\n', '\r\n', '\t'),
    );
    const text = fc.array(words, { maxLength: 12 }).map((all) => all.join('').replaceAll('\0', ' '));
    await fc.assert(
      fc.asyncProperty(text, sizes, async (content, pieces) => {
        const bytes = Buffer.from(content);
        expect((await linesOf(bytes, pieces)).equals(bytes)).toBe(true);
      }),
    );
  });
});

const hex = (text: string) => Buffer.from(text, 'hex');

describe('a file without content', () => {
  it.each([
    ['plain', Buffer.alloc(0)],
    ['gzip', gzipSync('')],
    ['gzip, stored', gzipSync('', { level: 0 })],
    ['gzip with a name', hex('1f8b08086b13076b02ff706172742d372e6373760003000000000000000000')],
    ['BGZF', Buffer.from(BGZF_END)],
    ['bzip2', hex('425a683917724538509000000000')],
    ['xz', hex('fd377a585a000004e6d6b446000000001cdf44211fb6f37d010000000004595a')],
    ['zstd', hex('28b52ffd2000010000')],
    ['zstd with a checksum', hex('28b52ffd240001000099e9d851')],
    ['lz4', hex('04224d186440a700000000055dcc02')],
  ])('is %s', (_, file) => expect(holdsNothing(file)).toBe(true));

  it.each([
    ['a newline', Buffer.from('\n')],
    ['gzip', gzipSync('x')],
    ['gzip of zeros', gzipSync(Buffer.alloc(9))],
    ['BGZF', bgzfFile([Buffer.from('x')])],
    ['gzip of two members, the last of them', Buffer.concat([gzipSync('x'), gzipSync('')])],
    ['cut gzip', gzipSync('').subarray(0, 15)],
    ['xz', hex('fd377a585a000004e6d6b4460200210116000000742fe5a3010000780000000045aeef83f8ee160a00011901a52c81cc1f')],
    ['zstd', hex('28b52ffd200109000078')],
    ['zstd that ends as an empty block', hex('28b52ffd2003190000010000')],
  ])('is not %s with content', (_, file) => expect(holdsNothing(file)).toBe(false));
});
