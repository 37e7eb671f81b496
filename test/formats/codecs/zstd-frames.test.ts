/**
 * The walk over zstd frames: a few bytes of the file give the beginning, end and declared size of each frame, and
 * everything against RFC 8878 is refused.
 */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { beginsZstd, listZstdFrames, type ZstdFrameHeader } from '#src/formats/codecs/zstd-frames.js';
import { blockHeader, declared, empty, severalBlocks, skippable, undeclared } from './zstd-samples.mjs';

const MAGIC = [0x28, 0xb5, 0x2f, 0xfd];

/** The beginning of a frame, and its declared decoded size. */
type Frame = Pick<ZstdFrameHeader, 'storedOffset' | 'contentBytes'>;

/** Lists the frames, and sees to it that only a few bytes are read, always further on. */
function list(bytes: Uint8Array, byteLength = bytes.byteLength): Frame[] {
  let before = -1;
  const read = (position: number, wanted: number) => {
    expect(wanted).toBeLessThanOrEqual(32);
    expect(position).toBeGreaterThan(before);
    before = position;
    return bytes.subarray(position, position + wanted);
  };
  return Array.from(listZstdFrames('in.zst', { byteLength, read }), ({ storedOffset, contentBytes }) => ({
    storedOffset,
    contentBytes,
  }));
}

function refusal(...bytes: readonly (number | readonly number[])[]): string {
  try {
    list(Uint8Array.from(bytes.flat()));
  } catch (error) {
    expect(error).toMatchObject({ name: 'InputError', code: 'ERR_INPUT_CORRUPT' });
    return error instanceof Error ? error.message : '';
  }
  return expect.fail('accepted');
}

/** @returns the bytes of an integer, the lowest first. */
const littleEndian = (value: bigint, byteLength: number) =>
  Array.from({ length: byteLength }, (_, i) => Number((value >> BigInt(8 * i)) & 255n));

/** Blocks of a frame that need not decode to anything. */
interface AnyBlock {
  readonly type: number;
  readonly size: number;
}

/** A frame with every optional header field; the content of its compressed blocks does not matter. */
interface AnyFrame {
  readonly sizeFlag: number;
  readonly isSingleSegment: boolean;
  readonly hasChecksum: boolean;
  readonly idFlag: number;
  readonly windowDescriptor: number;
  readonly contentBytes: bigint;
  readonly blocks: readonly AnyBlock[];
}

function frameOf(frame: AnyFrame): { readonly stored: number[]; readonly contentBytes: number | undefined } {
  const { sizeFlag, isSingleSegment, hasChecksum, idFlag, windowDescriptor, blocks } = frame;
  const descriptor = sizeFlag * 64 + Number(isSingleSegment) * 32 + Number(hasChecksum) * 4 + idFlag;
  const sizeBytes = sizeFlag === 0 ? Number(isSingleSegment) : 2 ** sizeFlag;
  const base = sizeFlag === 1 ? 256n : 0n;
  // A single segment is its own window, and no block is longer than it.
  const least = isSingleSegment && sizeBytes > 2 ? 131_072n : isSingleSegment ? 255n : 0n;
  const most = (1n << BigInt(8 * Math.min(sizeBytes, 4))) - 1n + base;
  const contentBytes = (frame.contentBytes % (most - least + 1n)) + least;
  const held = contentBytes < base ? base : contentBytes;
  const mostBlockBytes = isSingleSegment && sizeBytes <= 2 ? 255 : 131_072;
  return {
    contentBytes: sizeBytes === 0 ? undefined : Number(held),
    stored: [
      ...MAGIC,
      descriptor,
      ...(isSingleSegment ? [] : [windowDescriptor]),
      ...new Array(idFlag === 3 ? 4 : idFlag).fill(0),
      ...littleEndian(held - base, sizeBytes),
      ...blocks.flatMap(({ type, size }, i) => {
        const bytes = size % mostBlockBytes;
        return [...blockHeader(bytes, type, i === blocks.length - 1), ...new Array(type === 1 ? 1 : bytes).fill(0xfd)];
      }),
      ...(hasChecksum ? [1, 2, 3, 4] : []),
    ],
  };
}

