/**
 * Samples of one key must not become neighbours in an output: readers of WebDataset would take them for one sample. Equal
 * first keys are warned of, and equal neighbours are refused.
 */
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { gunzipSync, gzipSync } from 'node:zlib';
import { describe, expect, it } from 'vitest';
import { exitCodeOf } from '#src/cli/messages.js';
import { InputError } from '#src/errors.js';
import { replaceFileCalls, systemFileCalls } from '#src/io/file-calls.js';
import { shuffle } from '#src/job/shuffle.js';
import type { ShuffleOptions } from '#src/options/shuffle-options.js';
import { pilesOfStripe } from '#src/piles/pile-layout.js';
import type { Tuning } from '#src/plan/memory-plan.js';
import { errorOf } from '../fixtures/error-of.js';
import { runCommand } from '../fixtures/run-command.js';
import { sampled } from '../fixtures/scale.js';
import { useMemoryDirectory } from '../fixtures/temp-directory.js';
import { TAR_DIALECTS, tarOf, withChecksum } from '../formats/plain-tar.js';
import { keyOf } from '../laws/reference-order.js';
import { recordKey } from '../workers/kernel/kernel-twin.js';

const directory = useMemoryDirectory();

/** As `group_by_keys` of WebDataset: members that follow each other with one key are a sample. For ustar names alone. */
function groupByKeys(tar: Buffer): { key: string; members: string[] }[] {
  const samples: { key: string; members: string[] }[] = [];
  for (let at = 0; at < tar.byteLength && tar[at] !== 0; ) {
    const name = tar.toString('utf8', at, tar.indexOf(0, at));
    const [, key = '', suffix = ''] = /^((?:.*\/|)[^.]+)[.]([^/]*)$/.exec(name) ?? [];
    const last = samples.at(-1);
    if (last?.key === key) last.members.push(suffix);
    else samples.push({ key, members: [suffix] });
    at += 512 + 512 * Math.ceil(Number.parseInt(tar.toString('latin1', at + 124, at + 135), 8) / 512);
  }
  return samples;
}

function write(name: string, bytes: Uint8Array): string {
  writeFileSync(directory.path(name), bytes);
  return directory.path(name);
}

function job(inputs: readonly string[], more: Partial<ShuffleOptions> = {}): ShuffleOptions {
  const settings = { memoryBytes: 2 ** 26, workers: 2, tempDirs: [directory.temp], onWarning: () => {} };
  return { inputs, output: directory.path('out'), seed: 's', records: { by: 'webdataset' }, ...settings, ...more };
}

async function refusalOf(options: ShuffleOptions, tuning: Partial<Tuning> = {}): Promise<string> {
  const error = await errorOf(shuffle(options, { inline: true, ...tuning }));
  expect(error).toBeInstanceOf(InputError);
  expect(error).toMatchObject({ code: 'ERR_SAMPLE_KEY_REPEATED', unfinishedJob: undefined });
  expect(exitCodeOf(error, undefined)).toBe(3);
  expect(existsSync(directory.path('out'))).toBe(false);
  return error.message;
}

const IN_DIRECTORIES = 'expected each key once in all inputs: pack each tar file with a directory of its own';

/** A tar file of samples with two members each. */
const pairs = (keys: readonly string[]) =>
  tarOf(keys.flatMap((key) => [{ name: `${key}.a`, data: Buffer.from(key) }, { name: `${key}.b` }]));
const numbered = (count: number, prefix = '') =>
  Array.from({ length: count }, (_, i) => `${prefix}${String(i).padStart(4, '0')}`);

describe('tar files that number their samples from 0', () => {
  it('are warned of, and refused when two of one key meet', async () => {
    const [a, b] = ['a.tar', 'b.tar'].map((name) => write(name, pairs(numbered(20))));
    const inputs = [a, b, b, b, b, b, b].map((path = '') => path);
    const warnings: string[] = [];
    const onWarning = (line: string) => warnings.push(line);
    expect(await refusalOf(job(inputs, { onWarning }))).toMatch(
      /^\S+\.tar.*: (a sample of each has|two samples.* have) the key "\d+" and would lie side by side, as one sample to readers; expected each key once/,
    );
    expect(warnings.filter((line) => line.includes('first samples'))).toEqual([
      `${a} and ${b}: the first samples of both have the key "0000"; the job is refused if two samples of one key come side by side in the output: pack each tar file with a directory of its own`,
    ]);
  });

  it.each(TAR_DIALECTS)('are warned of by their first keys, compressed and in other words: %s', async (dialect) => {
    const name = 'd/é.jpg';
    const first = write('a.tar', tarOf([{ name: 'd/' }, { name, dialect }]));
    const second = write('b.tar.gz', gzipSync(tarOf([{ name: 'd/é.txt', data: Buffer.alloc(3) }])));
    const warnings: string[] = [];
    await refusalOf(job([first, second], { onWarning: (line) => warnings.push(line) }));
    expect(warnings.join()).toContain('the first samples of both have the key "d/é";');
  });
});

