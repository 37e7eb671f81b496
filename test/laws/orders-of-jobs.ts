/** Counts the orders of five records over whole jobs, with several pile counts in turn, in memory and on disk. */
import { writeFileSync } from 'node:fs';
import type { Tuning } from '#src/plan/memory-plan.js';
import { expectUniform } from './chi-square.js';
import type { FastDirectory } from './fast-directory.js';
import { FIVE_RECORDS, numberOfOrder, ORDERS_OF_FIVE } from './order-of-five.js';
import { shuffleWithSeed } from './whole-jobs.js';

const VARIANTS: readonly Tuning[] = [
  { pileCount: 1, bufferBytes: 32, keepInRam: false },
  { pileCount: 7, bufferBytes: 32, keepInRam: false },
  { pileCount: 3, bufferBytes: 32 },
  { pileCount: 3, bufferBytes: 4096, keepInRam: false, sliceBytes: 4 },
  { pileCount: 7, bufferBytes: 16, keepInRam: false, sliceBytes: 2, outputBytes: 3 },
];

/** @param unique whether the records come twice, and one of equal ones is kept. */
export async function expectOrdersUniform(directory: FastDirectory, seeds: number, unique = false): Promise<void> {
  const input = directory.path('five');
  writeFileSync(input, unique ? FIVE_RECORDS + FIVE_RECORDS : FIVE_RECORDS);
  const counts = VARIANTS.map(() => new Float64Array(ORDERS_OF_FIVE));
  for (let seed = 0; seed < seeds; seed++) {
    const variant = seed % VARIANTS.length;
    const output = await shuffleWithSeed(directory, input, `job ${seed}`, VARIANTS[variant] ?? {}, unique);
    const order = numberOfOrder(output.toString('latin1'));
    const ofVariant = counts[variant];
    if (ofVariant !== undefined) ofVariant[order] = (ofVariant[order] ?? 0) + 1;
  }
  for (const [variant, ofVariant] of counts.entries()) {
    expectUniform(ofVariant, 119, JSON.stringify(VARIANTS[variant]));
  }
  const all = Float64Array.from({ length: ORDERS_OF_FIVE }, (_, order) =>
    counts.reduce((sum, ofVariant) => sum + (ofVariant[order] ?? 0), 0),
  );
  expectUniform(all, 119, `${seeds} jobs`);
}
