/** Ranges of numbers as inputs: the same bytes as a file with their lines, whatever the job; and numbers whose places are computed. */
import { readFileSync, writeFileSync } from 'node:fs';
import { describe, expect, it, vi } from 'vitest';
import { type ShuffleOptions, shuffle, type Tuning, verifyPermutation } from '#src/index.js';
import { commandInProcess } from '../fixtures/command-in-process.js';
import { atScale, sampled } from '../fixtures/scale.js';
import { useMemoryDirectory } from '../fixtures/temp-directory.js';
import { TINY_BUFFERS } from '../fixtures/tiny-buffers.js';
import { referenceOrder } from '../laws/reference-order.js';

const directory = useMemoryDirectory();
const output = () => directory.path('out');
const LAST = 2n ** 64n - 1n;

async function shuffled(options: Omit<ShuffleOptions, 'output'>, tuning: Tuning = { inline: true }): Promise<string> {
  await shuffle({ seed: '42', tempDirs: [directory.temp], ...options, output: output(), force: true }, tuning);
  return readFileSync(output(), 'latin1');
}

const linesOf = (text: string) => text.split('\n').slice(0, -1);
const textOf = (low: number, high: number, end = '\n') =>
  Array.from({ length: high - low + 1 }, (_, i) => `${low + i}${end}`).join('');

const CASES: readonly Partial<ShuffleOptions>[] = [
  {},
  { headCount: 9 },
  { repeat: true, headCount: 2500, keys: 'ordinal' },
  { zeroTerminated: true },
  { keys: 'ordinal' },
  { records: { by: 'lines', linesPerRecord: 3 } },
  { uniqueBy: '/(.)$/' },
  { header: { lines: 1 } },
  { compress: { codec: 'gzip' } },
];

const TUNINGS: readonly Tuning[] = [
  { inline: true, sliceBytes: 1500 },
  { ...TINY_BUFFERS, inline: true },
  { inline: false, sliceBytes: 1500 },
];

const COUNT = atScale(30_000, 100_000);

describe('a range', () => {
  it.each(sampled(CASES, 8))('is read as a file with its lines: %j', async (options) => {
    const end = options.zeroTerminated ? '\0' : '\n';
    writeFileSync(directory.path('in'), textOf(995, 2101, end));
    const expected = await shuffled({ ...options, inputs: [directory.path('in')] });
    const inputs = [{ range: { low: 995, high: 2101 } }];
    const isLarge = options.repeat ?? options.compress;
    for (const tuning of isLarge ? TUNINGS.slice(0, 1) : TUNINGS)
      expect((await shuffled({ ...options, inputs, workers: 2 }, tuning)) === expected).toBe(true);
  });

  it('stands beside other inputs, in shards, and is verified', async () => {
    const low = 7n;
    const inputs = [{ records: ['a', 'b'] }, { range: { low, high: 1200 } }];
    const shards = { by: 'count', shardCount: 3 } as const;
    await shuffle({ inputs, output: output(), shards });
    expect(await verifyPermutation({ outputs: [output()], inputs })).toMatchObject({ isPermutation: true });
  });

  it('may be empty, and reaches both ends of 64 bits', async () => {
    for (const [low, high] of [
      [5n, 4n],
      [0, -1],
      [LAST, LAST - 1n],
    ] as const)
      expect(await shuffled({ inputs: [{ range: { low, high } }] })).toBe('');
    const last = linesOf(await shuffled({ inputs: [{ range: { low: LAST - 2n, high: LAST } }] }));
    expect(last.sort()).toEqual([LAST - 2n, LAST - 1n, LAST].map(String));
  });

  it('is the same input for a later call, from anywhere', async () => {
    vi.stubEnv('XDG_STATE_HOME', directory.path('state'));
    const call = (cwd: string) =>
      commandInProcess(['-i', '007-0900', '--seed', '1', '--resume', '-q', '-o', output()], { cwd });
    expect(await call(directory.path())).toMatchObject({ exitCode: 0, stderr: '' });
    const text = readFileSync(output(), 'latin1');
    expect(text).toBe(referenceOrder([Buffer.from(textOf(7, 900))], '1').join(''));
    expect(await call(directory.temp)).toMatchObject({ exitCode: 0, stderr: '' });
    vi.unstubAllEnvs();
  });
});

