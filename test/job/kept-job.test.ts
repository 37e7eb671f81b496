/**
 * Jobs that were kept after their end: the same command finds them again, and treats the existing output as any other.
 */
import { readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { type ShuffleOptions, type ShuffleReport, shuffle } from '#src/index.js';
import { errorOf } from '../fixtures/error-of.js';
import { fromCi } from '../fixtures/scale.js';
import { useMemoryDirectory } from '../fixtures/temp-directory.js';

const directory = useMemoryDirectory();
const out = (...names: string[]) => directory.path('out', ...names);
const RECORDS = 3000;

beforeEach(() => {
  // Beside the output, where the directory that appears would be the place of temp data itself.
  vi.stubEnv('TMPDIR', undefined);
  writeFileSync(directory.path('in'), Array.from({ length: RECORDS }, (_, i) => `record ${i}\n`).join(''));
});
afterEach(() => {
  vi.unstubAllEnvs();
});

/** Temp data lies on disk, even if memory has room for it. */
const run = (changed: Partial<ShuffleOptions>): Promise<ShuffleReport> =>
  shuffle({ inputs: [directory.path('in')], output: out(), seed: 's', ...changed }, { mayUseRamPool: false });
const toShards = { shards: { by: 'count', shardCount: 3 } } as const;
const isKept = () => readdirSync(directory.path()).some((name) => name.endsWith('.job'));
const shownShards = () => [0, 1, 2].map((shard) => readFileSync(out(`shard-0000${shard}-of-00003`), 'utf8')).join('');

describe.each([
  ['a file', {}, () => readFileSync(out(), 'utf8')],
  ['shards in a new directory', toShards, shownShards],
])('a job that was kept: %s', (_, rule, shown) => {
  it('is refused, discarded by force, and taken up with --resume', async () => {
    await run({ ...rule, keepTemp: true });
    const expected = shown();
    expect(isKept()).toBe(true);
    await expect(run(rule)).rejects.toMatchObject({
      code: expect.stringMatching(/^ERR_(JOB_UNFINISHED|OUTPUT_EXISTS)$/),
    });

    // A resumed job replaces an existing output only with `force`.
    await expect(run({ ...rule, resume: true })).rejects.toMatchObject({ code: 'ERR_OUTPUT_EXISTS' });
    expect(isKept()).toBe(true);
    const again = await run({ ...rule, resume: true, force: true, keepTemp: true });
    expect(again.resumed?.pileSets).toBeGreaterThan(0);
    expect(shown()).toBe(expected);

    await run({ ...rule, force: true });
    expect(shown()).toBe(expected);
    expect(isKept()).toBe(false);
  });

  it('gives its output once more when that is gone', async () => {
    await run({ ...rule, keepTemp: true });
    const expected = shown();
    rmSync(out(), { recursive: true });
    const again = await run({ ...rule, resume: true });
    expect(again.resumed?.pileSets).toBeGreaterThan(0);
    expect(shown()).toBe(expected);
    expect(isKept()).toBe(false);
  });
});

describe('a job whose shards turn out to be impossible', () => {
  const byBytes = (maxShardBytes: number) => ({ shards: { by: 'bytes', maxShardBytes }, resume: true }) as const;
  const shown = () =>
    readdirSync(out())
      .filter((name) => name.startsWith('shard'))
      .map((name) => [name, readFileSync(out(name), 'utf8')]);
  const failureOf = (changed: Partial<ShuffleOptions>) => errorOf(run(changed));

  it.runIf(fromCi)('keeps its work, and is resumed with the least size that it names', async () => {
    const longest = `record ${RECORDS - 1}\n`.length;
    const refused = await failureOf(byBytes(longest - 1));
    expect(refused).toMatchObject({ code: 'ERR_RECORD_TOO_LONG', unfinishedJob: { directory: expect.any(String) } });
    const least = Number(/of at least (\d+)B/.exec(refused.message)?.[1]);
    expect(least).toBe(longest);
    const { resumed } = await run(byBytes(least));
    expect(resumed?.pileSets).toBeGreaterThan(0);
    const after = shown();
    rmSync(out(), { recursive: true });
    await run({ ...byBytes(least), resume: false });
    expect(after).toEqual(shown());
    expect(isKept()).toBe(false);
  });

  it('is another job with another rule', async () => {
    await failureOf(byBytes(5));
    const other = await failureOf({ shards: { by: 'count', shardCount: 3 }, resume: true });
    expect(other).toMatchObject({ code: 'ERR_JOB_DIFFERS' });
    await run({ ...byBytes(40), resume: false, force: true });
  });
});
