/**
 * Numbers of a range in random order: the kernel against the twin in each of the three ways, known answers that hold the
 * order as it is, and that each number comes exactly once.
 */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { deriveRangeKey } from '#src/keys.js';
import { chooseWay, type NumberRange, type NumberWay, networkOf } from '#src/plan/number-range.js';
import { atScale } from '../../fixtures/scale.js';
import { newArena, orderNumbers } from './kernel-numbers.js';
import { drawnOffset, permutedOffset, placeOfOffset, recordHash, sortedOffsets } from './kernel-twin.js';

const END = 2n ** 64n;
const rangeOf = (low: bigint, count: bigint): NumberRange => ({ low, high: low + count - 1n });
const permutedBy = (count: bigint, isTabled: boolean): NumberWay => ({ by: 'permuted', ...networkOf(count), isTabled });
const key64 = fc.bigInt({ min: 0n, max: END - 1n });
/** Of all sizes alike, and the edges. */
const count64 = fc.oneof(
  fc.integer({ min: 0, max: 64 }).map((bits) => 2n ** BigInt(bits)),
  fc.integer({ min: 1, max: 63 }).chain((bits) => fc.bigInt({ min: 1n, max: 2n ** BigInt(bits) })),
  fc.constantFrom(END, END - 1n, END - 2n ** 32n, 2n ** 32n, 2n ** 32n + 1n, 2n ** 62n + 1n),
);
/** A range, and a place in it. */
const rangeAndPlace = count64.chain((count) =>
  fc.record({
    count: fc.constant(count),
    low: fc.oneof(fc.constantFrom(0n, END - count), fc.bigInt({ min: 0n, max: END - count })),
    first: fc.oneof(fc.constant(0n), fc.bigInt({ min: 0n, max: count - 1n })),
  }),
);
const asText = (numbers: readonly bigint[], end: string) => numbers.map((number) => `${number}${end}`).join('');

describe('numbers of a range', () => {
  it('that are sorted have the order of their keys', () => {
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 3000 }), key64, fc.nat({ max: 1000 }), (count, key, low) => {
        const expected = sortedOffsets(count, key).map((offset) => BigInt(low + offset));
        const range = rangeOf(BigInt(low), BigInt(count));
        expect(orderNumbers(range, key, { by: 'sorted' }).numbers(0n, count)).toEqual(expected);
      }),
      { numRuns: atScale(20, 100) },
    );
  });

  it.each([false, true])('that are permuted follow the network, by tables %s', (isTabled) => {
    fc.assert(
      fc.property(rangeAndPlace, key64, fc.integer({ min: 1, max: 12 }), ({ count, low, first }, key, most) => {
        const ofTables = isTabled ? 1n + ((count - 1n) % 2n ** 32n) : count;
        const start = first % ofTables;
        const length = Number(ofTables - start < BigInt(most) ? ofTables - start : BigInt(most));
        const network = { count: ofTables, key, ...networkOf(ofTables) };
        const expected = Array.from({ length }, (_, i) => low + permutedOffset(network, start + BigInt(i)));
        const order = orderNumbers(rangeOf(low, ofTables), key, permutedBy(ofTables, isTabled));
        expect(order.numbers(start, length)).toEqual(expected);
      }),
      { numRuns: isTabled ? atScale(10, 60) : atScale(60, 600) },
    );
  });

  it('that are drawn are fractions of the range', () => {
    fc.assert(
      fc.property(rangeAndPlace, key64, fc.bigInt({ min: 0n, max: END - 20n }), ({ count, low }, key, first) => {
        const expected = Array.from({ length: 10 }, (_, i) => low + drawnOffset(count, key, first + BigInt(i)));
        expect(orderNumbers(rangeOf(low, count), key, { by: 'drawn' }).numbers(first, 10)).toEqual(expected);
      }),
      { numRuns: atScale(60, 600) },
    );
  });

  it('are the same wherever they are asked for, also across the batches of the kernel', () => {
    for (const [count, way] of [
      [5000n, { by: 'sorted' }],
      [5000n, permutedBy(5000n, true)],
      [5000n, permutedBy(5000n, false)],
      [5000n, { by: 'drawn' }],
    ] as const) {
      const order = orderNumbers(rangeOf(0n, count), 7n, way);
      const all = order.text(0n, 5000).toString();
      for (const step of [1, 3, 255, 256, 257, 1000]) {
        let text = '';
        for (let first = 0; first < 5000; first += step)
          text += order.text(BigInt(first), Math.min(step, 5000 - first)).toString();
        expect(text === all, `${way.by} in steps of ${step}`).toBe(true);
      }
    }
  });

  it('have every count of digits, the terminator, their sum and their checksum', () => {
    const edges = Array.from({ length: 19 }, (_, i) => 10n ** BigInt(i + 1));
    for (const terminator of [10, 0]) {
      const end = String.fromCharCode(terminator);
      for (const edge of [2n, ...edges, END - 2n]) {
        const range = rangeOf(edge - 2n, 4n);
        const order = orderNumbers(range, 3n, { by: 'sorted' }, terminator);
        const numbers = sortedOffsets(4, 3n).map((offset) => range.low + BigInt(offset));
        const text = order.text(0n, 4).toString('latin1');
        expect(text).toBe(asText(numbers, end));
        expect(order.sum).toBe(numbers.reduce((sum, number) => sum + number) % END);
        const hashes = numbers.map((number) => recordHash(Buffer.from(`${number}${end}`)));
        expect(order.checksum).toBe(hashes.reduce((sum, hash) => sum + hash) % END);
      }
    }
  });
});

