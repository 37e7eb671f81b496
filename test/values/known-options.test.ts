/** No function of the library ignores an option that it does not have: it names the option, and the nearest one it has. */
import { beforeEach, describe, expect, it } from 'vitest';
import { UsageError } from '#src/errors.js';
import * as library from '#src/index.js';
import { errorOf } from '../fixtures/error-of.js';
import { makeStore, someRecords } from '../fixtures/make-store.js';
import { useMemoryDirectory } from '../fixtures/temp-directory.js';

const directory = useMemoryDirectory();
const store = () => directory.path('store');

beforeEach(async () => {
  await makeStore(store(), { seed: 's', pileCount: 2, inputs: { a: someRecords('a', 5) } });
});

/** As a caller without types passes it. */
const untyped = (options: unknown) => options as never;

type Call = (options: object) => unknown;

const CALLS: Readonly<Record<string, Call>> = {
  shuffle: (options) => library.shuffle(untyped({ inputs: ['a'], ...options })),
  shuffleTogether: (options) => library.shuffleTogether(untyped({ together: [['a', 'b']], output: 'out', ...options })),
  appendToStore: (options) => library.appendToStore(store(), untyped({ inputs: ['a'], ...options })),
  shuffleStore: (options) => library.shuffleStore(store(), untyped(options)),
  indexFile: (options) => library.indexFile('a', untyped(options)),
  inspectStore: (options) => library.inspectStore(store(), untyped(options)),
  expireStore: (options) => library.expireStore(store(), { keepLast: 1 }, untyped(options)),
  collectStore: (options) => library.collectStore(store(), untyped(options)),
  collectUploads: (options) => library.collectUploads('s3://b/k', untyped(options)),
  openPileWriter: (options) => library.openPileWriter(store(), untyped({ inputId: 'x', ...options })),
  openStore: (options) => library.openStore(store(), untyped(options)),
  openIndexed: (options) => library.openIndexed('a', untyped(options)),
  verifyPermutation: (options) => library.verifyPermutation(untyped({ inputs: ['a'], outputs: ['a'], ...options })),
  checkShuffled: (options) => library.checkShuffled(untyped({ inputs: ['a'], ...options })),
  previewShuffle: (options) => library.previewShuffle(untyped({ inputs: ['a'], ...options })),
  planCluster: (options) => library.planCluster(untyped({ inputs: ['a'], output: 'out', ...options })),
  runClusterTask: (options) => library.runClusterTask(untyped({ jobDir: 'job', kind: 'commit', ...options })),
  submitLaterToSlurm: (options) =>
    library.submitLaterToSlurm([], untyped({ jobDir: 'job', dependency: 'afterok:1', ...options })),
  submitToSlurm: (options) =>
    library.submitToSlurm(untyped({ inputs: ['a'], output: 'out', jobDir: 'job', ...options })),
  resumeOnSlurm: (options) => library.resumeOnSlurm(untyped({ jobDir: 'job', ...options })),
  describeSlurm: (options) => library.describeSlurm(untyped({ jobDir: 'job', ...options })),
  followSlurm: (options) => library.followSlurm(untyped({ jobDir: 'job', jobs: [] }), untyped(options)),
  verifyShards: (options) => library.verifyShards('a', untyped(options)),
  writeEpochs: (options) =>
    library.writeEpochs(library.openStore(store()).epoch(0), untyped({ endEpoch: 0, ...options })),
};

const CALLS_OF_LOADERS: Readonly<Record<string, Call>> = {
  epoch: (options) => library.openStore(store()).epoch(0, untyped(options)),
  resume: (options) => {
    const opened = library.openStore(store());
    return opened.resume(opened.epoch(0).state(), untyped(options));
  },
  batches: (options) => library.openStore(store()).epoch(0).batches(1, untyped(options)),
  steps: (options) => library.openStore(store()).epoch(0).steps(1, untyped(options)),
};

const refusalOf = (call: () => unknown) => errorOf((async () => await call())());

