/**
 * What a job takes when the caller says nothing: where temp data goes, and how much memory, which a
 * control group may make less than the machine has.
 */
import { mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { availableParallelism, tmpdir } from 'node:os';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { shuffle, UsageError } from '#src/index.js';
import { statPath } from '#src/io/list-files.js';
import { completeRequest } from '#src/job/job-request.js';
import { makePipe } from '../fixtures/make-pipe.js';
import { useTestDirectory } from '../fixtures/temp-directory.js';

/** The kernel's files, when a test makes them up. */
const kernel = vi.hoisted((): { texts: Record<string, string> | undefined } => ({ texts: undefined }));
vi.mock('#src/io/kernel-text.js', async (importOriginal) => {
  const { readKernelText } = await importOriginal<typeof import('#src/io/kernel-text.js')>();
  return {
    readKernelText: (path: string) => (kernel.texts === undefined ? readKernelText(path) : kernel.texts[path]),
  };
});

afterEach(() => {
  kernel.texts = undefined;
  vi.unstubAllEnvs();
});

describe('the temp directory of a job that names none', () => {
  const directory = useTestDirectory();
  const varTmp = statPath('/var/tmp', 'output')?.isDirectory() === true ? '/var/tmp' : tmpdir();

  const tempDirsFor = (output: string | undefined) => completeRequest({ inputs: [], output }).tempDirs;

  beforeEach(() => {
    vi.stubEnv('TMPDIR', undefined);
    mkdirSync(directory.path('disk'));
  });

  it('is $TMPDIR, wherever the output goes', () => {
    vi.stubEnv('TMPDIR', '/some/where');
    for (const output of [undefined, '-', directory.path('disk'), directory.path('disk', 'new'), '/dev/null']) {
      expect(tempDirsFor(output)).toEqual(['/some/where']);
    }
  });

  it.each([undefined, ''])('is the directory of the output when $TMPDIR is %j', (value) => {
    vi.stubEnv('TMPDIR', value);
    writeFileSync(directory.path('disk', 'existing'), '');
    expect(tempDirsFor(directory.path('disk', 'new'))).toEqual([directory.path('disk')]);
    expect(tempDirsFor(directory.path('disk', 'existing'))).toEqual([directory.path('disk')]);
    // Shards, in a new directory and in one that exists.
    expect(tempDirsFor(directory.path('disk', 'shards'))).toEqual([directory.path('disk')]);
    expect(tempDirsFor(directory.path('disk'))).toEqual([directory.path('disk')]);
  });

  it('is the working directory for an output in it', () => {
    expect(tempDirsFor('a name that does not exist')).toEqual([process.cwd()]);
  });

  it('is /var/tmp for standard output, and for a device or pipe', () => {
    const pipe = makePipe(directory.path('disk', 'pipe'));
    for (const output of [undefined, '-', '/dev/null', pipe]) expect(tempDirsFor(output)).toEqual([varTmp]);
  });

  it('is none of these when one was named; an empty list names none', () => {
    vi.stubEnv('TMPDIR', '/some/where');
    const named = completeRequest({ inputs: [], tempDirs: ['a', 'b'] });
    expect(named.tempDirs).toEqual(['a', 'b']);
    expect(completeRequest({ inputs: [], tempDirs: [] }).tempDirs).toEqual(['/some/where']);
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

  const memoryFor = (memoryBytes?: number) => completeRequest({ inputs: [], memoryBytes }).memoryBytes;

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
    expect(completeRequest({ inputs: [] }).workers).toBe(availableParallelism());
    kernel.texts = {
      '/proc/self/cgroup': '0::/\n',
      '/proc/self/mountinfo': '30 20 0:26 / /sys/fs/cgroup rw - cgroup2 cgroup2 rw',
      '/sys/fs/cgroup/cpu.max': '50000 100000\n',
    };
    expect(completeRequest({ inputs: [] }).workers).toBe(1);
    expect(completeRequest({ inputs: [], workers: 7 }).workers).toBe(7);
  });
});
