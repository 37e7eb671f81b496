/** Formats that are not lines: each is known by its first bytes, in pieces of any size, and no text is taken for one. */
import { gzipSync } from 'node:zlib';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { InputError } from '#src/errors.js';
import { FORMAT_HEAD_BYTES, foreignFormatOf, requireLines } from '#src/formats/foreign-formats.js';
import { bgzfFile } from './codecs/bgzf-file.js';
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

async function linesOf(bytes: Uint8Array, sizes: readonly number[]): Promise<Buffer> {
  const taken: Buffer[] = [];
  for await (const piece of requireLines(piecesOf(bytes, sizes), 'in')) taken.push(Buffer.from(piece));
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
