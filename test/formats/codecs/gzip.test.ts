/**
 * gzip: all members are decoded, whatever the pieces in which they arrive. Anything but a whole number of members with
 * zero padding behind them is refused, with its position.
 */
import { crc32, gunzipSync, gzipSync } from 'node:zlib';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { InputError } from '#src/errors.js';
import type { CompressedSource, DecoderMemory } from '#src/formats/codec.js';
import { gzip } from '#src/formats/codecs/gzip.js';
import { atScale, sampled } from '../../fixtures/scale.js';

/** `bytes` in pieces of the given sizes, the last size repeated; each at once, or after some time. */
function sourceOf(
  bytes: Uint8Array,
  pieceBytes: readonly number[] = [bytes.byteLength],
  milliseconds?: number,
): CompressedSource {
  let start = 0;
  let i = 0;
  return {
    path: 'in.gz',
    start: 0,
    next: async () => {
      if (milliseconds !== undefined) await new Promise((resolve) => setTimeout(resolve, milliseconds));
      const size = pieceBytes[Math.min(i, pieceBytes.length - 1)] ?? 1;
      i += 1;
      const piece = new Uint8Array(bytes.subarray(start, start + Math.max(1, size)));
      start += piece.byteLength;
      return piece;
    },
  };
}

/** gzip needs no more than every thread has. */
const NO_MEMORY: DecoderMemory = { reserve: () => expect.fail('gzip takes memory'), budgetFor: () => '' };

async function decode(bytes: Uint8Array, pieceBytes?: readonly number[], milliseconds?: number): Promise<Buffer> {
  const pieces: Uint8Array[] = [];
  for await (const piece of gzip.decode(sourceOf(bytes, pieceBytes, milliseconds), NO_MEMORY))
    pieces.push(Buffer.from(piece));
  return Buffer.concat(pieces);
}

async function refusal(bytes: Uint8Array, pieceBytes?: readonly number[], milliseconds?: number): Promise<string> {
  const error = await decode(bytes, pieceBytes, milliseconds).then(
    (decoded) => new Error(`accepted, as ${decoded.byteLength} bytes`),
    (thrown: unknown) => thrown,
  );
  expect(error).toBeInstanceOf(InputError);
  expect(error).toMatchObject({ code: 'ERR_INPUT_CORRUPT' });
  return error instanceof Error ? error.message : '';
}

const first = Buffer.from('first member\n'.repeat(3));
const second = Buffer.from('the second, which is longer\n'.repeat(40));
const [memberA, memberB] = [gzipSync(first), gzipSync(second)];
const empty = gzipSync('');
const zeros = Buffer.alloc(600);

