/**
 * All 120 orders of five records, through whole jobs of the library from the named file to the committed
 * output: 3,000 seeds here, 120,000 in uniform-jobs.slow.ts.
 */
import { describe, it } from 'vitest';
import { useFastDirectory } from './fast-directory.js';
import { expectOrdersUniform } from './orders-of-jobs.js';

describe('all orders of five records', () => {
  const directory = useFastDirectory();

  it('are equally likely over 3,000 whole jobs', async () => {
    await expectOrdersUniform(directory, 3_000);
  });
});
