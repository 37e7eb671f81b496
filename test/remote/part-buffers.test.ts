/** Buffers for parts of uploads share the blocks of the pool. */
import { expect, it } from 'vitest';
import { BlockCache } from '#src/remote/block-cache.js';
import { PartBuffers } from '#src/remote/part-buffers.js';
import { TransferChannel } from '#src/remote/transfer-channel.js';

const BLOCK_BYTES = 8;

function buffersOf(blockCount: number): PartBuffers {
  const channel = new SharedArrayBuffer(TransferChannel.bytesFor(blockCount));
  const buffers = { channel, pool: new SharedArrayBuffer(blockCount * BLOCK_BYTES), blockBytes: BLOCK_BYTES };
  return new PartBuffers(new BlockCache(buffers), buffers, 1);
}

it('a short part gives back what it does not need before it is sent', async () => {
  const buffers = buffersOf(4);
  const first = await buffers.allocate(4 * BLOCK_BYTES);
  const order: string[] = [];
  const second = buffers.allocate(2 * BLOCK_BYTES).then((buffer) => {
    order.push('second');
    return buffer;
  });
  await new Promise((resolve) => setTimeout(resolve, 10));
  order.push('shrinks');
  first.shrink(BLOCK_BYTES + 1);
  expect([...first.pieces(BLOCK_BYTES + 1)].map(({ byteLength }) => byteLength)).toEqual([BLOCK_BYTES, 1]);
  const { blocks } = await second;
  expect(order).toEqual(['shrinks', 'second']);
  expect(blocks).toHaveLength(2);
  expect(blocks.some((block) => first.blocks.slice(0, 2).includes(block))).toBe(false);
});
