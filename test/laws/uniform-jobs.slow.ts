/**
 * All 120 orders of five records over 120,000 whole jobs of the library, a seed each, and over 120,000
 * seeds for every number of piles. Takes minutes.
 */
import { describe, it } from 'vitest';
import { useFastDirectory } from './fast-directory.js';
import { expectOrdersUniform } from './orders-of-jobs.js';
import { expectOrdersOfStagesUniform } from './orders-of-stages.js';

describe('all orders of five records', () => {
  const directory = useFastDirectory();

  it('are equally likely over 120,000 whole jobs', async () => {
    await expectOrdersUniform(directory, 120_000);
  });

  it('are equally likely over 120,000 seeds for every number of piles', async () => {
    await expectOrdersOfStagesUniform(directory, 120_000);
  });
});
