/**
 * The three tiers of tests. `PILESHUF_TEST_SCALE` names the tier; package.json has a command for each. A tier runs each
 * of its files once. Tests with a scale (`fixtures/scale.ts`) have more cases in a larger tier.
 *
 * | tier    | command             | files                                 |
 * | ------- | ------------------- | ------------------------------------- |
 * | `quick` | `npm test`          | `*.test.ts`                           |
 * | `ci`    | `npm run test:ci`   | `*.test.ts`, `*.ci.ts`                |
 * | `slow`  | `npm run test:slow` | `*.test.ts`, `*.ci.ts`, `*.slow.ts`   |
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

const ENDINGS = { quick: ['test'], ci: ['test', 'ci'], slow: ['test', 'ci', 'slow'] };
if (!(tier in ENDINGS)) throw new RangeError(`PILESHUF_TEST_SCALE is ${tier}; expected ${Object.keys(ENDINGS)}`);
const endings: readonly string[] = ENDINGS[tier as keyof typeof ENDINGS];

const included = readdirSync('test', { recursive: true, withFileTypes: true })
  .filter((entry) => entry.isFile() && endings.some((ending) => entry.name.endsWith(`.${ending}.ts`)))
  .map((entry) => relative('.', join(entry.parentPath, entry.name)));

/** These measure the process they run in, or replace modules of the program: each has a process of its own. */
const OWN_PROCESS = /memory-given-back|soak|task-pool|third-format|threads-of-jobs|\.slow\.ts$/;

const mocked = included.filter((file) => readFileSync(file, 'utf8').includes('vi.mock('));
const own = included.filter((file) => OWN_PROCESS.test(file));
const shared = included.filter((file) => !own.includes(file) && !mocked.includes(file));

/** The program is built: Node loads it as it is, which takes a fraction of the time. */
const asBuilt = { server: { deps: { external: [/\/dist\//] } } };

/** To optimize functions takes longer than they do, where most of them run a few times. Later Nodes lack the option. */
const lazily = tier === 'quick' && process.version.startsWith('v20.') ? ['--interrupt-budget=1000000'] : [];

/**
 * The test processes keep all cores busy: threads that collect garbage beside them take more than they give, and to collect
 * less often takes a tenth less time.
 */
const frugal = {
  execArgv: ['--single-threaded-gc', '--min-semi-space-size=16', '--initial-old-space-size=300', ...lazily],
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
    // Tests that wait, such as for Slurm, a terminal or a signal, leave the cores to others.
    maxWorkers: 3,
    // Test files that have not changed are not compiled again.
    experimental: { fsModuleCache: true },
    setupFiles: ['test/fixtures/property-seed.ts'],
    provide: { propertySeed },
    // Node would read all these certificates at each start, which takes twice as long as the start itself. Jobs keep no
    // record of their success, which would outlive the tests.
    // Few machines answer for their role at once.
    env: { NODE_EXTRA_CA_CERTS: '', XDG_STATE_HOME: '/dev/null', AWS_EC2_METADATA_DISABLED: 'true', AWS_CA_BUNDLE: '' },
    projects: [
      ...project('shared process', shared, {
        ...asBuilt,
        ...frugal,
        isolate: false,
        setupFiles: ['test/fixtures/property-seed.ts', 'test/fixtures/bundled-threads.ts'],
      }),
      ...project('own process', own, asBuilt),
      ...project('replaced modules', mocked, frugal),
    ],
  },
});