it('a tar file whose members are out of order is refused, with the places of both samples', async () => {
  const a = write('a.tar', tarOf(['1.jpg', '2.jpg', '1.txt'].map((name) => ({ name }))));
  const refusals = [];
  for (let seed = 0; seed < 9; seed++)
    refusals.push(
      await shuffle(job([a], { seed: `${seed}`, force: true }), { inline: true }).catch(
        (error: Error) => error.message,
      ),
    );
  expect(refusals).toContain(
    `${a}: two samples (at bytes 0 and 1024) have the key "1" and would lie side by side, as one sample to readers; expected each key once, and the members of a sample side by side, as \`tar --sort=name\` packs them`,
  );
});

/** Samples of the two inputs of `neighbours`. */
const COUNT = 700;
const PILES = 8;
const ON_DISK: Partial<Tuning> = {
  mayUseRamPool: false,
  pileCount: PILES,
  stripeCount: 2,
  sliceBytes: 1000,
  bufferBytes: 4096,
};

/** By their input and their place there. */
interface Sample {
  readonly input: number;
  readonly index: number;
  readonly pile: number;
}

/** The order of 2 x COUNT samples of one block. */
function orderOf(seed: string, step = 512): Sample[] {
  const keyed = [0, 1].flatMap((input) => {
    const ofInput = keyOf(seed, String(input));
    return Array.from({ length: COUNT }, (_, index) => {
      const key = recordKey(BigInt(step * index), ofInput);
      return { input, index, key, pile: Number((key * BigInt(PILES)) >> 64n) };
    });
  });
  return keyed.sort((a, b) => (a.key < b.key ? -1 : 1));
}

type IsPlace = (one: Sample, other: Sample, rank: number) => boolean;

/** Two neighbours of different inputs, and a seed that makes them neighbours there. */
function neighboursAt(isPlace: IsPlace, step?: number): { seed: string; pair: readonly [Sample, Sample] } {
  for (let number = 0; number < 100; number++) {
    const seed = `seed ${number}`;
    const order = orderOf(seed, step);
    for (const [rank, one] of order.entries()) {
      const other = order[rank + 1];
      if (other !== undefined && one.input < other.input && isPlace(one, other, rank))
        return { seed, pair: [one, other] };
    }
  }
  return expect.fail('no seed has such neighbours');
}

const names = (input: number) => Array.from({ length: COUNT }, (_, i) => `${'ab'[input]}${String(i).padStart(6, '0')}`);

/** Writes both inputs with one key for the pair. */
function writeWithOneKey([one, other]: readonly [Sample, Sample]) {
  const all = [names(0), names(1)] as const;
  const key = all[0][one.index] ?? '';
  all[1][other.index] = key;
  const paths = all.map((keys, input) => write(`${input}.tar`, tarOf(keys.map((each) => ({ name: `${each}.x` })))));
  const [first, second] = [`${paths[0]} (byte ${512 * one.index})`, `${paths[1]} (byte ${512 * other.index})`];
  const problem = `a sample of each has the key "${key}" and would lie side by side, as one sample to readers`;
  return { paths, message: `${first} and ${second}: ${problem}; ${IN_DIRECTORIES}` };
}

const stripeEnd = pilesOfStripe({ pileCount: PILES, stripeCount: 2 }, 0).end;
const inOnePile: IsPlace = (one, other, rank) => rank > 100 && one.pile === other.pile;
const betweenPiles: IsPlace = (one, other) => one.pile + 1 === other.pile && other.pile !== stripeEnd;
const betweenRanges: IsPlace = (one, other) => one.pile < stripeEnd && other.pile >= stripeEnd;
const betweenShards: IsPlace = (_one, _other, rank) => rank + 1 === COUNT;

