import fc from 'fast-check';
import { expect, it } from 'vitest';
import { CRC32, CRC64NVME } from '#src/remote/crc.js';
import { ReadChecksum } from '#src/remote/read-checksum.js';

const crcOf = (bytes: Uint8Array, kind = CRC32) => Buffer.from(kind.text(kind.add(bytes, 0n)), 'base64');

it('ReadChecksum says at the last byte whether all are right, in whatever ranges they came', () => {
  const range = fc.tuple(fc.nat(299), fc.nat(60));
  fc.assert(
    fc.property(
      fc.array(range),
      fc.nat(299),
      fc.integer({ min: 1, max: 400 }),
      fc.boolean(),
      (ranges, at, size, isWrong) => {
        const bytes = Uint8Array.from({ length: 300 }, (_, i) => i * i);
        const starts = Array.from({ length: Math.ceil(300 / size) }, (_, i) => i * size);
        const crcs = starts.map((start) => crcOf(bytes.subarray(start, start + size)));
        const kind = size < 300 ? CRC32 : CRC64NVME;
        const text =
          size < 300
            ? `${crcOf(Buffer.concat(crcs)).toString('base64')}-${crcs.length}`
            : crcOf(bytes, kind).toString('base64');
        const checksum = new ReadChecksum({ kind, text, partBytes: Math.min(size, 300) }, 300);
        if (isWrong) bytes[at] = (bytes[at] ?? 0) ^ 1;
        const covered = new Set<number>();
        for (const [start, length] of [...ranges, ...[150, 0, 299, 100].map((place) => [place, 151] as const)]) {
          const end = Math.min(300, start + length);
          for (let i = start; i < end; i++) covered.add(i);
          const isRight = checksum.add(start, bytes.subarray(start, end));
          expect(isRight).toBe(covered.size < 300 ? undefined : !isWrong);
          if (isRight !== undefined) covered.clear();
        }
      },
    ),
  );
});
