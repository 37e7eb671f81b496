/**
 * The verdict on the order of records, for many sets of each kind: sorted, sources one behind the other, blocks in random
 * order, shuffle buffers, and truly shuffled. No verdict is false. In the slow tier there are 200 sets of each kind.
 */
import { describe, expect, it } from 'vitest';
import { judgeOrder, type OrderReport } from '#src/checks/order-verdict.js';
import { drawsOf, identityOrder, shuffleRange } from '#src/checks/permutation-test.js';
import { describeRecord } from '#workers/tasks/sample-windows.js';
import { atScale, fromCi } from '../fixtures/scale.js';

const SETS = atScale(1, 2, 200);
const RECORDS = 200_000;
const SOURCES = 5;
const WINDOWS = 32;
const WINDOW_RECORDS = 64;

const WORDS = Array.from({ length: 2000 }, (_, i) => `w${(i * 7919).toString(36)}`);

interface Corpus {
  /** The text of a record; its source is the fifth of the data that its number lies in. */
  textOf(record: number): string;
}

/** Five sources, whose records differ in length and in how often they use some words. */
function corpusOf(seed: number, hasIds: boolean, sources = SOURCES): Corpus {
  return {
    textOf: (record) => {
      const draw = drawsOf(seed * 1_000_003 + record);
      const source = Math.floor((record * sources) / RECORDS);
      const length = 8 + Math.floor(draw() * (20 + 6 * source));
      const words = Array.from({ length }, () => {
        const isOwn = sources > 1 && draw() < 0.3;
        // Words of a language are not equally frequent.
        const rank = Math.floor(draw() ** 2 * (isOwn ? 200 : 2000));
        return WORDS[(rank + (isOwn ? 300 * source + 150 : 0)) % 2000];
      });
      return `{${hasIds ? `"id":${record},` : ''}"text":"${words.join(' ')}"}\n`;
    },
  };
}

/** Judges windows of the records in this order. */
function judge({ textOf }: Corpus, order: Uint32Array): OrderReport {
  const chosen = Array.from({ length: WINDOWS * WINDOW_RECORDS }, (_, i) => {
    const first = Math.floor((Math.floor(i / WINDOW_RECORDS) * order.length) / WINDOWS);
    return order[first + (i % WINDOW_RECORDS)] ?? 0;
  });
  const records = chosen.map((record) => {
    const bytes = Buffer.from(textOf(record));
    return describeRecord(bytes, bytes.byteLength);
  });
  return judgeOrder(records, order.length);
}

const shuffled = (draw: () => number) => {
  const order = identityOrder(RECORDS);
  shuffleRange(order, 0, RECORDS, draw);
  return order;
};
const blocksOf = (size: number) => (draw: () => number) => {
  const blocks = identityOrder(RECORDS / size);
  shuffleRange(blocks, 0, blocks.length, draw);
  return Uint32Array.from({ length: RECORDS }, (_, i) => (blocks[Math.floor(i / size)] ?? 0) * size + (i % size));
};
/** The order that a shuffle buffer makes: each place gets a random record of those that are in the buffer. */
function bufferOrder(sorted: Uint32Array, size: number, draw: () => number): Uint32Array {
  const order: number[] = [];
  const buffer: number[] = [];
  for (let next = 0; order.length < sorted.length; ) {
    for (; buffer.length < size && next < sorted.length; next++) buffer.push(sorted[next] ?? 0);
    const chosen = Math.floor(draw() * buffer.length);
    order.push(buffer[chosen] ?? 0);
    buffer[chosen] = buffer.at(-1) ?? 0;
    buffer.pop();
  }
  return Uint32Array.from(order);
}
const bufferOf = (size: number) => (draw: () => number) => bufferOrder(identityOrder(RECORDS), size, draw);

const ORDERED = ['locally-shuffled', 'not-shuffled'];

/** Half of the sets have ids. */
function verdictsOf(orderOf: (draw: () => number) => Uint32Array, sources = SOURCES): OrderReport[] {
  return Array.from({ length: SETS }, (_, set) => {
    const seed = 1 + set;
    return judge(corpusOf(seed, sources > 1 && set % 2 === 1, sources), orderOf(drawsOf(seed)));
  });
}

describe('records', () => {
  it('in random order are said to be shuffled, and nothing else', () => {
    for (const report of verdictsOf(shuffled)) {
      expect(report).toMatchObject({ verdict: 'shuffled', drift: { isSeen: false }, neighbours: { isSeen: false } });
    }
  });

  it.runIf(fromCi)('in alphabetical order are not shuffled', () => {
    for (let set = 0; set < SETS; set++) {
      const { textOf } = corpusOf(set + 1, false);
      const order = shuffled(drawsOf(set + 1)).subarray(0, 10_000);
      const texts = new Map(Array.from(order, (record) => [record, textOf(record)]));
      const sorted = order.toSorted((a, b) => ((texts.get(a) ?? '') < (texts.get(b) ?? '') ? -1 : 1));
      expect(judge({ textOf: (record) => texts.get(record) ?? '' }, sorted).verdict).toBe('not-shuffled');
    }
  });

  it.runIf(fromCi)('in blocks of 1,000 in random order are seen', () => {
    for (const { verdict } of verdictsOf(blocksOf(1000))) expect(ORDERED).toContain(verdict);
  });

  it.each(atScale([RECORDS / 10], [10_000, RECORDS / 10]))('of a shuffle buffer of %i are locally shuffled', (size) => {
    for (const { verdict, travel } of verdictsOf(bufferOf(size))) {
      expect(verdict).toBe('locally-shuffled');
      if (travel !== undefined) expect(Math.abs(Math.log2((travel.deviation * RECORDS) / size))).toBeLessThan(1);
    }
  });

  it.runIf(fromCi)('that are all of one kind are nothing to see, in any order', () => {
    for (const order of [shuffled, bufferOf(100)]) {
      for (const { verdict } of verdictsOf(order, 1)) expect(verdict).toBe('nothing-to-see');
    }
  });
});
