/**
 * The quality of the epochs of a store: each is a uniformly random order, and in any two epochs the records of a pile
 * meet as often as docs/STORES.md says. Seeds are fixed; the bounds are in chi-square.ts.
 */
import { describe, expect, it } from 'vitest';
import { openStore } from '#src/index.js';
import { makeStore } from '../fixtures/make-store.js';
import { useMemoryDirectory } from '../fixtures/temp-directory.js';
import { expectUniform } from './chi-square.js';
import { FIVE_RECORDS, numberOfOrder, ORDERS_OF_FIVE } from './order-of-five.js';

const directory = useMemoryDirectory();

describe('epochs', () => {
  it('have all orders of the five records of a pile equally often', async () => {
    const EPOCHS = 6000;
    const path = directory.path('five');
    await makeStore(path, { seed: 'five', pileCount: 1, inputs: { a: FIVE_RECORDS.match(/.\n/g) ?? [] } });
    const counts = new Float64Array(ORDERS_OF_FIVE);
    for await (const { bytes, epoch } of openStore(path).epoch(1).steps(5)) {
      const number = numberOfOrder(Buffer.from(bytes).toString());
      counts[number] = (counts[number] ?? 0) + 1;
      if (epoch === EPOCHS) break;
    }
    expectUniform(counts, 119, 'orders of five records over epochs');
  });

  it('have records of a batch together again as often as records of a pile are', async () => {
    const [RECORDS, PILES, SIZE, EPOCHS] = [960, 4, 12, 30];
    const path = directory.path('store');
    const records = Array.from({ length: RECORDS }, (_, i) => `${i}\n`);
    await makeStore(path, { seed: 'together', pileCount: PILES, inputs: { a: records } });
    const store = openStore(path);
    /** The batch of each record, in each epoch. */
    const batches: Int32Array[] = [];
    for (let epoch = 1; epoch <= EPOCHS; epoch++) {
      const batchOf = new Int32Array(RECORDS);
      let number = 0;
      for await (const batch of store.epoch(epoch).batches(SIZE)) {
        for (const record of batch) batchOf[Number(Buffer.from(record).toString())] = number;
        number += 1;
      }
      batches.push(batchOf);
    }
    let together = 0;
    let again = 0;
    for (const [i, batchOf] of batches.entries()) {
      const next = batches[i + 1];
      if (next === undefined) break;
      for (let a = 0; a < RECORDS; a++) {
        for (let b = 0; b < a; b++) {
          if (batchOf[a] !== batchOf[b]) continue;
          together += 1;
          if (next[a] === next[b]) again += 1;
        }
      }
    }
    const expected = (SIZE - 1) / (RECORDS / PILES - 1);
    expect(again / together / expected).toBeGreaterThan(0.93);
    expect(again / together / expected).toBeLessThan(1.07);
    expect(again / together).toBeGreaterThan((3 * (SIZE - 1)) / (RECORDS - 1));
  });
});
