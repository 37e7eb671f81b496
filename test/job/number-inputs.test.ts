/** Ranges of numbers as inputs: the same bytes as a file with their lines, whatever the job; and a few of many, drawn. */
import { createHash } from 'node:crypto';
import { readFileSync, writeFileSync } from 'node:fs';
import { describe, expect, it, vi } from 'vitest';
import { type ShuffleOptions, shuffle, type Tuning, verifyPermutation } from '#src/index.js';
import { commandInProcess } from '../fixtures/command-in-process.js';
import { sampled } from '../fixtures/scale.js';
import { useMemoryDirectory } from '../fixtures/temp-directory.js';
import { TINY_BUFFERS } from '../fixtures/tiny-buffers.js';
import { drawsFrom, recordsOf, referenceOrder } from '../laws/reference-order.js';

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
  { repeat: true, headCount: 2500 },
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

describe('a range', () => {
  it.each(sampled(CASES, 4))('is read as a file with its lines: %j', async (options) => {
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

/** As docs/ORDER.md says. */
function drawnFrom(low: bigint, high: bigint, draws: number): bigint[] {
  const texts = ['42', 'numbers', `${low}-${high}`].flatMap((text) => [
    Buffer.from(new BigUint64Array([BigInt(text.length)]).buffer),
    Buffer.from(text),
  ]);
  const bytes = createHash('shake256', { outputLength: 16 * draws })
    .update(Buffer.concat(texts))
    .digest('hex');
  return (bytes.match(/.{32}/g) ?? []).map((hex) => {
    const draw = BigInt(`0x${hex.match(/../g)?.reverse().join('')}`);
    return low + ((draw * (high - low + 1n)) >> 128n);
  });
}

const ascending = (a: bigint, b: bigint) => (a < b ? -1 : a > b ? 1 : 0);

describe('a few of many numbers', () => {
  it.each([
    [1n, 2n ** 24n + 1n, 20_000],
    [0n, LAST, 500],
    [10n, 10n ** 12n, 0],
  ])('from %d to %d are drawn', async (low, high, count) => {
    const inputs = [{ range: { low, high } }];
    const different = new Set<bigint>();
    for (const number of drawnFrom(low, high, 2 * count)) if (different.size < count) different.add(number);
    for (const [options, numbers] of [
      [{}, [...different]],
      [{ repeat: true }, drawnFrom(low, high, count)],
    ] as const) {
      const text = numbers
        .toSorted(ascending)
        .map((number) => `${number}\n`)
        .join('');
      const expected = referenceOrder([Buffer.from(text)], '42').join('');
      expect(await shuffled({ ...options, inputs, headCount: count })).toBe(expected);
    }
  });

  it.each<Partial<ShuffleOptions>>([{}, { repeat: true }])(
    'are as of a file if there are not so many: %j',
    async (options) => {
      const range = { low: 0, high: 30_000 };
      const all = referenceOrder([Buffer.from(textOf(0, 30_000))], '42');
      const expected = options.repeat ? drawsFrom(all, '42', 5) : all.slice(0, 5);
      expect(await shuffled({ inputs: [{ range }], headCount: 5, ...options })).toBe(expected.join(''));
      expect(recordsOf(Buffer.from(expected.join('')), 0x0a)).toHaveLength(5);
    },
  );
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
    [{ range: { low: 1, high: 10n ** 16n } }, 'the numbers from 1 to 10000000000000000 have more than 2^53 bytes'],
  ])('is refused: %o', async (input, message) => {
    const inputs = [input] as ShuffleOptions['inputs'];
    const job = shuffle({ inputs, output: output() });
    await expect(job).rejects.toMatchObject({ code: 'ERR_OPTION', message: expect.stringContaining(message) });
  });
});
