import { defineConfig } from 'vitest/config';

/** The slow tier is run by `npm run test:slow` alone. */
const slow = process.env['PILESHUF_TEST_SLOW'] === '1';

export default defineConfig({
  test: {
    include: slow ? ['test/**/*.slow.ts'] : ['test/**/*.test.ts'],
    testTimeout: slow ? 900_000 : 60_000,
    pool: 'forks',
    maxWorkers: 2,
  },
});
