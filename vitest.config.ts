import { defineConfig } from 'vitest/config';

/** The slow tier is run by `npm run test:slow` alone. */
const slow = process.env['PILESHUF_TEST_SLOW'] === '1';

/** With tiny buffers (`npm run test:tiny`) these would do the same once more: they have sizes of their own. */
const tiny = process.env['PILESHUF_TEST_TINY'] === '1';
const OWN_SIZES = [
  'test/{bench,formats,io,job-directory,output,pile-store,plan,sealed-json,workers}/**',
  'test/{index-job,loader,record-index,store,store-jobs}/**',
  'test/faults/{bad-records,damaged-store,deletion-order,disk-model,every-call-fails,job-dir,kill,killed}.test.ts',
  'test/faults/{misplaced-jobs,power-loss,resume-commit,resume-refusals,security,staged-output-changed}.test.ts',
  'test/faults/{stream-calls-fail,unreadable-temp-data,wrong-result}.test.ts',
  'test/job/decoder-windows.test.ts',
  'test/laws/{foreign-*,formats-together,framings,large-output,members,output-members,without-zstd-napi}.test.ts',
];

export default defineConfig({
  test: {
    include: slow ? ['test/**/*.slow.ts'] : ['test/**/*.test.ts'],
    exclude: tiny ? OWN_SIZES : [],
    testTimeout: slow ? 900_000 : 60_000,
    pool: 'forks',
    maxWorkers: 2,
  },
});
