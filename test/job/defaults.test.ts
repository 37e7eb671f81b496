/** What a job takes that names nothing: temp directory, memory, threads, compression. And what it refuses before it looks at files. */
import { mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { availableParallelism, tmpdir } from 'node:os';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { findZstdInNode } from '#src/formats/codecs/zstd-decoders.js';
import { previewShuffle, type ShuffleOptions, shuffle, UsageError } from '#src/index.js';
import { statPath } from '#src/io/paths.js';
import { makePipe } from '../fixtures/make-pipe.js';
import { useTestDirectory } from '../fixtures/temp-directory.js';

/** The kernel's files, when a test makes them up. */
const kernel = vi.hoisted((): { texts: Record<string, string> | undefined } => ({ texts: undefined }));
vi.mock('#src/machine/system-files.js', async (importOriginal) => {
  const original = await importOriginal<typeof import('#src/machine/system-files.js')>();
  return {
    ...original,
    readSystemText: (path: string) => (kernel.texts === undefined ? original.readSystemText(path) : kernel.texts[path]),
  };
});

const directory = useTestDirectory();
beforeEach(() => {
  vi.stubEnv('TMPDIR', undefined);
  mkdirSync(directory.path('disk'));
  writeFileSync(directory.path('in'), 'a\n');
});
afterEach(() => {
  kernel.texts = undefined;
  vi.unstubAllEnvs();
});

const preview = (options: Partial<ShuffleOptions> = {}) =>
  previewShuffle({ inputs: [directory.path('in')], output: directory.path('out'), force: true, ...options });

describe('the temp directory', () => {
  const varTmp = statPath('/var/tmp', 'output')?.isDirectory() === true ? '/var/tmp' : tmpdir();
  const disk = (...names: string[]) => directory.path('disk', ...names);
  const toShards = { shards: { by: 'count', shardCount: 2 } } as const;
  const tempDirsFor = async (output: string | undefined, options: Partial<ShuffleOptions> = {}) =>
    (await preview({ output, ...options })).temp.directories;

  it('is $TMPDIR, wherever the output goes, unless one is named', async () => {
    vi.stubEnv('TMPDIR', directory.temp);
    for (const output of [undefined, '-', disk('new'), '/dev/null'])
      expect(await tempDirsFor(output)).toEqual([directory.temp]);
    expect(await tempDirsFor(disk(), toShards)).toEqual([directory.temp]);
    expect(await tempDirsFor('-', { tempDirs: [] })).toEqual([directory.temp]);
    expect(await tempDirsFor('-', { tempDirs: [disk(), directory.path()] })).toEqual([disk(), directory.path()]);
  });

  it.each([undefined, ''])('is that of the output when $TMPDIR is %j', async (value) => {
    vi.stubEnv('TMPDIR', value);
    writeFileSync(disk('existing'), '');
    symlinkSync('disk/existing', directory.path('link'));
    // Where a link leads to, not where it lies.
    for (const output of [disk('new'), disk('existing'), directory.path('link')])
      expect(await tempDirsFor(output)).toEqual([disk()]);
    // Shards, in a new directory and in one that exists: it may have appeared at the end of this very job.
    expect(await tempDirsFor(disk('shards'), toShards)).toEqual([disk()]);
    mkdirSync(disk('shards'));
    expect(await tempDirsFor(disk('shards'), toShards)).toEqual([disk()]);
    expect(await tempDirsFor('a name that does not exist')).toEqual([process.cwd()]);
  });

  it('is /var/tmp for standard output, and for a device or pipe', async () => {
    for (const output of [undefined, '-', '/dev/stdout', '/dev/null', makePipe(disk('pipe'))])
      expect(await tempDirsFor(output)).toEqual([varTmp]);
  });
});

describe('the memory', () => {
  const KIB = 1024;
  const machine = { '/proc/meminfo': 'MemTotal: 80000 kB\nMemFree: 10 kB\nMemAvailable: 60001 kB\n' };
  /** A group that may have 50000 kB and has taken 10000, and half a CPU. */
  const group = {
    '/proc/self/cgroup': '0::/job\n',
    '/proc/self/mountinfo': '30 20 0:26 / /sys/fs/cgroup rw - cgroup2 cgroup2 rw',
    '/sys/fs/cgroup/job/memory.max': `${50_000 * KIB}\n`,
    '/sys/fs/cgroup/job/memory.current': `${10_000 * KIB}\n`,
    '/sys/fs/cgroup/job/cpu.max': '50000 100000\n',
  };

  it.each<[object, number | undefined, number]>([
    [machine, undefined, 60_001 / 2],
    [{ ...machine, ...group }, undefined, 40_000 / 2],
    [machine, 70_000, 70_000],
    [machine, 2 ** 40, 80_000],
    [{ ...machine, ...group }, 70_000, 50_000],
  ])('is half of what is left, or what the caller says up to all that there is: %#', async (texts, asked, kib) => {
    kernel.texts = { ...texts };
    const { memory, warnings } = await preview(asked === undefined ? {} : { memoryBytes: asked * KIB });
    expect(memory.budgetBytes).toBe(kib * KIB);
    const told = warnings.filter((line) => line.includes('memoryBytes'));
    const all = texts === machine ? '78 MiB of this machine' : '48 MiB of this';
    expect(told.length).toBe(asked !== undefined && asked > kib ? 1 : 0);
    for (const line of told) expect(line).toContain(`\`memoryBytes\` is more than the ${all}`);
  });

  it('goes to as many threads as the process may use CPUs, or fewer by the quota of its control group', async () => {
    const threadsOf = async (workers?: number) => (await preview({ workers, headCount: 1 })).workers;
    writeFileSync(directory.path('in'), 'line\n'.repeat(2 ** 21));
    expect(await threadsOf()).toBe(availableParallelism());
    kernel.texts = { ...machine, ...group };
    expect(await threadsOf()).toBe(1);
  });
});

describe('a caller without types', () => {
  it.each<[string, object]>([
    ['`inputs`: expected an array', { inputs: undefined }],
    ['`inputs`: expected an array', { inputs: 'file' }],
    ['`inputs`: expected an array', { inputs: [''] }],
    ['`inputs`: expected an array', { inputs: [null] }],
    ['`output`: expected a path', { output: '' }],
    ['`tempDirs`: expected an array', { tempDirs: '/tmp' }],
    ['`memoryBytes` is 0', { memoryBytes: 0 }],
    ['`memoryBytes` is 1.5', { memoryBytes: 1.5 }],
    ['`shards`: expected an object', { shards: { by: 'foo' } }],
    ['`shards.shardCount` is undefined; expected a whole number', { shards: { by: 'count' } }],
    ['`header`: expected an object', { header: null }],
    ['`header`: expected an object', { header: { lines: 1, bytes: 2 } }],
    ['`header.lines` is 1.5; expected a whole number from 1', { header: { lines: 1.5 } }],
    ['`zeroTerminated` and `records` contradict', { zeroTerminated: true, records: { by: 'npy' } }],
    ['`resume`: expected true or false', { resume: 'no' }],
    ['`jobDir`: expected a path', { jobDir: '' }],
    ['`keepTemp`: expected true or false', { keepTemp: 1 }],
    ['`ioLimits` /d is 65537; expected a whole number from 1', { ioLimits: { '/d': 65_537 } }],
    ['`weights` cannot be combined with `keys` ordinal', { keys: 'ordinal', weights: [{ glob: '*', factor: 2 }] }],
    ['`skipBlank` cannot be combined with `keys` ordinal', { keys: 'ordinal', skipBlank: true }],
    ['`missing` needs `splitBy`, `uniqueBy`, `each`, `groupBy`, `weightBy`, `weightsFrom` or `sum`', { missing: 'x' }],
    ['a job with `repeat` cannot be resumed', { repeat: true, keepTemp: true }],
    ['`seed`: expected a string', { seed: 42 }],
    ['`seed`: expected well-formed Unicode', { seed: '\ud800' }],
    ["`compress`: expected 'none', or an object with `codec` one of", { compress: 'gzip' }],
    ["`compress`: expected 'none', or an object with `codec` one of", { compress: { codec: 'toString' } }],
  ])('is told: %s', async (message, options) => {
    const job = shuffle({
      inputs: [directory.path('in')],
      output: directory.path('out'),
      ...options,
    } as ShuffleOptions);
    await expect(job).rejects.toThrow(UsageError);
    await expect(job).rejects.toThrow(message);
  });
});

it.each<[string, Partial<ShuffleOptions>, string | undefined, RegExp?]>([
  ['a.jsonl', {}, undefined],
  ['a.jsonl.gz', {}, 'gzip 6'],
  ['a.zst', {}, 'zstd 3'],
  ['a.jsonl', { compress: { codec: 'gzip', level: undefined } }, 'gzip 6'],
  ['a.gz', { compress: { codec: 'gzip', level: 9 } }, 'gzip 9'],
  ['a.zst', { compress: { codec: 'gzip' } }, 'gzip 6', /a.zst will be gzip, as asked for, though its name says zstd$/],
  ['a.gz', { compress: 'none' }, undefined, /a.gz will be plain, as asked for, though its name says gzip$/],
  ['d.gz', { shards: { by: 'count', shardCount: 2 } }, undefined],
])('the compression of %s with %j is %s', async (name, options, compression, warning) => {
  const { output, warnings } = await preview({ output: directory.path(name), ...options });
  expect(output.compression).toBe(compression);
  const slow =
    compression?.startsWith('zstd') === true && findZstdInNode() === undefined ? [/Node 22.15 and later/] : [];
  const told = warnings.filter((line) => !line.includes(' in memory (tmpfs)'));
  expect(told).toEqual([...(warning ? [warning] : []), ...slow].map((line) => expect.stringMatching(line)));
});
