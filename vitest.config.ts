import { defineConfig } from 'vitest/config';

/** The slow tier is run by `npm run test:slow` alone. */
const slow = process.env['PILESHUF_TEST_SLOW'] === '1';

/**
 * With tiny buffers (`npm run test:tiny`) these would do the same once more: they have sizes of their own, or are about
 * arguments, messages, locks, signals, limits and what a job goes on with, where no edge of a buffer matters. A job that
 * goes on is tried with tiny sizes at each of its calls, by those of faults/ that work on the tiny job. The order of
 * records is the same whatever the sizes, which same-bytes shows, so that it need be seen to be uniform only once.
 */
const tiny = process.env['PILESHUF_TEST_TINY'] === '1';
const SAME_IN_TINY = [
  'test/*.test.ts',
  'test/{bench,docs,formats,index-job,io,job-directory,loader,output,pile-store,plan}/**',
  'test/{record-index,sealed-json,store,store-jobs,workers}/**',
  'test/job/{passes,prepare}/**',
  'test/cli/!(bad-inputs).test.ts',
  'test/faults/!(decompress-programs|verification).test.ts',
  'test/job/!(stream-inputs|temp-compress).test.ts',
  'test/laws/!(boundaries|compressed-outputs|input-ids|same-bytes|spare-memory).test.ts',
];

export default defineConfig({
  test: {
    include: slow ? ['test/**/*.slow.ts'] : ['test/**/*.test.ts'],
    exclude: tiny ? SAME_IN_TINY : [],
    testTimeout: slow ? 900_000 : 60_000,
    pool: 'forks',
    maxWorkers: 2,
  },
});
