/** The order of piles is a contract: a state resumed next year must mean the same. */
import { expect, it } from 'vitest';
import { deriveEpochKey, deriveInputKey, derivePileOrderSeed } from '#src/floor/keys.js';
import { orderOfEpoch } from '#src/loader/epoch-order.js';

it('piles come by number and stored keys in epoch 0, and later in an order that never changes', () => {
  const orders = [0, 1, 2].map((epoch) => orderOfEpoch('42', epoch, 8));
  expect(orders.map(({ piles }) => [...piles].join())).toEqual([
    '0,1,2,3,4,5,6,7',
    '3,5,6,4,0,2,1,7',
    '0,7,1,5,2,4,3,6',
  ]);
  expect(orders.map(({ epochKey }) => epochKey)).toEqual([undefined, 0x7943a92cf3ca69afn, deriveEpochKey('42', 2)]);
});

it('keys of epochs differ by epoch and seed, from the keys of inputs, and from the seed of the order of piles', () => {
  const keys = [
    deriveEpochKey('a', 1),
    deriveEpochKey('a', 2),
    deriveEpochKey('b', 1),
    deriveInputKey('a', '1'),
    deriveInputKey('a', 'epoch keys'),
    Buffer.from(derivePileOrderSeed('a', 1), 'hex').readBigUInt64LE(),
  ];
  expect(new Set(keys).size).toBe(keys.length);
});
