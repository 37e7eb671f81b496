/**
 * All 120 orders of five records, through whole jobs of the library from the named file to the committed output, and in
 * the slow tier through the stages of a job with every number of piles.
 */
import { describe, it } from 'vitest';
import { atScale, isSlow } from '../fixtures/scale.js';
import { useFastDirectory } from './fast-directory.js';
import { expectOrdersUniform } from './orders-of-jobs.js';
import { expectOrdersOfStagesUniform } from './orders-of-stages.js';

describe('all orders of five records', () => {
  const directory = useFastDirectory();
  const jobs = atScale(0, 1_200, 120_000);

  it(`are equally likely over ${jobs} whole jobs`, async () => {
    await expectOrdersUniform(directory, jobs);
  });

  it(`are equally likely over ${jobs} whole jobs that keep one of equal records`, async () => {
    await expectOrdersUniform(directory, jobs, true);
  });

  it.runIf(isSlow)('are equally likely over 120,000 seeds for every number of piles', async () => {
    await expectOrdersOfStagesUniform(directory, 120_000);
  });
});
