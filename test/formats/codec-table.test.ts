/** Magic bytes decide the codec; a name only loses the codec's ending. */
import { gzipSync } from 'node:zlib';
import { describe, expect, it } from 'vitest';
import { CODEC_HEAD_BYTES, codecNamed, detectCodec, withoutCodecSuffix } from '#src/formats/codec-table.js';
import { bgzfMember } from './codecs/bgzf-file.js';

describe('detectCodec', () => {
  it('knows gzip by its first bytes, whatever follows', () => {
    const bytes = gzipSync('text');
    expect(detectCodec(bytes)?.name).toBe('gzip');
    expect(detectCodec(bytes.subarray(0, CODEC_HEAD_BYTES))).toBe(codecNamed('gzip'));
  });

  it('knows BGZF by the extra field that it writes, and takes other gzip for gzip', () => {
    const bytes = bgzfMember(Buffer.from('text'));
    expect(detectCodec(bytes.subarray(0, CODEC_HEAD_BYTES))?.name).toBe('bgzf');
    for (const at of [3, 10, 12, 13, 14]) {
      const other = Buffer.from(bytes.subarray(0, CODEC_HEAD_BYTES));
      other[at] = 0;
      expect(detectCodec(other)?.name, `byte ${at}`).toBe('gzip');
    }
    expect(detectCodec(bytes.subarray(0, 15))?.name).toBe('gzip');
  });

  it.each([
    ['nothing', []],
    ['half of the magic bytes', [0x1f]],
    ['the magic bytes exchanged', [0x8b, 0x1f]],
    ['old compress', [0x1f, 0x9d]],
    ['magic bytes later on', [0x0a, 0x1f, 0x8b]],
  ])('takes %s for plain bytes', (_, head) => {
    expect(detectCodec(Uint8Array.from(head))).toBeUndefined();
  });
});

describe('withoutCodecSuffix', () => {
  it.each([
    ['a.jsonl.gz', 'a.jsonl'],
    ['a.gzip', 'a'],
    ['a.vcf.bgz', 'a.vcf'],
    ['a.gz.gz', 'a.gz'],
    ['a.jsonl', 'a.jsonl'],
    ['gz', 'gz'],
    ['a.gz.txt', 'a.gz.txt'],
    ['', ''],
  ])('%j becomes %j', (name, rest) => {
    expect(withoutCodecSuffix(name)).toBe(rest);
  });
});
