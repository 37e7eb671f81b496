/**
 * A zstd frame (RFC 8878) of blocks that are not compressed, so that its length follows from that of its content.
 *
 *     magic 4 | descriptor 1: content size in 8 bytes, single segment | content size 8 | blocks
 *     block     header 3, little-endian: last block 1 bit, type 2 bits (0: raw), length 21 bits | bytes
 */

const MAGIC = 0xfd2fb528;
const DESCRIPTOR = 0b1110_0000;
const FRAME_HEADER_BYTES = 4 + 1 + 8;
const BLOCK_HEADER_BYTES = 3;
const LARGEST_BLOCK_BYTES = 128 * 1024;

export function storeZstdFrame(bytes: Uint8Array): Uint8Array {
  const blockCount = Math.max(1, Math.ceil(bytes.byteLength / LARGEST_BLOCK_BYTES));
  const frame = new Uint8Array(FRAME_HEADER_BYTES + blockCount * BLOCK_HEADER_BYTES + bytes.byteLength);
  const view = new DataView(frame.buffer);
  view.setUint32(0, MAGIC, true);
  view.setUint8(4, DESCRIPTOR);
  view.setBigUint64(5, BigInt(bytes.byteLength), true);
  let position = FRAME_HEADER_BYTES;
  for (let block = 0; block < blockCount; block++) {
    const content = bytes.subarray(block * LARGEST_BLOCK_BYTES, (block + 1) * LARGEST_BLOCK_BYTES);
    const isLast = block === blockCount - 1 ? 1 : 0;
    const header = isLast + content.byteLength * 8;
    view.setUint16(position, header & 0xffff, true);
    view.setUint8(position + 2, header >>> 16);
    frame.set(content, position + BLOCK_HEADER_BYTES);
    position += BLOCK_HEADER_BYTES + content.byteLength;
  }
  return frame;
}
