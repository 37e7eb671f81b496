/** The order of piles in an epoch, which is a contract: a state that is gone on with next year must mean the same. */
import { describe, expect, it } from 'vitest';
import { deriveEpochDraws, deriveEpochKey, deriveInputKey } from '#src/keys.js';
import { orderOfEpoch } from '#src/loader/epoch-order.js';

const inPlace = [0, 1, 2, 3, 4, 5, 6, 7];

describe('orderOfEpoch', () => {
  it('takes piles and keys as they are in epoch 0, and in all epochs with none', () => {
    for (const [epoch, reshuffle] of [
      [0, 'full'],
      [0, 'piles'],
      [0, 'none'],
      [7, 'none'],
    ] as const) {
      const { piles, epochKey } = orderOfEpoch('seed', epoch, reshuffle, 8);
      expect({ piles: [...piles], epochKey }).toEqual({ piles: inPlace, epochKey: undefined });
    }
  });

  it('draws the same order of piles with full and piles, and mixes keys with full alone', () => {
    const full = orderOfEpoch('seed', 3, 'full', 8);
    const piles = orderOfEpoch('seed', 3, 'piles', 8);
    expect(full.piles).toEqual(piles.piles);
    expect([full.epochKey, piles.epochKey]).toEqual([deriveEpochKey('seed', 3), undefined]);
    expect([...full.piles].sort((a, b) => a - b)).toEqual(inPlace);
  });

  it('is what it always was', () => {
    expect([...orderOfEpoch('42', 1, 'full', 8).piles]).toMatchInlineSnapshot(`
      [
        3,
        5,
        6,
        4,
        0,
        2,
        1,
        7,
      ]
    `);
    expect([...orderOfEpoch('42', 2, 'full', 8).piles]).toMatchInlineSnapshot(`
      [
        0,
        7,
        1,
        5,
        2,
        4,
        3,
        6,
      ]
    `);
    expect(deriveEpochKey('42', 1).toString(16)).toMatchInlineSnapshot(`"7943a92cf3ca69af"`);
  });

  it('draws every order of three piles about as often as the others', () => {
    const counts = new Map<string, number>();
    for (let epoch = 1; epoch <= 1200; epoch++) {
      const order = orderOfEpoch('any', epoch, 'piles', 3).piles.join('');
      counts.set(order, (counts.get(order) ?? 0) + 1);
    }
    expect(counts.size).toBe(6);
    // 200 each, give or take 5 standard deviations.
    for (const count of counts.values()) expect(Math.abs(count - 200)).toBeLessThan(65);
  });
});

describe('keys of epochs', () => {
  it('differ by epoch and seed, from those of inputs, and from what the order of piles is drawn from', () => {
    const keys = [
      deriveEpochKey('a', 1),
      deriveEpochKey('a', 2),
      deriveEpochKey('b', 1),
      deriveInputKey('a', '1'),
      deriveInputKey('a', 'epoch keys'),
      Buffer.from(deriveEpochDraws('a', 1), 'hex').readBigUInt64LE(),
    ];
    expect(new Set(keys).size).toBe(keys.length);
  });
});
