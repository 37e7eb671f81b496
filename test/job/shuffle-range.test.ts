/**
 * Jobs that write a range of numbers: the same bytes whatever the threads, the buffers and the outputs; the first numbers
 * of the order; exact ends of 64 bits; and every refusal.
 */
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { AbortError, type RangeOptions, shuffleRange, type Tuning, UsageError, VerificationError } from '#src/index.js';
import { requireTotals } from '#src/job/shuffle-range.js';
import { atScale, fromCi } from '../fixtures/scale.js';
import { useMemoryDirectory } from '../fixtures/temp-directory.js';
import { recordHash } from '../workers/kernel/kernel-twin.js';

const directory = useMemoryDirectory();
const END = 2n ** 64n;
const output = () => directory.path('out');

async function write(options: Omit<RangeOptions, 'output'>, tuning: Partial<Tuning> = {}): Promise<string> {
  await shuffleRange({ seed: '42', ...options, output: output(), force: true }, tuning);
  return readFileSync(output(), 'latin1');
}

const linesOf = (text: string) => text.split('\n').slice(0, -1);

describe('the numbers of a range', () => {
  it('are the same with any number of threads and any buffers', async () => {
    const kinds = [
      { range: { low: 95, high: 1105 } },
      { range: { low: 1, high: 10n ** 12n }, headCount: 3000 },
      { range: { low: 0, high: 2 ** 32 }, headCount: 3000 },
      { range: { low: 9_000, high: 3 * 2 ** 20 }, headCount: atScale(30_000, 300_000) },
      { range: { low: 7, high: 1200 }, repeat: true, headCount: 5000 },
    ];
    for (const [i, options] of kinds.entries()) {
      const expected = await write(options);
      expect(linesOf(expected)).toHaveLength(Number(options.headCount ?? 1011));
      const isLong = expected.length > 2 ** 16;
      for (const [workers, tuning] of [
        [1, { inline: true, outputBytes: isLong ? 4096 : 128 }],
        ...(fromCi || i % 3 === 0 ? [[2, { inline: false, outputBytes: isLong ? 100_000 : 4000 }] as const] : []),
        ...atScale([], [[3, { inline: false, outputBytes: isLong ? 20_000 : 128 }] as const]),
      ] as const) {
        const text = await write({ ...options, workers }, tuning);
        expect(text === expected, `${workers} threads, ${JSON.stringify(tuning)}`).toBe(true);
      }
    }
  });

  it('come once each, and fewer of them are the first ones', async () => {
    const shape = fc.record({ low: fc.nat({ max: 2000 }), count: fc.nat({ max: 300 }), head: fc.nat({ max: 350 }) });
    await fc.assert(
      fc.asyncProperty(shape, async ({ low, count, head }) => {
        const range = { low, high: low + count - 1 };
        if (count === 0 && low === 0) range.high = -1;
        const all = linesOf(await write({ range }));
        expect(all.map(Number).sort((a, b) => a - b)).toEqual(Array.from({ length: count }, (_, i) => low + i));
        expect(linesOf(await write({ range, headCount: head }))).toEqual(all.slice(0, head));
        expect(linesOf(await write({ range, headCount: BigInt(head) + END }))).toEqual(all);
      }),
      { numRuns: atScale(15, 100) },
    );
  });

  it('reach both ends of 64 bits', async () => {
    const last = END - 1n;
    expect(linesOf(await write({ range: { low: last - 2n, high: last } })).sort()).toEqual(
      [last - 2n, last - 1n, last].map(String),
    );
    const few = linesOf(await write({ range: { low: 0, high: last }, headCount: 2000 })).map(BigInt);
    expect(new Set(few).size).toBe(2000);
    expect(few.every((number) => number < END)).toBe(true);
    expect(few.some((number) => number >= END - END / 100n)).toBe(true);
  });

  it('may end with NUL, and be none', async () => {
    expect((await write({ range: { low: 1, high: 3 }, zeroTerminated: true })).split('\0').sort()).toEqual([
      '',
      '1',
      '2',
      '3',
    ]);
    for (const range of [
      { low: 5, high: 4 },
      { low: 0, high: -1 },
      { low: END - 1n, high: END - 2n },
    ])
      expect(await write({ range })).toBe('');
    expect(await write({ range: { low: 5, high: 4 }, repeat: true, headCount: 0 })).toBe('');
  });

  it('with replacement are the first of an endless sequence', async () => {
    const range = { low: 3, high: 9 };
    const many = linesOf(await write({ range, repeat: true, headCount: 700 }));
    expect(new Set(many)).toEqual(new Set(['3', '4', '5', '6', '7', '8', '9']));
    expect(linesOf(await write({ range, repeat: true, headCount: 11 }))).toEqual(many.slice(0, 11));
  });
});

