/**
 * The modes of a shuffle, each through whole jobs of the library from the named files to the committed outputs: every sample
 * with its order, every part of the records in a split, and every order in it are equally likely. The records of some inputs
 * lie in piles in memory and on disk, and few jobs have several threads. chi-square.ts explains the bounds.
 */
import { readFileSync, rmSync, writeFileSync } from 'node:fs';
import { describe, it } from 'vitest';
import { type ShuffleOptions, shuffle, type Tuning } from '#src/index.js';
import { atScale, isSlow, sampled } from '../fixtures/scale.js';
import { textsOfGroups, writeTable } from '../fixtures/tables.js';
import { CHI_SQUARE_BOUNDS, expectUniform } from './chi-square.js';
import { useFastDirectory } from './fast-directory.js';

const directory = useFastDirectory();
const jobs = atScale(40, 40, 24_000);
/** Threads take long to start: so few of the jobs have them, and only in the slow tier. */
const JOBS_FOR_THREADS = 60;

interface Mode {
  readonly name: string;
  /** What each input holds. */
  readonly inputs: readonly string[];
  /** The inputs are tables: each line is a row, and row groups have so many. */
  readonly rowsOfGroup?: number;
  readonly options: Partial<ShuffleOptions>;
  /** What each statistic has one degree of freedom less than: the number of its cells. */
  readonly cells: Readonly<Record<string, number>>;
  /** In which cell of a statistic a job falls; undefined: in none. @param parts the records of each split, or of the output. */
  readonly cellsOf: (parts: readonly string[]) => Readonly<Record<string, string | undefined>>;
}

const lines = (letters: string) => letters.replaceAll(/./g, '$&\n');
const sorted = (letters: string) => [...letters].sort().join('');
const LETTERS = 'abcdefghijklmnopqrst';
const HALVES = [
  { name: 'x', share: 0.5 },
  { name: 'y', rest: true },
] as const;

const MODES: readonly Mode[] = [
  {
    name: 'all orders of five records',
    inputs: ['abcde'].map(lines),
    options: {},
    cells: { orders: 120 },
    cellsOf: ([order]) => ({ orders: order }),
  },
  {
    name: 'all orders of five records that follow from their ordinals',
    inputs: ['ab', 'cde'].map(lines),
    options: { keys: 'ordinal' },
    cells: { orders: 120 },
    cellsOf: ([order]) => ({ orders: order }),
  },
  {
    name: 'all ordered samples of three of six records',
    inputs: [...'abcdef'].map(lines),
    options: { headCount: 3 },
    cells: { samples: 6 * 5 * 4 },
    cellsOf: ([sample]) => ({ samples: sample }),
  },
  {
    // The limit falls below the keys of most records while pass 1 reads.
    name: 'all pairs of twenty records of ten inputs',
    inputs: (LETTERS.match(/../g) ?? []).map(lines),
    options: { headCount: 2 },
    cells: { pairs: (20 * 19) / 2 },
    cellsOf: ([sample = '']) => ({ pairs: sorted(sample) }),
  },
  {
    name: 'all orders of five records of one value',
    inputs: ['abc', 'de'].map(lines),
    options: { each: '/(none)/', missing: 'x' },
    cells: { orders: 120 },
    cellsOf: ([order]) => ({ orders: order }),
  },
  {
    name: 'all ordered samples in splits',
    inputs: ['abc', 'def'].map(lines),
    options: {
      headCount: 3,
      splits: [
        { name: 'x', share: 0.4 },
        { name: 'y', rest: true },
      ],
    },
    cells: { samples: 6 * 5 * 4 },
    cellsOf: ([one = '', two]) => ({ samples: one.length === 1 ? one + two : 'not one in the first split' }),
  },
  {
    name: 'the records and the order of splits with shares',
    inputs: ['ab', 'cd'].map(lines),
    options: { splits: HALVES },
    cells: { records: 2 ** 4, orders: 24 },
    cellsOf: ([one = '', two = '']) => ({
      records: sorted(one),
      // Where two are in either, all orders of both are equally likely.
      orders: one.length === 2 ? one + two : undefined,
    }),
  },
  {
    name: 'the records and the order of splits with numbers',
    inputs: ['abc', 'def'].map(lines),
    options: {
      splits: [
        { name: 'x', records: 3 },
        { name: 'y', rest: true },
      ],
    },
    cells: { records: 20, orders: 6 * 5 * 4 },
    cellsOf: ([one = '']) => ({ records: sorted(one), orders: one }),
  },
  {
    name: 'the splits of values, and the order in them',
    inputs: ['aAc', 'C'].map(lines),
    options: { splits: HALVES, splitBy: '/^(.)/i', missing: 'none' },
    cells: { values: 2 ** 4, orders: 24 },
    cellsOf: ([one = '', two = '']) => ({
      values: sorted(one),
      orders: one.length === 2 ? one + two : undefined,
    }),
  },
  {
    name: 'the order of records with different values',
    inputs: ['{"v":1}\n{"v":2}\n{"v":1,"b":0}\n', '{"v":4}\n{"v":3}\n{"v":2,"b":0}\n'],
    options: { uniqueBy: '.v' },
    cells: { orders: 24 },
    cellsOf: ([kept]) => ({ orders: kept }),
  },
  {
    name: 'the splits and copies of records with different values',
    inputs: [
      '{"v":1,"w":0.5,"s":1}\n{"v":2,"w":1.5,"s":2}\n{"v":1}\n',
      '{"v":4,"w":1,"s":1}\n{"v":3,"w":2,"s":3}\n{"v":2}\n{"v":5,"w":1,"s":4}\n',
    ],
    options: { uniqueBy: '.v', weightBy: '.w', splits: HALVES, splitBy: '.s' },
    cells: { values: 2 ** 4, drawn: 4 },
    cellsOf: ([one = '', two = '']) => ({
      // A record of each value always comes.
      values: ['"s":1', '"s":2', '"s":3', '"s":4'].map((value) => Number(one.includes(value))).join(),
      drawn: ['"v":1,', '"v":2,'].map((value) => (one + two).split(value).length).join(),
    }),
  },
  {
    name: 'the order of bundles',
    inputs: ['a1\na2\nb1\n', 'c1\nd1\nc2\nb2\ne1\n'],
    options: { groupBy: '/^(.)/' },
    cells: { orders: 120 },
    // A bundle that is torn, or not in its order, makes a cell too many.
    cellsOf: ([order = '']) => ({ orders: order.replaceAll(/(?<letter>.)1(?:\k<letter>2)?/g, '$1') }),
  },
  {
    name: 'three draws of four records',
    inputs: ['ab', 'cd'].map(lines),
    options: { headCount: 3, repeat: true },
    cells: { draws: 4 ** 3 },
    cellsOf: ([draws]) => ({ draws }),
  },
  {
    name: 'the records of a weight of a half, and of one and a half',
    inputs: ['ab', 'cd'].map(lines),
    options: {
      weights: [
        { glob: '0', factor: '0.5' },
        { glob: '1', factor: '1.5' },
      ],
    },
    cells: { records: 2 ** 4 },
    cellsOf: ([records = '']) => ({ records: sorted(records) }),
  },
  {
    name: 'the records of numbers of a half, and of one and a half',
    inputs: ['{"w":0.5,"a":1}\n{"w":0.5}\n', '{"w":1.5,"c":1}\n{"w":1.5}\n'],
    options: { weightBy: '.w' },
    cells: { records: 2 ** 4 },
    cellsOf: ([records = '']) => ({
      records: ['{"w":0.5,"a":1}', '{"w":0.5}', '{"w":1.5,"c":1}', '{"w":1.5}']
        .map((each) => records.split(each).length)
        .join(),
    }),
  },
  {
    name: 'all orders of five rows of two tables, in row groups of two',
    inputs: ['ab', 'cde'].map(lines),
    rowsOfGroup: 2,
    options: { rowGroupRows: 2, memoryBytes: 2 ** 26, parquetCodec: 'none' },
    cells: { orders: 120 },
    cellsOf: ([order]) => ({ orders: order }),
  },
];

