import { expect, it } from 'vitest';
import { CRC32, CRC32C, CRC64NVME } from '#src/remote/crc.js';
import { reflectedCrc } from './reflected-crc.mjs';

const bytes = Uint8Array.from({ length: 70_000 }, (_, i) => (i * i) >> 3);
const pieces = [0, 1, 1, 255, 256, 65_537, bytes.byteLength].map((end, i, ends) =>
  bytes.subarray(ends[i - 1] ?? 0, end),
);
const KINDS = { crc32: CRC32, crc32c: CRC32C, crc64nvme: CRC64NVME };

it.each([
  ['crc32', 'cbf43926', 'y/Q5Jg=='],
  ['crc32c', 'e3069283', '4waSgw=='],
  ['crc64nvme', 'ae8b14860a799888', 'rosUhgp5mIg='],
] as const)('%s of bytes in any pieces, also of empty ones, is that of all', (name, known, text) => {
  const kind = KINDS[name];
  const crc = kind.add(Buffer.from('123456789'), 0n);
  expect([crc.toString(16), kind.text(crc)]).toEqual([known, text]);
  const whole = reflectedCrc(name, bytes).toString('base64');
  const parts = pieces.map((piece) => ({ crc: kind.add(piece, 0n), byteLength: piece.byteLength }));
  expect(kind.text(kind.add(bytes, 0n))).toBe(whole);
  expect(kind.text(pieces.reduce((sum, piece) => kind.add(piece, sum), 0n))).toBe(whole);
  expect(kind.text(kind.joined(parts))).toBe(whole);
  expect(kind.isOf(whole, parts)).toBe(true);
  const ofParts = reflectedCrc(name, Buffer.concat(pieces.map((piece) => reflectedCrc(name, piece))));
  expect(kind.isOf(`${ofParts.toString('base64')}-${pieces.length}`, parts)).toBe(true);
  expect(kind.joined([])).toBe(0n);
  expect(
    kind.joined([
      { crc: 7n, byteLength: 2 ** 40 },
      { crc: 0n, byteLength: 0 },
    ]),
  ).toBe(7n);
});

it('isOf knows the checksum of the whole, and that of the parts, as services write them', () => {
  // As botocore and moto make it.
  const two = ['hello ', 'world'].map((text) => ({ crc: CRC32.add(Buffer.from(text), 0n), byteLength: text.length }));
  expect(CRC32.isOf('DUoRhQ==', two)).toBe(true);
  expect(CRC32.isOf('1Fu2mQ==-2', two)).toBe(true);
  for (const wrong of ['AAAAAA==', 'AAAAAA==-2', '']) expect(CRC32.isOf(wrong, two)).toBe(false);
});
