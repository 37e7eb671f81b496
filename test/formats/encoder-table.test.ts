/**
 * Compression of outputs: foreign tools decode each member, members one behind the other are a valid file of the
 * codec, and the length of a stored member depends only on the length of its bytes.
 */
import { execFileSync } from 'node:child_process';
import { gzipSync } from 'node:zlib';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { UsageError, VerificationError } from '#src/errors.js';
import { gzipContentBytes } from '#src/formats/codecs/gzip.js';
import { storeZstdFrame, zstdContentBytes } from '#src/formats/codecs/zstd-frames.js';
import {
  checkedEncoder,
  codecOfName,
  compressionOf,
  nameOfCompression,
  OUTPUT_CODECS,
  openEncoder,
  suffixOf,
} from '#src/formats/encoder-table.js';
import { noiseOf } from '../fixtures/draws.js';
import { atScale } from '../fixtures/scale.js';
import { decodeWithTool } from './decode-with-tool.js';

describe.each(OUTPUT_CODECS)('%s', (codec) => {
  const encoder = openEncoder(compressionOf(codec));

  it('gives back what was compressed or stored, in one member or in several', () => {
    const content = fc.oneof(
      fc.uint8Array({ maxLength: 300 }),
      fc.constantFrom(0, 1, 65_535, 65_536, 131_072, 131_073, 300_000).map((length) => noiseOf(length)),
      fc.constantFrom(1, 131_072, 1_000_000).map((length) => Buffer.alloc(length, 'text ')),
    );
    const members = fc.array(fc.tuple(content, fc.constantFrom('encode', 'store')), { minLength: 1, maxLength: 4 });
    fc.assert(
      fc.property(members, (contents) => {
        const stored = Buffer.concat(contents.map(([bytes, how]) => encoder[how](bytes)));
        expect(decodeWithTool(codec, stored).equals(Buffer.concat(contents.map(([bytes]) => bytes)))).toBe(true);
      }),
      { numRuns: atScale(12, 20, 40) },
    );
  });

  it('is valid to its tool, checksums included', () => {
    const stored = Buffer.concat([encoder.encode(noiseOf(5000)), encoder.store(noiseOf(200_000))]);
    expect(() => execFileSync(codec, ['-t'], { input: stored, stdio: 'pipe' })).not.toThrow();
    const damaged = Buffer.from(encoder.encode(noiseOf(5000)));
    damaged[2500] = (damaged[2500] ?? 0) ^ 1;
    expect(() => execFileSync(codec, ['-t'], { input: damaged, stdio: 'pipe' })).toThrow();
  });

  it('stores bytes in a length that follows from theirs', () => {
    for (const length of [0, 1, 128, 65_536, 131_072, 200_001, 1_000_000]) {
      const lengths = [Buffer.alloc(length), noiseOf(length)].map((bytes) => encoder.store(bytes).byteLength);
      expect(new Set(lengths).size, `${length} bytes`).toBe(1);
    }
  });

  it('holds on to no more memory than a member takes, however small it is', () => {
    for (const bytes of [Buffer.alloc(4_000_000, 'text '), noiseOf(4_000_000), Buffer.from('a\n'), noiseOf(0)]) {
      const { buffer, byteLength } = encoder.encode(bytes);
      expect(byteLength).toBeGreaterThan(0);
      expect(buffer.byteLength).toBe(byteLength);
    }
  });

  it('has levels, and no others', () => {
    const text = Buffer.from(Array.from({ length: 20_000 }, (_, i) => `${i * 7919} is a number\n`).join(''));
    const encodedAt = (level: number) => Buffer.from(openEncoder(compressionOf(codec, level)).encode(text));
    expect(encodedAt(9).equals(encodedAt(1))).toBe(false);
    expect(nameOfCompression(compressionOf(codec, 9))).toBe(`${codec} 9`);
    for (const level of [0, -1, 1.5, 23, Number.NaN]) {
      expect(() => compressionOf(codec, level)).toThrow(UsageError);
      expect(() => compressionOf(codec, level)).toThrow(
        /^`compress` (gzip|zstd):.*: expected a level from 1 to (9|22)$/,
      );
    }
  });

  it('is known by the name that it gives to shards', () => {
    expect(codecOfName(`shard${suffixOf(codec)}`)).toBe(codec);
  });
});

describe('codecOfName', () => {
  it.each([
    ['a.jsonl.gz', 'gzip'],
    ['a.gzip', 'gzip'],
    ['a.zst', 'zstd'],
    ['dir.gz/a.zstd', 'zstd'],
    ['a.jsonl', undefined],
    ['a.gz/b', undefined],
    ['gz', undefined],
    ['a.GZ', undefined],
  ])('%j stands for %s', (name, codec) => {
    expect(codecOfName(name)).toBe(codec);
  });
});

describe.each([
  ['gzip', (bytes: Uint8Array): Uint8Array => gzipSync(bytes), gzipContentBytes],
  ['zstd', storeZstdFrame, zstdContentBytes],
] as const)('an encoder of %s', (codec, memberOf, contentBytesOf) => {
  const encoderOf = (encode: (bytes: Uint8Array) => Uint8Array) =>
    checkedEncoder({ encode, store: encode }, codec, contentBytesOf);

  it('gives members of all lengths', () => {
    const encoder = encoderOf(memberOf);
    for (const length of [0, 1, 65_536, 131_073, 3_000_000]) {
      const bytes = noiseOf(length);
      for (const member of [encoder.encode(bytes), encoder.store(bytes)]) {
        // `toEqual` takes seconds for each megabyte.
        expect(Buffer.compare(member, memberOf(bytes))).toBe(0);
      }
    }
  });

  it.each<[string, (bytes: Uint8Array) => Uint8Array]>([
    ['no bytes', () => new Uint8Array()],
    ['other bytes', (bytes) => Uint8Array.from(bytes)],
    ['a member of fewer', (bytes) => memberOf(bytes.subarray(1))],
    ['a member without its last byte', (bytes) => memberOf(bytes).subarray(0, -1)],
  ])('never gives %s', (_, encode) => {
    const encoder = encoderOf(encode);
    for (const how of ['encode', 'store'] as const) {
      expect(() => encoder[how](new Uint8Array(1000).fill(0x61).map((byte, i) => byte + (i % 7)))).toThrow(
        VerificationError,
      );
    }
  });
});