/** The order is a contract: these are its first numbers. */
const KNOWN: readonly (readonly [seed: string, low: bigint, high: bigint, repeat: boolean, first: string])[] = [
  ['Ł', 0n, 2n ** 32n, false, '1927616530 849598023 1496403416 1753349817 4254814923 3043012031'],
  ['', 1n, 10n ** 12n, false, '529317950835 344030795558 60460241169 914815423964 578643497574 597515859856'],
  ['42', 0n, LAST, false, '10540390223857666412 15466908210192744717 7321909880420989093 4060553767440264579'],
  ['42', 1n, 6n, true, '3 5 3 1 6 5 5 4 1 5 1 3 3 3 6 2 6 1 4 6'],
  ['42', 0n, LAST, true, '8505742006596914210 16629813771203641395 234194740738890051 9422072831827660040'],
];

describe('numbers whose places are computed', () => {
  it.each(KNOWN)('of seed %j from %d to %d, with replacement %s', async (seed, low, high, repeat, first) => {
    const numbers = first.split(' ');
    const options = { inputs: [{ range: { low, high } }], repeat, seed, headCount: numbers.length };
    expect(linesOf(await shuffled(options))).toEqual(numbers);
    const shards = { by: 'count', shardCount: 2 } as const;
    const threads = { ...TINY_BUFFERS, inline: false };
    const where = { output: directory.path('shards'), tempDirs: [directory.temp], workers: 2 };
    const { leftOut, records, ...report } = await shuffle(
      { ...options, ...where, shards, zeroTerminated: true },
      threads,
    );
    const texts = report.shards.map((path) => readFileSync(path, 'latin1'));
    expect(texts.join('')).toBe(numbers.map((number) => `${number}\0`).join(''));
    expect(records).toBe(numbers.length);
    expect(leftOut?.records).toBe(repeat ? undefined : Number(high - low) + 1 - numbers.length);
  });

  it.each([false, true])('are as many as asked for, in little memory, with replacement: %s', async (repeat) => {
    const inputs = [{ range: { low: 0n, high: LAST } }];
    const options = { inputs, repeat, headCount: COUNT, memoryBytes: 2 ** 25, workers: 2 };
    const numbers = linesOf(await shuffled(options, { inline: false }));
    expect(new Set(numbers).size).toBe(COUNT);
  });

  it('are those of a file where another option needs their lines, and of a short range', async () => {
    const range = { low: 0, high: 30_000 };
    const all = referenceOrder([Buffer.from(textOf(0, 30_000))], '42');
    expect(await shuffled({ inputs: [{ range }], headCount: 5 })).toBe(all.slice(0, 5).join(''));
    const options = { repeat: true, headCount: 5 };
    const asFile = await shuffled({ inputs: [{ range }], ...options, keys: 'ordinal' });
    const other = await shuffled({ inputs: [{ range }], ...options });
    expect(other).not.toBe(asFile);
  });

  it('have nothing to resume', async () => {
    const job = { inputs: [{ range: { low: 1, high: 2 ** 24 + 1 } }], output: output(), headCount: 1 };
    for (const options of [{ resume: true }, { keepTemp: true }, { jobDir: directory.path('job') }])
      await expect(shuffle({ ...job, ...options })).rejects.toThrow(
        'the order of so many numbers is computed in one process, without temp data: leave out `resume`, `jobDir` and `keepTemp`',
      );
  });
});

const OF_RANGE = '`range`: expected an object with `low` and `high`, whole numbers from 0 to 18446744073709551615';

describe('an input', () => {
  it.each<[unknown, string]>([
    [{ range: '1-3' }, OF_RANGE],
    [{ range: null }, OF_RANGE],
    [{ range: { low: 1 } }, OF_RANGE],
    [{ range: { low: -1, high: 3 } }, OF_RANGE],
    [{ range: { low: 1.5, high: 3 } }, OF_RANGE],
    [{ range: { low: '1', high: 3 } }, OF_RANGE],
    [{ range: { low: 1, high: 2 ** 60 } }, OF_RANGE],
    [{ range: { low: 1, high: LAST + 1n } }, OF_RANGE],
    [{ range: { low: 3, high: 1 } }, OF_RANGE],
    [{ range: { low: 1, high: 3, step: 2 } }, '`range` has no option `step`; expected one of low, high'],
    [{ range: { low: 1, high: 3 }, path: 'a' }, 'has no option `range`; expected one of path'],
    [{ range: { low: 1, high: 10n ** 16n } }, 'numbers://1-10000000000000000 has more than 2^53 bytes to read'],
  ])('is refused: %o', async (input, message) => {
    const inputs = [input] as ShuffleOptions['inputs'];
    const job = shuffle({ inputs, output: output(), unique: true });
    await expect(job).rejects.toMatchObject({ code: 'ERR_OPTION', message: expect.stringContaining(message) });
  });
});