describe('neighbours of one key', () => {
  const shards = { by: 'count', shardCount: 2 } as const;
  const gzip = { codec: 'gzip' } as const;

  const jobs: readonly [string, IsPlace, Partial<ShuffleOptions>, Partial<Tuning>][] = [
    ['in memory', inOnePile, {}, { mayUseRamPool: true }],
    ['in a pile', inOnePile, {}, ON_DISK],
    [
      'in a pile that is scattered again',
      inOnePile,
      {},
      { ...ON_DISK, pass2ArenaBytes: 70_000, outputBytes: 4096, readBytes: 4096 },
    ],
    ['in two piles', betweenPiles, {}, ON_DISK],
    ['in two ranges', betweenRanges, {}, ON_DISK],
    ['in two ranges of threads', betweenRanges, {}, { ...ON_DISK, inline: false }],
    ['in two ranges of a resumable job', betweenRanges, { resume: true }, ON_DISK],
    ['in two shards', betweenShards, { shards }, ON_DISK],
    ['in two compressed shards', betweenShards, { shards, compress: gzip }, ON_DISK],
    ['in two ranges of a compressed output', betweenRanges, { compress: gzip }, ON_DISK],
  ];

  it.each(sampled(jobs, 4))('are refused %s', async (_, isPlace, options, tuning) => {
    const { seed, pair } = neighboursAt(isPlace);
    const { paths, message } = writeWithOneKey(pair);
    expect(await refusalOf(job(paths, { seed, ...options }), tuning)).toBe(message);
  });

  it('are refused by their files where keys come from ordinals', async () => {
    const { seed, pair } = neighboursAt(betweenRanges, 1);
    const { paths, message } = writeWithOneKey(pair);
    const refusal = await refusalOf(job(paths, { seed, keys: 'ordinal' }), ON_DISK);
    expect(refusal).toBe(message.replace(/ \(byte \d+\)/g, ''));
  });

  it('are refused in a pipe', async () => {
    const { seed, pair } = neighboursAt(inOnePile);
    const { paths, message } = writeWithOneKey(pair);
    const argv = ['-q', '--webdataset', '--seed', seed, '-T', directory.temp, ...paths];
    const { exitCode, stderr, stdout } = await runCommand(argv);
    expect({ exitCode, stderr }).toEqual({ exitCode: 3, stderr: `pileshuf: ${message}\n` });
    // It lacks the zero blocks at the end.
    expect(stdout.byteLength).toBeLessThan(2 * COUNT * 512);
  });

  it('are refused when an earlier attempt finished the ranges of both', async () => {
    const { seed, pair } = neighboursAt(betweenRanges);
    const { paths, message } = writeWithOneKey(pair);
    const options = job(paths, { seed, jobDir: directory.path('job'), resume: true });
    const tuning = { ...ON_DISK, inline: true };
    const stopper = new AbortController();
    const link: typeof systemFileCalls.link = (from, to) => {
      systemFileCalls.link(from, to);
      if (to.endsWith('done-000001')) stopper.abort();
    };
    const former = replaceFileCalls({ ...systemFileCalls, link });
    const stopped = await errorOf(shuffle({ ...options, signal: stopper.signal }, tuning));
    replaceFileCalls(former);
    expect(stopped).toMatchObject({ code: 'ABORT_ERR', unfinishedJob: {} });
    expect(await refusalOf(options, tuning)).toBe(message);
  });

  it('are told apart by whole keys, and none is refused of other keys', async () => {
    const { seed, pair } = neighboursAt(inOnePile);
    const paths = [0, 1].map((input) =>
      write(`${input}.tar`, tarOf(names(input).map((key) => ({ name: `${key}.x` })))),
    );
    const report = await shuffle(job(paths, { seed, compress: gzip }), { ...ON_DISK, inline: true });
    expect(report.records).toBe(2 * COUNT);
    const read = groupByKeys(gunzipSync(readFileSync(directory.path('out')))).map(({ key }) => key);
    expect(read).toEqual(orderOf(seed).map(({ input, index }) => names(input)[index]));
    expect(read.indexOf(names(0)[pair[0].index] ?? '')).toBe(read.indexOf(names(1)[pair[1].index] ?? '') - 1);
  });

  it('are those on both sides of a link, which readers leave out', async () => {
    const order = orderOf('link');
    const inputsAt = (rank: number) => [0, 1, 2].map((behind) => order[rank + behind]?.input).join();
    const rank = order.findIndex((_, i) => i > 100 && inputsAt(i) === '0,0,1');
    const [one, link, other] = order.slice(rank, rank + 3) as [Sample, Sample, Sample];
    const { paths, message } = writeWithOneKey([one, other]);
    const [first = ''] = paths;
    const options = job(paths, { seed: 'link' });
    const apart = await shuffle({ ...options, output: directory.path('apart') }, { inline: true });
    expect(apart.records).toBe(2 * COUNT);

    const bytes = readFileSync(first);
    const header = bytes.subarray(512 * link.index, 512 * (link.index + 1));
    header.write('2', 156);
    withChecksum(header);
    writeFileSync(first, bytes);
    expect(await refusalOf(options)).toBe(message);
  });
});