describe('gzip.decode', () => {
  it('decodes a small input that holds very much', async () => {
    const much = Buffer.alloc(5 * 2 ** 20 + 1, 'much ');
    const compressed = gzipSync(much);
    expect(compressed.byteLength).toBeLessThan(64 * 1024);
    expect((await decode(compressed)).equals(much)).toBe(true);
    expect(await refusal(Buffer.concat([compressed, Buffer.of(1)]))).toContain('in.gz');
  });

  it('decodes any members in any pieces, with or without zero padding', async () => {
    const members = fc.array(fc.uint8Array({ maxLength: 300 }), { minLength: 1, maxLength: 5 });
    const pieces = fc.array(fc.integer({ min: 1, max: 200 }), { minLength: 1, maxLength: 10 });
    await fc.assert(
      fc.asyncProperty(members, pieces, fc.nat({ max: 400 }), async (contents, pieceBytes, padding) => {
        const bytes = Buffer.concat([...contents.map((content) => gzipSync(content)), Buffer.alloc(padding)]);
        expect((await decode(bytes, pieceBytes)).equals(Buffer.concat(contents))).toBe(true);
      }),
    );
  });

  describe('of headers with extra fields', () => {
    const FLAGS = { headerChecksum: 2, extraField: 4, name: 8, comment: 16 };
    const optional = <T>(value: fc.Arbitrary<T>) => fc.option(value, { nil: undefined });
    const text = fc.constantFrom('', 'a.txt', 'x'.repeat(300));
    const anyHeader = fc.record({
      extra: fc.oneof(fc.uint8Array({ maxLength: 30 }), fc.uint8Array({ minLength: 300, maxLength: 700 })),
      name: optional(text),
      comment: optional(text),
      hasChecksum: fc.boolean(),
    });
    type Header = typeof anyHeader extends fc.Arbitrary<infer T> ? T : never;
    /** @param claimedBytes of the extra field. */
    function memberWith({ extra, name, comment, hasChecksum }: Header, content: Buffer, claimedBytes?: number): Buffer {
      const flags =
        FLAGS.extraField |
        (name === undefined ? 0 : FLAGS.name) |
        (comment === undefined ? 0 : FLAGS.comment) |
        (hasChecksum ? FLAGS.headerChecksum : 0);
      const length = Buffer.alloc(2);
      length.writeUInt16LE(claimedBytes ?? extra.byteLength);
      const texts = [name, comment].map((each) => Buffer.from(each === undefined ? '' : `${each}\0`));
      const header = Buffer.concat([Buffer.of(0x1f, 0x8b, 8, flags, 0, 0, 0, 0, 0, 3), length, extra, ...texts]);
      const checksum = Buffer.alloc(hasChecksum ? 2 : 0);
      if (hasChecksum) checksum.writeUInt16LE(crc32(header) & 0xffff);
      return Buffer.concat([header, checksum, gzipSync(content).subarray(10)]);
    }

    it('takes what zlib takes, whole subfields or not', async () => {
      await fc.assert(
        fc.asyncProperty(fc.array(anyHeader, { minLength: 1, maxLength: 3 }), async (headers) => {
          const bytes = Buffer.concat(headers.map((header) => memberWith(header, first)));
          expect(gunzipSync(bytes)).toHaveLength(first.byteLength * headers.length);
          expect((await decode(bytes)).equals(gunzipSync(bytes))).toBe(true);
        }),
      );
    });

    it('never takes less than all members, whatever length the first one claims', async () => {
      const plain = { extra: new Uint8Array(), name: undefined, comment: undefined, hasChecksum: false };
      let refused = 0;
      for (const name of [undefined, 'a.txt']) {
        for (const later of [gzipSync(second), memberWith({ ...plain, name: 'b' }, second)]) {
          const whole = Buffer.concat([memberWith({ ...plain, name }, first), later]);
          for (let claimed = 1; claimed < whole.byteLength - 12; claimed++) {
            const damaged = Buffer.from(whole);
            damaged.writeUInt16LE(claimed, 10);
            const decoded = await decode(damaged).catch((error: unknown) => error);
            // Inside the name behind it, it changes nothing.
            if (decoded instanceof Buffer) expect(decoded.equals(Buffer.concat([first, second]))).toBe(true);
            else expect(decoded, `${claimed} bytes`).toMatchObject({ code: 'ERR_INPUT_CORRUPT' });
            if (String(decoded).includes('reaches into the member at byte')) refused += 1;
          }
        }
      }
      expect(refused).toBe(4);
    });
  });

  it('continues with the next member wherever a piece ends, also exactly between two members', async () => {
    const bytes = Buffer.concat([memberA, empty, memberB]);
    for (let end = 1; end < bytes.byteLength; end++) {
      const decoded = await decode(bytes, [end, bytes.byteLength]);
      expect(decoded.equals(Buffer.concat([first, second])), `pieces of ${end} and the rest`).toBe(true);
    }
    expect((await decode(bytes, [1])).equals(Buffer.concat([first, second]))).toBe(true);
  });

  it('waits for a consumer that takes its time, and frees nothing that zlib still writes to', async () => {
    const bytes = Buffer.concat(
      Array.from({ length: atScale(80, 300) }, (_, i) => Buffer.alloc(20_000 + 997 * i, `${i} `)),
    );
    const pieces: Buffer[] = [];
    for await (const piece of gzip.decode(sourceOf(gzipSync(bytes), [5000]), NO_MEMORY)) {
      pieces.push(Buffer.from(piece));
      await new Promise((resolve) => setTimeout(resolve, 1));
    }
    expect(Buffer.concat(pieces).equals(bytes)).toBe(true);
  });

  it.each([
    ['text', Buffer.from('garbage'), 0],
    ['zeros and text', Buffer.concat([zeros, Buffer.from('garbage')]), 600],
    ['zeros and a member', Buffer.concat([zeros, memberB]), 600],
    ['one zero and one byte', Buffer.of(0, 1), 1],
  ])('refuses %s behind the last member, in any pieces', async (_, behind, at) => {
    const bytes = Buffer.concat([memberA, behind]);
    for (const pieceBytes of [[10_000], [memberA.byteLength], [memberA.byteLength + 1, 7], [1], [7]]) {
      const message = await refusal(bytes, pieceBytes);
      if (at > 0) {
        expect(message).toContain(
          `in.gz: byte ${memberA.byteLength + at} (compressed) lies after the last gzip member`,
        );
      }
    }
  });

  it('looks at every byte behind the last member, also when pieces are slow to come', async () => {
    const zero = Buffer.alloc(1);
    const bytes = Buffer.concat([memberA, zero, Buffer.from('x')]);
    for (const behindMember of [0, 1]) {
      const pieceBytes = [memberA.byteLength + behindMember, 1];
      expect(await refusal(bytes, pieceBytes, 20)).toContain(`byte ${memberA.byteLength + 1} (compressed) lies after`);
      expect(await decode(Buffer.concat([memberA, zero, zero]), pieceBytes, 20)).toHaveLength(first.byteLength);
    }
  });

  it('refuses a file truncated at any byte but between members', async () => {
    const bytes = Buffer.concat([memberA, empty, memberB]);
    const edges = new Map([
      [memberA.byteLength, first.byteLength],
      [memberA.byteLength + empty.byteLength, first.byteLength],
    ]);
    for (let end = 1; end < bytes.byteLength; end++) {
      const truncated = bytes.subarray(0, end);
      const whole = edges.get(end);
      for (const pieceBytes of sampled([[end], [1], [memberA.byteLength]], 2)) {
        if (whole === undefined) {
          const message = await refusal(truncated, pieceBytes);
          expect(message, `${end} bytes`).toContain('in.gz: the gzip data ');
        } else {
          expect(await decode(truncated, pieceBytes)).toHaveLength(whole);
        }
      }
    }
  });

  it('never returns other bytes for a file with one bit wrong', async () => {
    const bytes = Buffer.concat([memberA, memberB]);
    for (let at = 0; at < bytes.byteLength; at++) {
      const damaged = Buffer.from(bytes);
      damaged[at] = (damaged[at] ?? 0) ^ 0x10;
      const decoded = await decode(damaged).catch((error: unknown) => error);
      if (decoded instanceof Buffer) {
        // The time stamp in the header, for instance.
        expect(decoded.equals(Buffer.concat([first, second]))).toBe(true);
      } else {
        expect(decoded).toBeInstanceOf(InputError);
      }
    }
  });
});
