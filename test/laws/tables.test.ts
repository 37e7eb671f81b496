/**
 * The laws of tables: their rows come in the order of the same records as lines with keys from ordinals; the bytes of files
 * follow from the rows and the options, whatever the memory, the threads, the piles and the slices; and row groups are as large
 * as asked for.
 */
import { mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { type ShardRule, type ShuffleOptions, shuffle } from '#src/index.js';
import type { Tuning } from '#src/plan/memory-plan.js';
import { atScale, sampled } from '../fixtures/scale.js';
import { rowOf, type TextRow, textsOfGroups, writeTable } from '../fixtures/tables.js';
import { anySettings, type Settings } from './any-settings.js';
import { useFastDirectory } from './fast-directory.js';

const directory = useFastDirectory();

interface Table {
  readonly rows: readonly TextRow[];
  readonly rowsOfGroup: number;
}

/** No two texts are equal, and most are short. */
const table = (name: string): fc.Arbitrary<Table> =>
  fc.record({
    rows: fc
      .array(fc.tuple(fc.oneof(fc.nat({ max: 40 }), fc.nat({ max: 900 })), fc.option(fc.integer())), { maxLength: 150 })
      .map((each) =>
        each.map(([length, number], i) => ({
          text: `${name}${i}${'.'.repeat(length)}`,
          number: number === null ? undefined : number | 0,
        })),
      ),
    rowsOfGroup: fc.integer({ min: 1, max: 70 }),
  });

const tables = fc
  .integer({ min: 1, max: 3 })
  .chain((count) => fc.tuple(...Array.from({ length: count }, (_, i) => table(`${'abc'[i]}`))));

const rules: fc.Arbitrary<ShardRule | undefined> = fc.oneof(
  fc.constant(undefined),
  fc.integer({ min: 1, max: 6 }).map((shardCount) => ({ by: 'count' as const, shardCount })),
  fc.integer({ min: 20, max: 90 }).map((recordsPerShard) => ({ by: 'records' as const, recordsPerShard })),
  fc.integer({ min: 4000, max: 60_000 }).map((maxShardBytes) => ({ by: 'bytes' as const, maxShardBytes })),
  fc.integer({ min: 1000, max: 2000 }).map((maxShardBytes) => ({ by: 'bytes' as const, maxShardBytes })),
);

const splits: fc.Arbitrary<ShuffleOptions['splits']> = fc.constantFrom(undefined, undefined, [
  { name: 'train', share: 0.8 },
  { name: 'test', rest: true },
]);

const asked = fc.record({
  seed: fc.string(),
  shards: rules,
  splits,
  headCount: fc.option(fc.nat({ max: 200 }), { nil: undefined }),
  unique: fc.boolean(),
  rowGroupRows: fc.option(fc.integer({ min: 1, max: 60 }), { nil: undefined }),
  rowGroupBytes: fc.oneof(fc.integer({ min: 1, max: 5000 }), fc.constant(2 ** 27)),
});

type Asked = typeof asked extends fc.Arbitrary<infer Value> ? Value : never;

/** @returns the bytes of each output by its name. */
async function outputsOf(inputs: readonly Table[], options: Asked, { tuning, ...settings }: Settings) {
  const tablePaths = inputs.map(({ rows, rowsOfGroup }, i) => {
    const path = directory.path(`in-${i}.parquet`);
    writeTable(path, rows, rowsOfGroup);
    return path;
  });
  const tempDirs = Array.from({ length: settings.tempDirCount }, (_, i) => directory.path('temp', String(i)));
  for (const path of tempDirs) mkdirSync(path, { recursive: true });
  const output = directory.path('out');
  rmSync(output, { recursive: true, force: true });
  const { memoryBytes, workers, tempCompress } = settings;
  const isCut = options.shards !== undefined || options.splits !== undefined;
  const all = { ...options, parquetCodec: 'none', tempDirs, memoryBytes, workers, tempCompress } as const;
  const report = await shuffle(
    { ...all, inputs: tablePaths, output: isCut ? output : `${output}.parquet`, force: true },
    tuning,
  );
  expect(tempDirs.flatMap((path) => readdirSync(path))).toEqual([]);
  for (const path of tempDirs) rmSync(path, { recursive: true });
  const paths = isCut ? report.shards : [`${output}.parquet`];
  return { report, files: new Map(paths.map((path) => [path, readFileSync(path)])) };
}

/** The texts of the same rows as lines, in their order. */
async function orderOfLines(inputs: readonly Table[], { seed, headCount }: Asked): Promise<string[]> {
  const paths = inputs.map(({ rows }, i) => {
    const path = directory.path(`in-${i}.txt`);
    writeFileSync(path, rows.map(({ text }) => `${text}\n`).join(''));
    return path;
  });
  const output = directory.path('lines');
  await shuffle({ inputs: paths, output, seed, headCount, keys: 'ordinal', force: true });
  return readFileSync(output, 'utf8').split('\n').slice(0, -1);
}

/** One thread, nothing on disk, few piles. */
const PLAIN: Settings = {
  workers: 1,
  memoryBytes: 2 ** 27,
  tempDirCount: 1,
  encodings: ['plain'],
  tuning: { inline: true },
};
/** Memory that holds the pages of any of these tables. */
const withRoom = (settings: Settings): Settings => ({ ...settings, memoryBytes: settings.memoryBytes + 2 ** 26 });

const sizes: Partial<Tuning> = { pileCount: 12, bufferBytes: 512, readBytes: 4096, outputBytes: 700, stripeCount: 4 };

describe('an output of tables', () => {
  it('has the same bytes whatever the settings', async () => {
    await fc.assert(
      fc.asyncProperty(tables, asked, anySettings, async (inputs, options, settings) => {
        const { files } = await outputsOf(inputs, options, PLAIN);
        const others = await outputsOf(inputs, options, withRoom(settings));
        expect([...others.files.keys()]).toEqual([...files.keys()]);
        for (const [path, bytes] of files) expect(others.files.get(path)?.equals(bytes), path).toBe(true);
      }),
      { numRuns: atScale(4, 18, 400) },
    );
  });

  it('has the same bytes when threads write its row groups', async () => {
    const rows = (name: string) =>
      Array.from({ length: 700 }, (_, i) => ({ text: `${name}${i}${'x'.repeat((i * 37) % 300)}`, number: i }));
    const inputs = ['a', 'b', 'c'].map((name) => ({ rows: rows(name), rowsOfGroup: 100 }));
    const common = { seed: '1', splits: undefined, headCount: undefined, unique: false } as const;
    for (const options of sampled(
      [
        { ...common, shards: undefined, rowGroupRows: 90, rowGroupBytes: 2 ** 20 },
        { ...common, shards: { by: 'count', shardCount: 7 }, rowGroupRows: undefined, rowGroupBytes: 9000 },
        { ...common, shards: { by: 'bytes', maxShardBytes: 90_000 }, rowGroupRows: undefined, rowGroupBytes: 9000 },
      ] as const,
      3,
    )) {
      const { files } = await outputsOf(inputs, options, PLAIN);
      const tuning = { ...sizes, sliceBytes: 40_000, inline: false, mayUseRamPool: false };
      const localExecutor = { ...PLAIN, workers: 2, tempDirCount: 2, tuning };
      const others = await outputsOf(inputs, options, localExecutor);
      for (const [path, bytes] of files) expect(others.files.get(path)?.equals(bytes), path).toBe(true);
    }
  });

  it('has its rows in the order of lines with keys from ordinals, in groups as large as asked for', async () => {
    await fc.assert(
      fc.asyncProperty(tables, asked, anySettings, async (inputs, each, settings) => {
        const options = { ...each, unique: false, splits: undefined };
        const { files, report } = await outputsOf(inputs, options, withRoom(settings));
        const groups = [...files.keys()].map(textsOfGroups);
        const order = await orderOfLines(inputs, options);
        expect(groups.flat(2)).toEqual(order);
        expect(report.records).toBe(order.length);
        const byText = new Map(inputs.flatMap(({ rows }) => rows.map((row) => [row.text, rowOf(row)])));
        const bytesOf = (texts: readonly string[]) =>
          texts.reduce((sum, text) => sum + (byText.get(text)?.byteLength ?? Number.NaN), 0);
        expect(report.bytes).toBe(bytesOf(order));
        const isByBytes = options.shards?.by === 'bytes';
        for (const group of groups.flat()) {
          expect(group.length).toBeGreaterThan(0);
          const most = Math.max(1, Math.floor((options.rowGroupBytes * order.length) / report.bytes));
          if (!isByBytes) expect(group.length).toBeLessThanOrEqual(Math.min(options.rowGroupRows ?? most, most));
          else expect(bytesOf(group)).toBeLessThanOrEqual(options.rowGroupBytes + 1000);
        }
      }),
      { numRuns: atScale(3, 13, 300) },
    );
  });
});
