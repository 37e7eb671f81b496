/** Pages of all lengths and kinds, compressed and decompressed. */
import { describe, expect, it } from 'vitest';
import { expandZstd } from '#src/formats/codecs/zstd-decoders.js';
import { decompressPage } from '#src/formats/rows/parquet/columns/page-codecs.js';
import { openPageCompressor } from '#src/formats/rows/parquet/columns/page-compressors.js';
import { pageCompressionOf, type WrittenCodec } from '#src/formats/rows/parquet/table-output.js';
import { drawsFor, noiseOf } from '../../../../fixtures/draws.ts';
import { compress } from '../../../../fixtures/parquet/compress-blocks.ts';
import { openMemory } from './joined-rows.ts';

const CODECS: readonly WrittenCodec[] = ['UNCOMPRESSED', 'SNAPPY', 'GZIP', 'BROTLI', 'ZSTD', 'LZ4_RAW'];

/** Noise with pieces of what came before, near and far. */
function mixture(byteLength: number): Buffer {
  const bytes = noiseOf(byteLength);
  const draw = drawsFor(`mixture ${byteLength}`);
  for (let at = 1; at < byteLength; ) {
    const length = Math.ceil(3 * draw() ** -1);
    if (draw() < 0.7) bytes.copy(bytes, at, Math.floor(at * (1 - draw() ** 4)), at + length);
    at += length;
  }
  return bytes;
}

const TEXT = Buffer.from('to be or not to be, '.repeat(1000));

const PAGES: readonly Buffer[] = [
  ...Array.from({ length: 30 }, (_, i) => noiseOf(i)),
  ...[11, 12, 13, 16, 17, 63, 64, 65, 67, 68, 69, 70, 300, 70_000].map((length) => Buffer.alloc(length, 7)),
  ...[60, 61, 256, 257, 65_536, 65_537, 70_000].map((length) => noiseOf(length)),
  ...[100, 5000, 66_000, 300_000].map(mixture),
  Buffer.concat([noiseOf(65_535), noiseOf(65_535), noiseOf(65_536), noiseOf(65_536)]),
  TEXT,
];

describe('openPageCompressor', () => {
  for (const codec of CODECS) {
    it(`${codec} gives back each page`, () => {
      const memory = openMemory();
      const compressor = openPageCompressor(memory, pageCompressionOf(codec));
      for (const page of PAGES) {
        const [from, to] = [memory.allocate(page.byteLength), memory.allocate(page.byteLength)];
        if (from === undefined || to === undefined) throw new Error('no memory');
        memory.bytes.set(page, from.address);
        const stored = Buffer.from(compressor.compress(from.address, page.byteLength));
        decompressPage(memory, codec, stored, to);
        const found = memory.bytes.subarray(to.address, to.address + page.byteLength);
        expect(Buffer.compare(found, page), `${page.byteLength} bytes`).toBe(0);
        for (const region of [from, to]) memory.release(region);
      }
      const text = memory.allocate(TEXT.byteLength);
      memory.bytes.set(TEXT, text?.address);
      const textBytes = compressor.compress(text?.address ?? 0, TEXT.byteLength).byteLength;
      if (codec !== 'UNCOMPRESSED') expect(textBytes).toBeLessThan(TEXT.byteLength / 5);
      compressor.close();
    });
  }
});

it('zstd decodes a page to its exact size', () => {
  const bytes = Buffer.concat([noiseOf(300_000), Buffer.alloc(200_000, 'ab')]);
  const frame = compress('ZSTD', bytes);
  const target = Buffer.alloc(bytes.byteLength);
  expandZstd(frame, target);
  expect(target.equals(bytes)).toBe(true);
  expect(() => expandZstd(frame, Buffer.alloc(bytes.byteLength - 1))).toThrow('it decodes to more bytes');
  expect(() => expandZstd(frame, Buffer.alloc(bytes.byteLength + 1))).toThrow('expected 500001');
  expect(() => expandZstd(frame.subarray(0, 1000), target)).toThrow();
});
