/** zstd files by their published layout, of frames that say their length and hold the bytes as they are. */
import { piecesOf } from './bgzf-file.js';
import { blockHeader, skippable } from './zstd-samples.mjs';

const MOST_BLOCK_BYTES = 128 * 1024;

/** A file of `bytes` with frames of the given sizes, over and over, and skippable frames around them. */
export function zstdOf(bytes: Uint8Array, frameBytes: readonly number[]): Buffer {
  return Buffer.concat([skippable, ...piecesOf(bytes, frameBytes).flatMap((content) => [frameOf(content), skippable])]);
}

function frameOf(content: Uint8Array): Buffer {
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
