/**
 * The defaults of a job: the temp directory, and the memory, for which a control group may have a lower limit than the
 * machine; and refused options.
 */
import { mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { availableParallelism, tmpdir } from 'node:os';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { findZstdInNode } from '#src/formats/codecs/zstd-decoders.js';
import { type ShuffleOptions, shuffle, UsageError } from '#src/index.js';
import { statPath } from '#src/io/paths.js';
import { completeShuffle } from '#src/job/request.js';
import { chooseSite } from '#src/job/site.js';
import { makePipe } from '../fixtures/make-pipe.js';
import { useTestDirectory } from '../fixtures/temp-directory.js';

/** The kernel's files, when a test makes them up. */
const kernel = vi.hoisted((): { texts: Record<string, string> | undefined } => ({ texts: undefined }));
vi.mock('#src/machine/kernel-text.js', async (importOriginal) => {
  const original = await importOriginal<typeof import('#src/machine/kernel-text.js')>();
  return {
    ...original,
    readKernelText: (path: string) => (kernel.texts === undefined ? original.readKernelText(path) : kernel.texts[path]),
  };
});

afterEach(() => {
  kernel.texts = undefined;
  vi.unstubAllEnvs();
});

describe('the temp directory of a job that names none', () => {
  const directory = useTestDirectory();
  const varTmp = statPath('/var/tmp', 'output')?.isDirectory() === true ? '/var/tmp' : tmpdir();

  const noInputs = { inputs: [] };
  const tempDirsFor = (output: string | undefined, options: Partial<ShuffleOptions> = {}) =>
    chooseSite(completeShuffle({ inputs: [], output, force: true, ...options }), noInputs).tempDirs;
  const toShards = { shards: { by: 'count', shardCount: 2 } } as const;

  beforeEach(() => {
    vi.stubEnv('TMPDIR', undefined);
    mkdirSync(directory.path('disk'));
  });

  it('is $TMPDIR, wherever the output goes', () => {
    vi.stubEnv('TMPDIR', '/some/where');
    for (const output of [undefined, '-', directory.path('disk', 'new'), '/dev/null']) {
      expect(tempDirsFor(output)).toEqual(['/some/where']);
    }
    expect(tempDirsFor(directory.path('disk'), toShards)).toEqual(['/some/where']);
  });

  it.each([undefined, ''])('is the directory of the output when $TMPDIR is %j', (value) => {
    vi.stubEnv('TMPDIR', value);
    writeFileSync(directory.path('disk', 'existing'), '');
    expect(tempDirsFor(directory.path('disk', 'new'))).toEqual([directory.path('disk')]);
    expect(tempDirsFor(directory.path('disk', 'existing'))).toEqual([directory.path('disk')]);
    // Shards, in a new directory and in one that exists: it may have appeared at the end of this very job.
    expect(tempDirsFor(directory.path('disk', 'shards'), toShards)).toEqual([directory.path('disk')]);
    mkdirSync(directory.path('disk', 'shards'));
    expect(tempDirsFor(directory.path('disk', 'shards'), toShards)).toEqual([directory.path('disk')]);
  });

  it('is where a link leads to, not where it lies', () => {
    mkdirSync(directory.path('other'));
    writeFileSync(directory.path('disk', 'existing'), '');
    symlinkSync('../disk/existing', directory.path('other', 'link'));
    expect(tempDirsFor(directory.path('other', 'link'))).toEqual([directory.path('disk')]);
  });

  it('is the working directory for an output in it', () => {
    expect(tempDirsFor('a name that does not exist')).toEqual([process.cwd()]);
  });

  it('is /var/tmp for standard output, and for a device or pipe', () => {
    const pipe = makePipe(directory.path('disk', 'pipe'));
    for (const output of [undefined, '-', '/dev/stdout', '/dev/null', pipe])
      expect(tempDirsFor(output)).toEqual([varTmp]);
  });

  it('is none of these when one was named; an empty list names none', () => {
    vi.stubEnv('TMPDIR', '/some/where');
    expect(tempDirsFor('-', { tempDirs: ['a', 'b'] })).toEqual(['a', 'b']);
    expect(tempDirsFor('-', { tempDirs: [] })).toEqual(['/some/where']);
  });

  it('is where the whole job makes its own', async () => {
    writeFileSync(directory.path('in'), 'a\n');
    symlinkSync('nowhere', directory.path('dangling'));
    vi.stubEnv('TMPDIR', directory.path('dangling'));
    const job = shuffle({ inputs: [directory.path('in')], output: directory.path('out') });
    await expect(job).rejects.toMatchObject({
      code: 'ERR_TEMP_DIR',
      message: expect.stringContaining(directory.path('dangling')),
    });
  });
});

describe('the memory of a job', () => {
  const KIB = 1024;
  const machine = { '/proc/meminfo': 'MemTotal: 8000 kB\nMemFree: 10 kB\nMemAvailable: 6001 kB\n' };
  /** A group that may have 5000 kB and has taken 1000. */
  const group = {
    '/proc/self/cgroup': '0::/job\n',
    '/proc/self/mountinfo': '30 20 0:26 / /sys/fs/cgroup rw - cgroup2 cgroup2 rw',
    '/sys/fs/cgroup/job/memory.max': `${5000 * KIB}\n`,
    '/sys/fs/cgroup/job/memory.current': `${1000 * KIB}\n`,
  };

  const memoryFor = (memoryBytes?: number) => completeShuffle({ inputs: [], memoryBytes }).memoryBytes;

  it('is half of what the machine has available', () => {
    kernel.texts = machine;
    expect(memoryFor()).toBe((6001 * KIB) / 2);
  });

  it('is half of what the control group has left, where that is less', () => {
    kernel.texts = { ...machine, ...group };
    expect(memoryFor()).toBe((4000 * KIB) / 2);
  });

  it('is what the caller says, up to all that there is', () => {
    kernel.texts = machine;
    expect(memoryFor(7000 * KIB)).toBe(7000 * KIB);
    expect(memoryFor(2 ** 50)).toBe(8000 * KIB);
    kernel.texts = { ...machine, ...group };
    expect(memoryFor(7000 * KIB)).toBe(5000 * KIB);
  });

  it('is less than the caller says with a warning', () => {
    kernel.texts = machine;
    const warnings: string[] = [];
    const onWarning = (line: string) => warnings.push(line);
    completeShuffle({ inputs: [], memoryBytes: 8000 * KIB, onWarning });
    expect(warnings).toEqual([]);
    completeShuffle({ inputs: [], memoryBytes: 9000 * KIB, onWarning });
    expect(warnings).toEqual(['`memoryBytes` is more than the 7 MiB of this machine; pileshuf uses 7 MiB']);
  });

  it('is whole bytes, and refused otherwise', () => {
    kernel.texts = { '/proc/meminfo': 'MemTotal: 8000 kB\nMemAvailable: 1 kB\n', ...group };
    expect(memoryFor()).toBe(512);
    expect(() => memoryFor(0)).toThrow(UsageError);
    expect(() => memoryFor(1.5)).toThrow(UsageError);
  });
});

describe('the workers of a job', () => {
  it('are as many as the process may use CPUs, or fewer by the quota of its control group', () => {
    kernel.texts = {};
    expect(completeShuffle({ inputs: [] }).workers).toBe(availableParallelism());
    kernel.texts = {
      '/proc/self/cgroup': '0::/\n',
      '/proc/self/mountinfo': '30 20 0:26 / /sys/fs/cgroup rw - cgroup2 cgroup2 rw',
      '/sys/fs/cgroup/cpu.max': '50000 100000\n',
    };
    expect(completeShuffle({ inputs: [] }).workers).toBe(1);
    expect(completeShuffle({ inputs: [], workers: 7 }).workers).toBe(7);
  });
});

describe('a caller without types', () => {
  it.each<[string, object]>([
    ['`inputs`: expected an array', {}],
    ['`inputs`: expected an array', { inputs: 'file' }],
    ['`inputs`: expected an array', { inputs: [''] }],
    ['`inputs`: expected an array', { inputs: [null] }],
    ['`output`: expected a path', { inputs: ['a'], output: '' }],
    ['`tempDirs`: expected an array', { inputs: ['a'], tempDirs: '/tmp' }],
    ['`shards`: expected an object', { inputs: ['a'], shards: { by: 'foo' } }],
    ['`shards.shardCount` is undefined; expected a whole number', { inputs: ['a'], shards: { by: 'count' } }],
    ['`header`: expected an object', { inputs: ['a'], header: 1 }],
    ['`header`: expected an object', { inputs: ['a'], header: null }],
    ['`header`: expected an object', { inputs: ['a'], header: {} }],
    ['`header`: expected an object', { inputs: ['a'], header: { lines: 1, bytes: 2 } }],
    ['`header.lines` is 1.5; expected a whole number from 1', { inputs: ['a'], header: { lines: 1.5 } }],
    ['`zeroTerminated` and `records` contradict', { inputs: ['a'], zeroTerminated: true, records: { by: 'npy' } }],
    ['`resume`: expected true or false', { inputs: ['a'], output: 'b', resume: 'no' }],
    ['`jobDir`: expected a path', { inputs: ['a'], output: 'b', jobDir: '' }],
    ['`keepTemp`: expected true or false', { inputs: ['a'], output: 'b', keepTemp: 1 }],
    ['`igzip`: expected true or false', { inputs: ['a'], igzip: 1 }],
    ['`ioLimits` /d is 65537; expected a whole number from 1', { inputs: ['a'], ioLimits: { '/d': 65_537 } }],
    ['`weights` does not go with `unique`: ', { inputs: ['a'], unique: true, weights: [{ glob: '*', factor: 2 }] }],
    ['`weights` does not go with `keys` from', { inputs: ['a'], keys: 'ordinal', weights: [{ glob: '*', factor: 2 }] }],
    ['`mix` does not go with `uniqueBy`: ', { inputs: ['a'], uniqueBy: '.u', mix: { groups: [] } }],
    ['`skipBlank` does not go with `keys` from', { inputs: ['a'], keys: 'ordinal', skipBlank: true }],
    ['`missing` is about the values of', { inputs: ['a'], missing: 'x' }],
    ['a job with `repeat` cannot be resumed', { inputs: ['a'], output: 'b', repeat: true, keepTemp: true }],
    ['`seed`: expected a string', { inputs: ['a'], seed: 42 }],
    ['`seed`: expected well-formed Unicode', { inputs: ['a'], seed: '\ud800' }],
  ])('is told: %s', (message, options) => {
    const complete = () => completeShuffle(options as ShuffleOptions);
    expect(complete).toThrow(UsageError);
    expect(complete).toThrow(message);
  });
});

describe('the compression of an output', () => {
  const chosen = (options: Partial<ShuffleOptions>) => {
    const warnings: string[] = [];
    const { spec } = completeShuffle({ inputs: [], onWarning: (line) => warnings.push(line), ...options });
    const { compression } = spec.write;
    return { compression, warnings };
  };
  const shards = { by: 'count', shardCount: 2 } as const;

  it('is what the caller says, else what the name of one output says', () => {
    for (const [options, compression] of [
      [{}, undefined],
      [{ output: 'a.jsonl' }, undefined],
      [{ output: 'a.jsonl.gz' }, { codec: 'gzip', level: 6 }],
      [{ output: 'a.zst' }, { codec: 'zstd', level: 3 }],
      [{ output: 'directory.gz', shards }, undefined],
      [
        { output: 'directory', shards, compress: { codec: 'zstd', level: 1 } },
        { codec: 'zstd', level: 1 },
      ],
      [{ compress: { codec: 'gzip' } }, { codec: 'gzip', level: 6 }],
      [
        { output: 'a.gz', compress: { codec: 'gzip', level: 9 } },
        { codec: 'gzip', level: 9 },
      ],
      [
        { output: 'a.jsonl', compress: { codec: 'gzip', level: undefined } },
        { codec: 'gzip', level: 6 },
      ],
    ] as const) {
      const slow = compression?.codec === 'zstd' && findZstdInNode() === undefined;
      const warnings = slow ? [expect.stringContaining('Node 22.15 and later')] : [];
      expect(chosen(options), JSON.stringify(options)).toEqual({ compression, warnings });
    }
  });

  it('may be another than that of the name, with a warning', () => {
    expect(chosen({ output: 'a.zst', compress: { codec: 'gzip' } })).toEqual({
      compression: { codec: 'gzip', level: 6 },
      warnings: ['the output a.zst will be gzip, as asked for, though its name says zstd'],
    });
    expect(chosen({ output: 'a.gz', compress: 'none' })).toEqual({
      compression: undefined,
      warnings: ['the output a.gz will be plain, as asked for, though its name says gzip'],
    });
  });

  it.each([null, 'gzip', 3, {}, { codec: 'none' }, { codec: 'lz4' }, { codec: 'toString' }])(
    'is refused when it is %j',
    (compress) => {
      expect(() => chosen({ compress } as object)).toThrow(UsageError);
      expect(() => chosen({ compress } as object)).toThrow(
        "`compress`: expected 'none', or an object with `codec` one of",
      );
    },
  );
});
