/**
 * The law of a resumed job that lists its duplicates: wherever it was stopped, it gives the same output and the same list, and
 * reads nothing again that an earlier attempt noted.
 */

import { createHash } from 'node:crypto';
import { mkdirSync, readdirSync, readFileSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { type ShuffleOptions, shuffle, type Tuning } from '#src/index.js';
import { callsOf, killBefore } from '../faults/stopped-attempt.js';
import { sampled } from '../fixtures/scale.js';
import { useMemoryDirectory } from '../fixtures/temp-directory.js';

const directory = useMemoryDirectory();
const root = () => directory.path('job');
const watches = (path: string) => path === root() || path.startsWith(`${root()}/`);
const TUNING: Tuning = { inline: true, pileCount: 3, bufferBytes: 200, sliceBytes: 200, keepInRam: false };

interface Kind {
  readonly name: string;
  readonly options: Partial<ShuffleOptions>;
}

const KINDS: readonly Kind[] = [
  { name: 'whole lines', options: { unique: true } },
  {
    name: 'a column, in shards',
    options: { uniqueBy: 'csv:2', records: { by: 'csv' }, shards: { by: 'count', shardCount: 2 } },
  },
  { name: 'an expression, compressed', options: { uniqueBy: '/^\\d+,(\\d)/', compress: { codec: 'gzip' } } },
];

function optionsOf({ options }: Kind, listed = 'd'): ShuffleOptions {
  const [output, duplicates] = ['result', listed].map((name) => join(root(), name));
  const places = { inputs: [directory.path('in')], output, duplicates, tempDirs: [join(root(), 't')] };
  return { ...places, seed: '1', workers: 1, memoryBytes: 2 ** 27, ...options };
}

function prepare(): void {
  rmSync(root(), { recursive: true, force: true });
  for (const name of ['', 't']) mkdirSync(join(root(), name));
  writeFileSync(directory.path('in'), Array.from({ length: 90 }, (_, i) => `${i % 40},${i % 8}\n`).join(''));
}

/** All that the job made. */
function made(listed = 'd'): string {
  const output = join(root(), 'result');
  const isDirectory = statSync(output).isDirectory();
  const files = isDirectory
    ? readdirSync(output)
        .filter((name) => name.startsWith('shard'))
        .sort()
        .map((name) => join(output, name))
    : [output];
  return [...files, join(root(), listed)].map((path) => readFileSync(path, 'latin1')).join('|');
}

/** Makes locks look like those of a process that is no more. */
function disownLocks(): void {
  for (const name of readdirSync(root(), { recursive: true }).map(String)) {
    if (!basename(name).startsWith('lock+')) continue;
    const path = join(root(), name);
    const other = (token: string) => createHash('sha1').update(token).digest('hex').slice(0, 16);
    renameSync(path, path.replace(/[0-9a-f]{16}$/, other));
  }
}

describe.each(KINDS)('a job that lists the duplicates of $name', (kind) => {
  it('gives the same, wherever it was killed and resumed', async () => {
    const call = { ...optionsOf(kind), resume: true };
    prepare();
    const calls = await callsOf(watches, () => shuffle(call, TUNING));
    const expected = made();
    expect(expected).toContain('"dropped":');
    const moments = calls.map((_, i) => i + 1);
    for (const nth of sampled(moments, Math.ceil(calls.length / 2), 3, 23)) {
      prepare();
      await killBefore(nth, watches, () => shuffle(call, TUNING).catch(() => {}));
      disownLocks();
      const what = `killed before ${nth} of ${calls.length}: ${JSON.stringify(calls[nth - 1])}`;
      // The whole output may be there, and the job gone.
      const isDone = (error: unknown) => expect(error, what).toMatchObject({ code: 'ERR_OUTPUT_EXISTS' });
      await shuffle(call, TUNING).catch(isDone);
      expect(made(), what).toBe(expected);
      expect(readdirSync(root()).sort(), what).toEqual(['d', 'result', 't']);
    }
  });

  it('may be kept, and gives the same again without reading its inputs', async () => {
    prepare();
    const call = { ...optionsOf(kind), keepTemp: true };
    await shuffle(call, TUNING);
    const expected = made();
    const report = await shuffle({ ...call, resume: true, force: true }, TUNING);
    expect(report.resumed?.pileSets).toBe(2);
    expect(made()).toBe(expected);
    await shuffle({ ...call, force: true, keepTemp: false, resume: true }, TUNING);
    expect(made()).toBe(expected);
    expect(readdirSync(join(root(), 't'))).toEqual([]);
  });
});

describe('a job that was killed behind its list', () => {
  const [kind = { name: '', options: {} }] = KINDS;
  const call = () => ({ ...optionsOf(kind), resume: true });
  const staged = () => {
    const path = readdirSync(root(), { recursive: true })
      .map(String)
      .find((name) => name.endsWith('duplicates/0.part'));
    return join(root(), path ?? expect.fail('no list is staged'));
  };

  /** Ends the job before the call that deletes the first pile. */
  async function killBehindList(): Promise<void> {
    prepare();
    const isRecord = ({ path }: { readonly path: string }) => path.includes('done-000001');
    const calls = await callsOf(watches, () => shuffle(call(), TUNING));
    const nth = calls.findLastIndex(({ path, name }) => name !== 'unlink' && isRecord({ path })) + 2;
    prepare();
    await killBefore(nth, watches, () => shuffle(call(), TUNING).catch(() => {}));
    disownLocks();
  }

  it.each([
    [
      'is another',
      (bytes: Buffer) => Buffer.concat([Buffer.from('x'), bytes.subarray(1)]),
      /are not what the unfinished/,
    ],
    ['is shorter', (bytes: Buffer) => bytes.subarray(1), /expected at least the/],
    [
      'is longer',
      (bytes: Buffer) => Buffer.concat([bytes, Buffer.from('x')]),
      /of duplicates has \d+ bytes, expected the/,
    ],
  ])('ends if that %s', async (_, change, message) => {
    await killBehindList();
    const bytes = readFileSync(staged());
    writeFileSync(staged(), change(bytes));
    const done = shuffle(call(), TUNING);
    await expect(done).rejects.toMatchObject({ code: 'ERR_VERIFICATION', message: expect.stringMatching(message) });
    writeFileSync(staged(), bytes);
    await shuffle(call(), TUNING);
    expect(made()).toContain('"dropped":');
  });

  it('is resumed with that list alone', async () => {
    await killBehindList();
    for (const more of [{ duplicates: undefined }, { duplicates: join(root(), 'other') }])
      await expect(shuffle({ ...call(), ...more }, TUNING)).rejects.toMatchObject({ code: 'ERR_JOB_DIFFERS' });
    await expect(shuffle({ ...call(), resume: false }, TUNING)).rejects.toMatchObject({ code: 'ERR_JOB_UNFINISHED' });
    expect((await shuffle(call(), TUNING)).resumed?.pileSets).toBe(2);
  });
});
