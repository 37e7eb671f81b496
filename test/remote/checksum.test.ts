import { crc32 } from 'node:zlib';
import { expect, it } from 'vitest';
import { crcText, isChecksumOf, joinedCrc } from '#src/remote/checksum.js';

const bytes = Uint8Array.from({ length: 70_000 }, (_, i) => (i * i) >> 3);
const pieces = [0, 1, 1, 255, 256, 65_537, bytes.byteLength].map((end, i, ends) =>
  bytes.subarray(ends[i - 1] ?? 0, end),
);
const parts = pieces.map((piece) => ({ crc32: crc32(piece), byteLength: piece.byteLength }));

it('joinedCrc is the CRC-32 of all pieces, also of empty ones', () => {
  expect(joinedCrc(parts)).toBe(crc32(bytes));
  expect(joinedCrc([])).toBe(0);
  expect(
    joinedCrc([
      { crc32: 7, byteLength: 2 ** 40 },
      { crc32: 0, byteLength: 0 },
    ]),
  ).toBe(7);
});

it('isChecksumOf knows the checksum of the whole, and that of the parts, as services write them', () => {
  expect(isChecksumOf(crcText(crc32(bytes)), parts)).toBe(true);
  // As botocore and moto make it.
  const two = ['hello ', 'world'].map((text) => ({ crc32: crc32(text), byteLength: text.length }));
  expect(isChecksumOf('DUoRhQ==', two)).toBe(true);
  expect(isChecksumOf('1Fu2mQ==-2', two)).toBe(true);
  for (const wrong of ['AAAAAA==', 'AAAAAA==-2', '']) expect(isChecksumOf(wrong, two)).toBe(false);
});
