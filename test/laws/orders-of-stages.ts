/** Counts the orders of five records through the stages of a job, separately for each number of piles. */
import { mkdirSync, writeFileSync } from 'node:fs';
import { expect } from 'vitest';
import { sampled } from '../fixtures/scale.js';
import { expectUniform } from './chi-square.js';
import type { FastDirectory } from './fast-directory.js';
import { FIVE_RECORDS, numberOfOrder, ORDERS_OF_FIVE } from './order-of-five.js';
import { openStages } from './shuffle-stages.js';

const PILE_COUNTS = sampled([1, 2, 3, 5, 7, 64], 3, 2);

export async function expectOrdersOfStagesUniform(directory: FastDirectory, seedsPerPileCount: number): Promise<void> {
  const input = directory.path('five');
  writeFileSync(input, FIVE_RECORDS);
  mkdirSync(directory.path('staging'));
  const all = new Float64Array(ORDERS_OF_FIVE);
  for (const [i, pileCount] of PILE_COUNTS.entries()) {
    const stages = openStages(input, directory.path('staging'), { pileCount, bufferBytes: 32 });
    const counts = new Float64Array(ORDERS_OF_FIVE);
    for (let seed = 0; seed < seedsPerPileCount; seed++) {
      const output = await stages.shuffle(String(i * seedsPerPileCount + seed));
      const order = numberOfOrder(output.toString('latin1'));
      counts[order] = (counts[order] ?? 0) + 1;
      all[order] = (all[order] ?? 0) + 1;
    }
    stages.close();
    expectUniform(counts, 119, `${pileCount} piles`);
  }
  expect(all.reduce((sum, count) => sum + count)).toBe(PILE_COUNTS.length * seedsPerPileCount);
  expectUniform(all, 119, 'all pile counts');
}
