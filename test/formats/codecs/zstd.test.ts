/**
 * zstd: members are frames, found by their own sizes, and a file with a frame of undeclared size is not read in parts.
 */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { StoredMember } from '#src/formats/codec.js';
import { zstd } from '#src/formats/codecs/zstd.js';
import { zstdFrameOf } from './zstd-file.js';
import { blockHeader, skippable } from './zstd-samples.mjs';

function list(bytes: Uint8Array): { readonly members: StoredMember[]; readonly decodedBytes: number | undefined } {
  const read = (position: number, byteLength: number) => bytes.subarray(position, position + byteLength);
  const found = zstd.listMembers?.({ path: 'in.zst', byteLength: bytes.byteLength, read });
  const members: StoredMember[] = [];
  for (;;) {
    const { done, value } = found?.next() ?? expect.fail('it lists no members');
    if (done === true) return { members, decodedBytes: value };
    members.push(value);
  }
}

/** A frame of one empty block that declares this many bytes, in a window of 1 KiB. */
function claiming(contentBytes: bigint): Buffer {
  const size = Buffer.alloc(8);
  size.writeBigUInt64LE(contentBytes);
  return Buffer.concat([Buffer.from('28b52ffdc000', 'hex'), size, Uint8Array.from(blockHeader(0, 0, true))]);
}

describe('zstd.listMembers', () => {
  it('finds all frames, empty ones too, whatever is skippable around them', () => {
    const frame = fc.record({ content: fc.uint8Array({ maxLength: 300 }), skipped: fc.nat({ max: 2 }) });
    fc.assert(
      fc.property(fc.array(frame, { maxLength: 12 }), fc.boolean(), (frames, isSkippableFirst) => {
        const stored: Uint8Array[] = isSkippableFirst ? [skippable] : [];
        const expected: StoredMember[] = [];
        let decodedStart = 0;
        for (const { content, skipped } of frames) {
          const decodedBytes = content.byteLength;
          expected.push({ storedStart: Buffer.concat(stored).byteLength, decodedStart, decodedBytes });
          stored.push(zstdFrameOf(content), ...Array<Uint8Array>(skipped).fill(skippable));
          decodedStart += decodedBytes;
        }
        expect(list(Buffer.concat(stored))).toEqual({ members: expected, decodedBytes: decodedStart });
      }),
    );
  });

  it('tells of each when its header is there, before it looks for its end', () => {
    const header = claiming(1000n).subarray(0, 14);
    const read = (position: number, byteLength: number) => header.subarray(position, position + byteLength);
    const members = zstd.listMembers?.({ path: 'in.zst', byteLength: 10_000, read });
    expect(members?.next().value).toEqual({ storedStart: 0, decodedStart: 0, decodedBytes: 1000 });
  });
});