describe('the output', () => {
  const range = { low: 90, high: 1200 };

  it('is plain, and refused under the name of a compressed one', async () => {
    const path = directory.path('numbers.gz');
    await expect(shuffleRange({ range, output: path })).rejects.toThrow('would be compressed, and numbers are not');
    await shuffleRange({ range: { low: 7, high: 7 }, output: path, compress: 'none' });
    expect(readFileSync(path, 'latin1')).toBe('7\n');
  });

  it('replaces what exists only if told to, and leaves nothing else behind', async () => {
    writeFileSync(output(), 'precious\n');
    await expect(shuffleRange({ range, output: output() })).rejects.toMatchObject({ code: 'ERR_OUTPUT_EXISTS' });
    expect(readFileSync(output(), 'latin1')).toBe('precious\n');
    await write({ range });
    expect(readdirSync(directory.path()).sort()).toEqual(['out', 'temp']);
  });

  it('is reported, and its progress', async () => {
    const events: { phase: string; bytesDone: number; bytesTotal: number | undefined }[] = [];
    const report = await shuffleRange({ range, output: output(), onProgress: (progress) => events.push(progress) });
    const text = readFileSync(output(), 'latin1');
    expect(report).toMatchObject({ numbers: 1111, bytes: text.length, workers: 1 });
    const hashes = linesOf(text).map((line) => recordHash(Buffer.from(`${line}\n`)));
    const sum = BigInt.asUintN(
      64,
      hashes.reduce((all, hash) => all + hash),
    );
    expect(report.checksum).toBe(sum.toString(16).padStart(16, '0'));
    expect(report.seed).toMatch(/^[0-9a-f]{16}$/);
    expect(await write({ range, seed: report.seed })).toBe(text);
    expect([...new Set(events.map(({ phase }) => phase))]).toEqual(['shuffle', 'commit']);
    const last = events.findLast(({ phase }) => phase === 'shuffle');
    expect(last).toMatchObject({ bytesDone: text.length, bytesTotal: text.length });
  });
});

describe('a job', () => {
  it.each([
    { bytes: 6, sum: 5n },
    { bytes: 5, sum: 6n },
  ])('fails when it has written other numbers: %o', (written) => {
    const range = { low: 1n, high: 3n };
    requireTotals({ bytes: 6, sum: 6n }, range);
    expect(() => requireTotals(written, range)).toThrow(VerificationError);
  });

  it('stops when its signal fires, and leaves nothing', async () => {
    const controller = new AbortController();
    const job = shuffleRange(
      {
        range: { low: 1, high: 5_000_000 },
        output: output(),
        workers: 2,
        signal: controller.signal,
        onProgress: ({ phase, bytesDone }) => {
          if (phase === 'shuffle' && bytesDone === 0) setTimeout(() => controller.abort(), 20);
        },
      },
      { inline: false, outputBytes: 4096 },
    );
    await expect(job).rejects.toThrow(AbortError);
    expect(readdirSync(directory.path())).toEqual(['temp']);
    await expect(
      shuffleRange({ range: { low: 1, high: 2 }, output: output(), signal: AbortSignal.abort() }),
    ).rejects.toThrow(AbortError);
  });
});

describe('an option', () => {
  const untyped = (options: unknown) => options as RangeOptions;
  const range = { low: 1, high: 3 };
  const OF_RANGE = '`range`: expected an object with `low` and `high`, whole numbers from 0 to 18446744073709551615';

  it.each<[object, string]>([
    [{}, OF_RANGE],
    [{ range: '1-3' }, OF_RANGE],
    [{ range: null }, OF_RANGE],
    [{ range: { low: 1 } }, OF_RANGE],
    [{ range: { low: -1, high: 3 } }, OF_RANGE],
    [{ range: { low: 1.5, high: 3 } }, OF_RANGE],
    [{ range: { low: '1', high: 3 } }, OF_RANGE],
    [{ range: { low: 1, high: -1 } }, OF_RANGE],
    [{ range: { low: 1, high: 2 ** 60 } }, OF_RANGE],
    [{ range: { low: 1, high: END } }, OF_RANGE],
    [{ range: { low: END, high: END - 1n } }, OF_RANGE],
    [{ range: { low: 3, high: 1 } }, OF_RANGE],
    [{ range: { ...range, step: 2 } }, '`range` has no option `step`; expected one of low, high'],
    [{ range, headCount: -1 }, '`headCount`: expected a whole number of at least 0'],
    [{ range, headCount: 0.5 }, '`headCount`: expected a whole number of at least 0'],
    [{ range, headCount: '5' }, '`headCount`: expected a whole number of at least 0'],
    [{ range, repeat: 'yes' }, '`repeat`: expected true or false'],
    [{ range, zeroTerminated: 1 }, '`zeroTerminated`: expected true or false'],
    [{ range, workers: 0 }, '`workers` is 0; expected a whole number from 1 to 1024'],
    [{ range, seed: 42 }, '`seed`: expected a string'],
    [{ range, shards: { by: 'count', shardCount: 2 } }, 'shuffleRange() has no option `shards`; expected one of '],
    [{ range, compress: { codec: 'gzip' } }, 'would be compressed, and numbers are not; name another'],
    [{ range, inputs: ['a'] }, 'shuffleRange() has no option `inputs`; expected one of range, headCount, repeat, '],
    [{ range, resume: true }, 'shuffleRange() has no option `resume`; expected one of '],
    [{ range, memoryBytes: 1 }, 'shuffleRange() has no option `memoryBytes`; expected one of '],
    [{ range: { low: 2, high: 1 }, repeat: true }, '`repeat` has nothing to draw from: `range` 2-1 has no numbers'],
    [{ range, repeat: true }, '`repeat` without `headCount` never ends; give `headCount`, or write to standard output'],
    [{ range, repeat: true, headCount: END }, '`repeat` without `headCount` never ends; '],
  ])('is refused: %o', async (options, message) => {
    const job = shuffleRange(untyped({ output: output(), ...options }));
    await expect(job).rejects.toMatchObject({ code: 'ERR_OPTION', message: expect.stringContaining(message) });
    await expect(job).rejects.toThrow(UsageError);
    expect(readdirSync(directory.path())).toEqual(['temp']);
  });
});
