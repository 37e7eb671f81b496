/** Members that do not say that they hold what was compressed are never handed over. */
import { randomBytes } from 'node:crypto';
import { gzipSync } from 'node:zlib';
import { describe, expect, it } from 'vitest';
import { VerificationError } from '#src/errors.js';
import { checkedEncoder } from '#src/formats/checked-encoder.js';
import { gzipContentBytes } from '#src/formats/codecs/gzip-encoder.js';
import { storeZstdFrame } from '#src/formats/codecs/stored-zstd-frame.js';
import { zstdContentBytes } from '#src/formats/codecs/zstd-encoder.js';

describe.each([
  ['gzip', (bytes: Uint8Array): Uint8Array => gzipSync(bytes), gzipContentBytes],
  ['zstd', storeZstdFrame, zstdContentBytes],
] as const)('an encoder of %s', (codec, memberOf, contentBytesOf) => {
  const encoderOf = (encode: (bytes: Uint8Array) => Uint8Array) =>
    checkedEncoder({ encode, store: encode }, codec, contentBytesOf);

  it('gives members of all lengths', () => {
    const encoder = encoderOf(memberOf);
    for (const length of [0, 1, 65_536, 131_073, 3_000_000]) {
      const bytes = randomBytes(length);
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
