/**
 * The three tiers of tests. `PILESHUF_TEST_SCALE` names the tier; package.json has a command for each.
 *
 * | tier    | command             | files                                                                       |
 * | ------- | ------------------- | --------------------------------------------------------------------------- |
 * | `quick` | `npm test`          | `*.test.ts`                                                                 |
 * | `ci`    | `npm run test:ci`   | `*.ci.ts`, `*.test.ts` with a scale, and some of both with tiny buffers      |
 * | `slow`  | `npm run test:slow` | `*.slow.ts`, `*.test.ts` and `*.ci.ts` with a scale or with cases from a seed |
 *
 * A file has a scale when it imports `fixtures/scale.ts`. In CI it runs with tiny buffers too, with the cases of CI,
 * when it imports `fixtures/tuning-under-test.ts`: the edges of buffers matter to what it tests.
 */
import { readdirSync, readFileSync } from 'node:fs';
import { join, relative } from 'node:path';
import { defineConfig, type TestProjectInlineConfiguration } from 'vitest/config';

const tier = process.env['PILESHUF_TEST_SCALE'] ?? 'quick';
const isSlow = tier === 'slow';

// Only the slow tier tries other cases each time. Vitest reads this file once for each project: the first draws.
if (isSlow && process.env['PILESHUF_TEST_SEED'] === undefined) {
  process.env['PILESHUF_TEST_SEED'] = String(Date.now() % 2 ** 31);
  console.info(`PILESHUF_TEST_SEED=${process.env['PILESHUF_TEST_SEED']} repeats the cases that are tried now`);
}
const propertySeed = Number(process.env['PILESHUF_TEST_SEED'] ?? 20_260_131);

const files = readdirSync('test', { recursive: true, withFileTypes: true })
  .filter((entry) => entry.isFile() && entry.name.endsWith('.ts'))
  .map((entry) => relative('.', join(entry.parentPath, entry.name)));

const holds = (file: string, text: string) => readFileSync(file, 'utf8').includes(text);
const imports = (file: string, fixture: string) => holds(file, `fixtures/${fixture}.js'`);
const isOf = (file: string, ...endings: readonly string[]) => endings.some((ending) => file.endsWith(`.${ending}.ts`));

const quick = files.filter((file) => isOf(file, 'test'));
const scaled = files.filter((file) => isOf(file, 'test', 'ci') && imports(file, 'scale'));
const drawn = files.filter(
  (file) => isOf(file, 'test', 'ci') && (holds(file, "from 'fast-check'") || imports(file, 'draws')),
);
const ofTier: Readonly<Record<string, readonly string[]>> = {
  quick,
  ci: [...new Set([...files.filter((file) => isOf(file, 'ci')), ...scaled])],
  slow: [...new Set([...files.filter((file) => isOf(file, 'slow')), ...scaled, ...drawn])],
};
const included = ofTier[tier];
if (included === undefined) throw new RangeError(`PILESHUF_TEST_SCALE is ${tier}; expected ${Object.keys(ofTier)}`);

const withTinyBuffers =
  tier === 'ci' ? files.filter((file) => isOf(file, 'test', 'ci') && imports(file, 'tuning-under-test')) : [];

/** These measure the process they run in, or replace modules of the program: each has a process of its own. */
const OWN_PROCESS = /memory-given-back|soak|task-pool|threads-of-jobs|\.slow\.ts$/;

const mocked = included.filter((file) => holds(file, 'vi.mock('));
const own = included.filter((file) => OWN_PROCESS.test(file));
const shared = included.filter((file) => !own.includes(file) && !mocked.includes(file));

/** The program is built: Node loads it as it is, which takes a fraction of the time. */
const asBuilt = { server: { deps: { external: [/\/dist\//] } } };

/**
 * The test processes keep all cores busy: threads that collect garbage beside them take more than they give. In the quick
 * tier most functions run a few times, and to optimize them takes longer than they do. Both together: 0.85 of the time.
 */
const frugal = {
  execArgv: ['--single-threaded-gc', ...(tier === 'quick' ? ['--interrupt-budget=1000000'] : [])],
};

function project(
  name: string,
  include: readonly string[],
  more: TestProjectInlineConfiguration['test'],
): TestProjectInlineConfiguration[] {
  if (include.length === 0) return [];
  return [{ extends: true, test: { name, include: [...include], ...more } }];
}

export default defineConfig({
  test: {
    // For what hangs alone: a slow disk and a busy machine take several times as long as a quiet one.
    testTimeout: isSlow ? 3_600_000 : 600_000,
    hookTimeout: 600_000,
    pool: 'forks',
    maxWorkers: 2,
    setupFiles: ['test/fixtures/property-seed.ts'],
    provide: { propertySeed },
    // Node would read all these certificates at each start, which takes twice as long as the start itself.
    env: { NODE_EXTRA_CA_CERTS: '' },
    projects: [
      ...project('shared process', shared, { ...asBuilt, ...frugal, isolate: false }),
      ...project('own process', own, asBuilt),
      ...project('replaced modules', mocked, frugal),
      ...project('tiny buffers', withTinyBuffers, {
        ...asBuilt,
        ...frugal,
        isolate: false,
        env: { PILESHUF_TEST_TINY: '1' },
      }),
    ],
  },
});
