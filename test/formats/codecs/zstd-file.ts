/** zstd files by their published layout, of frames with and without a declared size. */
import type { MemberEncoder } from '#src/formats/codec.js';
import { openZstdEncoder } from '#src/formats/codecs/zstd-writer.js';
import { piecesOf } from './bgzf-file.js';
import { blockHeader, skippable } from './zstd-samples.mjs';

const MOST_BLOCK_BYTES = 128 * 1024;
/** 2 ^ (10 + 13). */
const WINDOW_OF_8_MIB = 13 * 8;

/** A file of `bytes`, held as they are, with frames of the given sizes, over and over, and skippable frames around them. */
export function zstdOf(bytes: Uint8Array, frameBytes: readonly number[]): Buffer {
  return Buffer.concat([
    skippable,
    ...piecesOf(bytes, frameBytes).flatMap((content) => [zstdFrameOf(content), skippable]),
  ]);
}

/** A frame that says its size and holds the bytes as they are. */
export function zstdFrameOf(content: Uint8Array): Buffer {
  const header = Buffer.from([0x28, 0xb5, 0x2f, 0xfd, 0xa0, 0, 0, 0, 0]);
  header.writeUInt32LE(content.byteLength, 5);
  const blocks = content.byteLength === 0 ? [content] : piecesOf(content, [MOST_BLOCK_BYTES]);
  return Buffer.concat([
    header,
    ...blocks.flatMap((block, i) => [
      Uint8Array.from(blockHeader(block.byteLength, 0, i === blocks.length - 1)),
      block,
    ]),
  ]);
}

let encoder: MemberEncoder | undefined;

/** A file with a compressed frame of each content; no frame declares its size. */
export function zstdWithoutSizesOf(contents: readonly Uint8Array[]): Buffer {
  encoder ??= openZstdEncoder(3);
  const { encode } = encoder;
  return Buffer.concat(contents.map((content) => withoutSize(Buffer.from(encode(content)))));
}

/** The same frame with a window, which one that says its size may do without, in place of the size. */
function withoutSize(frame: Buffer): Buffer {
  const descriptor = frame[4] ?? 0;
  const isSingleSegment = (descriptor & 0x20) !== 0;
  const window = isSingleSegment ? WINDOW_OF_8_MIB : (frame[5] ?? 0);
  const sizeBytes = [isSingleSegment ? 1 : 0, 2, 4, 8][descriptor >>> 6] ?? 0;
  const blocks = frame.subarray((isSingleSegment ? 5 : 6) + sizeBytes);
  // Of the descriptor the bit of the checksum stays.
  return Buffer.concat([frame.subarray(0, 4), Buffer.of(descriptor & 0x04, window), blocks]);
}