const TUNINGS: readonly Tuning[] = [
  { inline: true },
  { inline: true, mayUseRamPool: false, pileCount: 1, bufferBytes: 32 },
  { inline: true, mayUseRamPool: false, pileCount: 5, bufferBytes: 16, sliceBytes: 2 },
  { inline: true, pileCount: 3, bufferBytes: 64 },
];
const THREADS: Tuning = { inline: false, mayUseRamPool: false, pileCount: 3, bufferBytes: 32, sliceBytes: 2 };

const rowsOf = (text: string) =>
  text
    .slice(0, -1)
    .split('\n')
    .map((line) => ({ text: line, number: undefined }));

/** @returns the records of each split, or of the one output, without what ends them. */
async function runJob(mode: Mode, seed: string, tuning: Tuning): Promise<readonly string[]> {
  const { inputs, options, rowsOfGroup } = mode;
  const paths = inputs.map((text, i) => {
    const path = directory.path(String(i));
    if (rowsOfGroup === undefined) writeFileSync(path, text);
    else writeTable(path, rowsOf(text), rowsOfGroup);
    return path;
  });
  const output = directory.path('out');
  rmSync(output, { recursive: true, force: true });
  const { splits, sections } = await shuffle(
    {
      workers: tuning.inline ? 1 : 2,
      memoryBytes: 2 ** 25,
      tempDirs: [directory.temp],
      ...options,
      inputs: paths,
      output,
      seed,
    },
    tuning,
  );
  const texts = (splits ?? sections)?.map(({ shards }) => shards.map((path) => readFileSync(path, 'latin1')).join(''));
  if (rowsOfGroup !== undefined) return [textsOfGroups(output).flat().join('')];
  return (texts ?? [readFileSync(output, 'latin1')]).map((text) => text.replaceAll('\n', ''));
}

function isBounded(degrees: number): degrees is keyof typeof CHI_SQUARE_BOUNDS {
  return degrees in CHI_SQUARE_BOUNDS;
}

describe('equally likely are', () => {
  it.each(sampled(MODES, MODES.length, 2).map((mode) => [mode.name, mode] as const))('%s', async (_, mode) => {
    const found = new Map(Object.keys(mode.cells).map((statistic) => [statistic, new Map<string, number>()]));
    for (let job = 0; job < jobs; job++) {
      const tuning = isSlow && job % JOBS_FOR_THREADS === 1 ? THREADS : TUNINGS[job % TUNINGS.length];
      const parts = await runJob(mode, `${mode.name} ${job}`, tuning ?? {});
      for (const [statistic, cell] of Object.entries(mode.cellsOf(parts))) {
        const counts = found.get(statistic);
        if (cell !== undefined) counts?.set(cell, (counts.get(cell) ?? 0) + 1);
      }
    }
    for (const [statistic, cells] of Object.entries(mode.cells)) {
      const counts = [...(found.get(statistic)?.values() ?? [])];
      const degrees = cells - 1;
      if (counts.length > cells || !isBounded(degrees))
        throw new RangeError(`${counts.length} cells of ${statistic}, expected at most ${cells}`);
      const none = Array.from({ length: cells - counts.length }, () => 0);
      expectUniform([...counts, ...none], degrees, `${statistic} over ${jobs} jobs`);
    }
  });
});
