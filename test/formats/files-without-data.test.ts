/** Files without content are known for what they are, and files of as few bytes that have content are not. */
import { gzipSync } from 'node:zlib';
import { describe, expect, it } from 'vitest';
import { holdsNothing } from '#src/formats/foreign-formats.js';
import { BGZF_END, bgzfFile } from './codecs/bgzf-file.js';

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
    ['BGZF', bgzfFile([Buffer.from('x')])],
    ['gzip and an empty member', Buffer.concat([gzipSync('x'), gzipSync('')])],
  ])('is not %s with content', (_, file) => expect(holdsNothing(file)).toBe(false));
});