describe('an option that a function does not have', () => {
  it('is tried with every function of the library that has options', () => {
    const isClass = (value: unknown) => /^class\b/.test(String(value));
    const functions = Object.entries(library).filter(([, value]) => typeof value === 'function' && !isClass(value));
    // Two have the options of another function.
    const withoutOptions = 'readMemory clusterStatus slurmQueue previewTogether describeLaterOnSlurm reportPage'.split(
      ' ',
    );
    expect(functions.map(([name]) => name).toSorted()).toEqual([...Object.keys(CALLS), ...withoutOptions].toSorted());
  });

  it.each(Object.entries({ ...CALLS, ...CALLS_OF_LOADERS }))('is refused: %s()', async (name, call) => {
    const refusal = await refusalOf(() => call({ nothingLikeIt: 1 }));
    expect(refusal).toBeInstanceOf(UsageError);
    expect(refusal).toMatchObject({
      code: 'ERR_OPTION',
      message: expect.stringMatching(
        new RegExp(`^${name}\\(\\) has no option \`nothingLikeIt\`; expected one of \\w+`),
      ),
    });
  });

  it.each([
    ['shuffle', { ouput: 'x' }, 'output'],
    ['shuffle', { 'temp-dirs': ['x'] }, 'tempDirs'],
    ['shuffle', { memory: 1 }, 'memoryBytes'],
    ['appendToStore', { worker: 1 }, 'workers'],
    ['indexFile', { onprogress: 1 }, 'onProgress'],
    ['collectStore', { grace: 1 }, 'graceMilliseconds'],
    ['epoch', { world_size: 1 }, 'worldSize'],
    ['batches', { droplast: true }, 'dropLast'],
  ])('is refused with the nearest one: %s(), %o', async (name, options, nearest) => {
    const refusal = await refusalOf(() => ({ ...CALLS, ...CALLS_OF_LOADERS })[name]?.(options));
    const [given] = Object.keys(options);
    expect(refusal).toMatchObject({ message: `${name}() has no option \`${given}\`; did you mean \`${nearest}\`?` });
  });

  it.each([
    [{ shards: { by: 'count', shardCount: 2, prefix: 'x' } }, '`shards` by count has no option `prefix`; '],
    [{ shards: { by: 'bytes', maxBytes: 9 } }, '`shards` by bytes has no option `maxBytes`; expected one of by, '],
    [{ records: { by: 'csv', headers: 1 } }, '`records` by csv has no option `headers`; expected one of by'],
    [
      { records: { by: 'lines', lines: 4 } },
      '`records` by lines has no option `lines`; did you mean `linesPerRecord`?',
    ],
    [{ compress: { codec: 'gzip', levl: 3 } }, '`compress` has no option `levl`; did you mean `level`?'],
    [{ tempCompress: { codec: 'zstd', levels: 3 } }, '`tempCompress` has no option `levels`; did you mean `level`?'],
    [{ header: { lines: 1, names: 2 } }, '`header`: expected an object with one of `lines`, `prefix` and `bytes`'],
    [{ inputs: [{ path: 'a', id: 'b' }] }, 'an object of `inputs` has no option `id`; expected one of path'],
  ])('is refused inside of an option: %o', async (options, message) => {
    const refusal = await refusalOf(() => CALLS['shuffle']?.(options));
    expect(refusal).toMatchObject({ code: 'ERR_OPTION', message: expect.stringContaining(message) });
  });

  it.each([
    [
      { keepLast: 1, before: '2026-01-01' },
      '`rule`: expected one of before, keepMilliseconds, keepLast, got `keepLast` and `before`',
    ],
    [{}, '`rule`: expected one of before, keepMilliseconds, keepLast, got nothing'],
    [{ keeplast: 1 }, '`rule` has no option `keeplast`; did you mean `keepLast`?'],
  ])('is refused in a rule of expiry: %o', async (rule, message) => {
    expect(await refusalOf(() => library.expireStore(store(), untyped(rule)))).toMatchObject({ message });
  });

  it('is told in one line', async () => {
    const refusal = await refusalOf(() => CALLS['inspectStore']?.({ 'a\nb': 1 }));
    expect(refusal).toMatchObject({ message: expect.stringContaining('no option `a\\nb`; ') });
  });
});