describe('a permuted range', () => {
  it.each([false, true])('has each number once, for every small count, by tables %s', (isTabled) => {
    for (let count = 1; count <= atScale(150, 700); count++) {
      const order = orderNumbers(rangeOf(0n, BigInt(count)), BigInt(count * 7919), permutedBy(BigInt(count), isTabled));
      expect(new Set(order.numbers(0n, count)).size, `${count} numbers`).toBe(count);
    }
  });

  it.each([2 ** 20 + 1, 1025 * 1025, 1025 * 1025 + 1, 1_500_007])('has each number once: %d', (count) => {
    const order = orderNumbers(rangeOf(0n, BigInt(count)), 5n, permutedBy(BigInt(count), true));
    const seen = new Uint8Array(count);
    let line = 0;
    for (let first = 0; first < count; first += 8000) {
      for (const byte of order.text(BigInt(first), Math.min(8000, count - first))) {
        if (byte !== 10) line = line * 10 + byte - 48;
        else {
          seen[line] = (seen[line] ?? 0) + 1;
          line = 0;
        }
      }
    }
    expect(seen.every((times) => times === 1)).toBe(true);
  });

  it('needs no memory behind its tables, at its very end and where places lead to others', () => {
    for (const count of [2n ** 32n - 1n, 2n ** 32n - 2n, 2n ** 32n - 3n, 65_535n * 65_535n + 2n, 3_000_001n]) {
      const network = { count, key: 9n, ...networkOf(count) };
      for (const length of [1, 2, 3, 5]) {
        const order = orderNumbers(rangeOf(0n, count), 9n, permutedBy(count, true), 10, newArena());
        const first = count - BigInt(length);
        const expected = Array.from({ length }, (_, i) => permutedOffset(network, first + BigInt(i)));
        expect(order.numbers(first, length)).toEqual(expected);
      }
    }
  });

  it('takes nothing from the one before it', () => {
    // Of 2^16 x 2^16, then of 4 x 3 with 5 places too many: these lead to others.
    for (let key = 0n; key < 40n; key++) {
      const long = 65_535n * 65_535n + 2n;
      orderNumbers(rangeOf(0n, long), key, permutedBy(long, true)).text(0n, 2000);
      expect(new Set(orderNumbers(rangeOf(0n, 10n), key, permutedBy(10n, true)).numbers(0n, 10)).size).toBe(10);
    }
  });

  it('has each number of the longest ranges at one place, which the rounds backwards give', () => {
    for (const count of [END, END - 1n, END - 2n ** 32n + 1n, 2n ** 63n + 12345n, 10n ** 12n]) {
      const network = { count, key: 11n, ...networkOf(count) };
      const order = orderNumbers(rangeOf(0n, count), 11n, permutedBy(count, false));
      for (const first of [0n, count / 3n, count - 200n]) {
        const numbers = order.numbers(first, 200);
        expect(new Set(numbers).size).toBe(200);
        expect(numbers.map((offset) => placeOfOffset(network, offset) - first)).toEqual(
          Array.from({ length: 200 }, (_, i) => BigInt(i)),
        );
      }
    }
  });
});

describe('the order, which is a contract', () => {
  it.each<[string, bigint, bigint, boolean, string]>([
    ['42', 1n, 10n, false, '1 2 3 8 5 7 9 10 6 4'],
    ['42', 0n, 0n, false, '0'],
    ['42', 1n, 2n ** 20n, false, '592317 101753 101656 573890 337755 525756'],
    ['42', 1n, 2n ** 20n + 1n, false, '723634 112985 574542 41405 454190 387991'],
    ['Ł', 0n, 2n ** 32n, false, '1927616530 849598023 1496403416 1753349817 4254814923 3043012031'],
    ['', 1n, 10n ** 12n, false, '529317950835 344030795558 60460241169 914815423964 578643497574 597515859856'],
    ['42', 0n, END - 1n, false, '10540390223857666412 15466908210192744717 7321909880420989093 4060553767440264579'],
    ['42', 1n, 6n, true, '3 5 3 1 6 5 5 4 1 5 1 3 3 3 6 2 6 1 4 6'],
    ['42', 0n, END - 1n, true, '8505742006596914210 16629813771203641395 234194740738890051 9422072831827660040'],
  ])('of seed %j from %d to %d, with replacement %s', (seed, low, high, isRepeated, expected) => {
    const way = chooseWay({ low, high }, isRepeated, 10n);
    const order = orderNumbers({ low, high }, deriveRangeKey(seed, low, high), way);
    expect(order.numbers(0n, expected.split(' ').length).join(' ')).toBe(expected);
  });
});