const anyFrame: fc.Arbitrary<AnyFrame> = fc.record({
  sizeFlag: fc.nat({ max: 3 }),
  isSingleSegment: fc.boolean(),
  hasChecksum: fc.boolean(),
  idFlag: fc.nat({ max: 3 }),
  // From 128 KiB to 1 GiB.
  windowDescriptor: fc.integer({ min: 7 * 8, max: 20 * 8 }),
  contentBytes: fc.bigInt({ min: 0n, max: 1n << 30n }),
  blocks: fc.array(fc.record({ type: fc.nat({ max: 2 }), size: fc.nat({ max: 400 }) }), { minLength: 1, maxLength: 6 }),
});
const anySkippable = fc
  .tuple(fc.nat({ max: 15 }), fc.nat({ max: 50 }))
  .map(([kind, size]) => [0x50 + kind, 0x2a, 0x4d, 0x18, size, 0, 0, 0, ...new Array(size).fill(0x28)]);

describe('listZstdFrames', () => {
  it('finds the frames of any file', () => {
    fc.assert(
      fc.property(fc.array(fc.oneof(anyFrame, anySkippable), { maxLength: 8 }), (parts) => {
        const stored: number[] = [];
        const expected: Frame[] = [];
        for (const part of parts) {
          if (Array.isArray(part)) {
            stored.push(...part);
            continue;
          }
          const frame = frameOf(part);
          expected.push({ storedOffset: stored.length, contentBytes: frame.contentBytes });
          stored.push(...frame.stored);
        }
        expect(list(Uint8Array.from(stored))).toEqual(expected);
      }),
    );
  });

  it('finds the frames of real files, whatever is skippable between them', () => {
    const frames = [declared, undeclared, empty, severalBlocks];
    const bytes = Buffer.concat([skippable, ...frames.flatMap(({ stored }) => [stored, skippable])]);
    let storedOffset = skippable.byteLength;
    const expected = frames.map(({ stored, content }) => {
      const frame = {
        storedOffset,
        contentBytes: stored === undeclared.stored ? undefined : content.byteLength,
      };
      storedOffset += stored.byteLength + skippable.byteLength;
      return frame;
    });
    expect(list(bytes)).toEqual(expected);
  });

  it('says of a file that ends inside a frame that it is truncated, whether its length was known or not', () => {
    const bytes = Buffer.concat([declared.stored, skippable, severalBlocks.stored]);
    const edges = [0, declared.stored.byteLength, declared.stored.byteLength + skippable.byteLength];
    for (let end = 0; end < bytes.byteLength; end++) {
      const message = `in.zst: the zstd data ends at byte ${end} (compressed) inside a frame: the file is truncated; copy or make it again`;
      if (edges.includes(end)) expect(list(bytes.subarray(0, end))).toHaveLength(Number(end > 0));
      else expect(() => list(bytes.subarray(0, end))).toThrow(message);
    }
    expect(() => list(bytes.subarray(0, 200), bytes.byteLength)).toThrow('is truncated');
  });

  it('says of a few bytes behind the last frame whether they may be the beginning of another', () => {
    const at = declared.stored.byteLength;
    for (const byteLength of [1, 2, 3]) {
      for (const begun of [MAGIC, [...skippable], [0x5f, 0x2a, 0x4d]]) {
        expect(refusal([...declared.stored], begun.slice(0, byteLength))).toContain(
          `ends at byte ${at + byteLength} (compressed) inside a frame: the file is truncated`,
        );
      }
      for (const garbage of [
        [10, 10, 10],
        [0x28, 0xb5, 0x2e],
        [0x50, 0x2a, 0],
      ]) {
        if (byteLength < 3 && garbage[0] !== 10) continue;
        expect(refusal([...declared.stored], garbage.slice(0, byteLength))).toContain(
          `byte ${at} (compressed) lies after the last zstd frame and begins no other`,
        );
      }
    }
  });

  it('gives the frames whose headers stand before the place where it fails', () => {
    const bytes = Buffer.concat([declared.stored, severalBlocks.stored.subarray(0, 50)]);
    const read = (position: number, wanted: number) => bytes.subarray(position, position + wanted);
    const frames = listZstdFrames('in.zst', { byteLength: bytes.byteLength, read });
    expect(frames.next().value).toMatchObject({ storedOffset: 0 });
    expect(frames.next().value).toMatchObject({ storedOffset: declared.stored.byteLength });
    expect(() => frames.next()).toThrow('is truncated');
  });

  it.each([
    ['no magic bytes', [1, 2, 3, 4], 'byte 0 (compressed) lies after the last zstd frame and begins no other'],
    ['an old format', [0x27, ...MAGIC.slice(1)], 'byte 0 (compressed) lies after the last zstd frame'],
    ['a reserved bit', [...MAGIC, 0x08], 'corrupt at byte 4 (compressed): a reserved bit of the frame header is set'],
    [
      'a reserved block',
      [...MAGIC, 0, 0x58, 7, 0, 0],
      'corrupt at byte 6 (compressed): a block is of the reserved type',
    ],
    [
      'a block over 128 KiB',
      [...MAGIC, 0, 0x58, ...blockHeader(131_073, 1, true), 1],
      'corrupt at byte 6 (compressed): a block of 131073 bytes is longer than the 131072 allowed',
    ],
    [
      'a block over its window',
      [...MAGIC, 0, 0, ...blockHeader(1025, 2, true)],
      'a block of 1025 bytes is longer than the 1024 allowed',
    ],
    [
      'a block over its single segment',
      [...MAGIC, 0x20, 9, ...blockHeader(10, 0, true)],
      'a block of 10 bytes is longer than the 9 allowed',
    ],
    [
      'a dictionary',
      [...MAGIC, 2, 0x58, 0x39, 0x30, 1, 0, 0],
      'the zstd frame at byte 0 (compressed) needs the dictionary 12345, which pileshuf cannot be given; decompress it with `zstd -d -D DICTIONARY` first',
    ],
    [
      'a window over 2 GiB',
      [...MAGIC, 0, 21 * 8 + 1, 1, 0, 0],
      'the zstd frame at byte 0 (compressed) has a window of 2415919104 bytes, more than the 2147483648 that zstd can decode',
    ],
    [
      'a single segment over 2 GiB',
      [...MAGIC, 0xe0, 0, 0, 0, 0, 1, 0, 0, 0, 1, 0, 0],
      'has a window of 4294967296 bytes',
    ],
    [
      'an absurd length',
      [...MAGIC, 0xc0, 0x58, ...new Array(8).fill(255)],
      'the frame claims to hold 18446744073709551615 bytes',
    ],
  ])('refuses %s', (_, bytes, message) => {
    expect(refusal(bytes)).toContain(message);
    // With the position that it has behind another frame.
    const shifted = refusal([...declared.stored], bytes);
    expect(shifted).toContain(
      message.replace(/byte (\d+) \(/, (_match, at) => `byte ${Number(at) + declared.stored.byteLength} (`),
    );
  });
});

describe('beginsZstd', () => {
  it('knows frames and skippable ones by their magic bytes', () => {
    expect(beginsZstd(declared.stored)).toBe(true);
    expect(beginsZstd(skippable)).toBe(true);
    for (const magic of [0x50, 0x5f]) expect(beginsZstd(Uint8Array.of(magic, 0x2a, 0x4d, 0x18))).toBe(true);
  });

  it.each([[[]], [MAGIC.slice(0, 3)], [[0x60, 0x2a, 0x4d, 0x18]], [[0x27, 0xb5, 0x2f, 0xfd]], [[0, ...MAGIC]]])(
    'takes %j for something else',
    (head) => {
      expect(beginsZstd(Uint8Array.from(head))).toBe(false);
    },
  );
});
