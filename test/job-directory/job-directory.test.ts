/**
 * The directories of a job: made for it alone, found again, emptied except for foreign files, and kept for a later
 * attempt. Former files that outputs replace are never removed with them.
 */
import {
  chmodSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import { afterEach, describe, expect, it } from 'vitest';
import { SystemError } from '#src/errors.js';
import { systemFileCalls } from '#src/io/file-calls.js';
import { seal } from '#src/io/sealed-file.js';
import { JobDirectory } from '#src/job-directory/job-directory.js';
import { findJobHolder, looksLikeLock } from '#src/job-directory/job-lock.js';
import { readStagingOwner } from '#src/job-directory/job-manifest.js';
import { deriveJobPaths, type JobPaths } from '#src/job-directory/job-paths.js';
import { interrupted, withCallsSeen } from '../fixtures/interrupted-file-calls.js';
import { failWith, useFileCalls } from '../fixtures/replaced-file-calls.js';
import { useTestDirectory } from '../fixtures/temp-directory.js';

const directory = useTestDirectory();
const fileCalls = useFileCalls();
const held: JobDirectory[] = [];
afterEach(() => {
  for (const one of held.splice(0)) one.release();
});

/** Below directories that are not looked at in the end. */
function pathsOf(jobDir?: string, keepsDataInJobDir = false): JobPaths {
  for (const name of ['t', 'u', 'o']) mkdirSync(directory.path(name), { recursive: true });
  return deriveJobPaths({
    outputIdentity: 'output',
    outputPath: directory.path('o'),
    stagingParent: directory.path('o'),
    tempDirs: keepsDataInJobDir && jobDir !== undefined ? [jobDir] : [directory.path('t'), directory.path('u')],
    jobDir,
    keepsDataInJobDir,
  });
}

function hold(one: JobDirectory): JobDirectory {
  held.push(one);
  return one;
}
/** As a job takes hold of it at its start. */
const open = (paths: JobPaths) => hold(new JobDirectory(paths));
/** With all of its directories. */
async function make(paths: JobPaths, isDurable = false): Promise<JobDirectory> {
  const made = open(paths);
  await made.makeDirectories(isDurable);
  return made;
}
const namesIn = (path: string) => readdirSync(path).filter((name) => !looksLikeLock(name));
const everything = () => ['t', 'u', 'o'].flatMap((name) => readdirSync(directory.path(name)));

/** Of an error and those attached to it. */
function linesOf(failure: unknown): string[] {
  if (!(failure instanceof SystemError)) throw failure;
  return [failure, ...failure.cleanupErrors].map((error) => (error instanceof Error ? error.message : String(error)));
}

/** All kinds of files that a job leaves. */
function fill({ jobDirectory, dataDirectories, stagingDirectory }: JobPaths): void {
  const inJobDirectory = [
    'manifest',
    'commit',
    'cuts',
    'head',
    'distinct',
    'done-000001',
    'done-000002',
    'set-000001.index',
    'set-000002-ab.index',
  ];
  for (const name of [...inJobDirectory, 'manifest.0123456789abcdef.attempt'])
    writeFileSync(join(jobDirectory, name), '');
  for (const path of dataDirectories) writeFileSync(join(path, 'set-000001-ab.0.pile'), '');
  mkdirSync(join(stagingDirectory, 'shards'));
  for (const name of ['0.part', 'shards/x', 'marker']) writeFileSync(join(stagingDirectory, name), '');
}

describe('deriveJobPaths', () => {
  it('gives the same names for the same output, and others for others', () => {
    const placement = {
      outputIdentity: 'a',
      outputPath: '/o/x',
      stagingParent: '/o',
      tempDirs: ['/t', '/u'],
      keepsDataInJobDir: false,
    };
    const derive = (changed: object) => deriveJobPaths({ ...placement, jobDir: undefined, ...changed });
    const paths = derive({});
    expect(derive({})).toEqual(paths);
    expect(paths.jobDirectory).toMatch(/^\/t\/\.pileshuf-[0-9a-f]{16}\.job$/);
    expect(paths.dataDirectories.map((path) => dirname(path))).toEqual(['/t', '/u']);
    expect(dirname(paths.stagingDirectory)).toBe('/o');
    expect(derive({ outputIdentity: 'b' }).jobDirectory).not.toBe(paths.jobDirectory);
    // On one disk twice.
    expect(new Set(derive({ tempDirs: ['/t', '/t'] }).dataDirectories).size).toBe(2);
    const named = derive({ jobDir: '/j', tempDirs: ['/j'], keepsDataInJobDir: true });
    expect(named).toMatchObject({ jobDirectory: '/j', isNamed: true, dataDirectories: ['/j/disk-0'] });
    // There jobs of one output meet.
    expect(named.stagingDirectory).toBe(paths.stagingDirectory);
    expect(derive({ outputIdentity: 'b' }).stagingDirectory).not.toBe(paths.stagingDirectory);
  });
});

describe('a job directory', () => {
  it('is made closed to others, with all that belongs to it, and is gone when the job ends', async () => {
    const paths = pathsOf();
    expect(open(paths)).toMatchObject({ wasThere: false, hasJobDirectory: false, hasStagedOutputs: false });
    expect(everything()).toEqual([]);
    const umask = process.umask(0);
    let made: JobDirectory;
    try {
      made = await make(paths);
    } finally {
      process.umask(umask);
    }
    for (const path of [paths.jobDirectory, ...paths.dataDirectories, paths.stagingDirectory]) {
      expect(statSync(path).mode & 0o777).toBe(0o700);
    }
    fill(paths);
    await made.end('discarded');
    expect(everything()).toEqual([]);
    made.release();
  });

  it('has one holder', async () => {
    const paths = pathsOf();
    const first = await make(paths);
    fill(paths);
    expect(() => new JobDirectory(paths)).toThrow(expect.objectContaining({ code: 'ERR_JOB_LOCKED' }));
    expect(findJobHolder(paths.jobDirectory)?.pid).toBe(process.pid);
    first.release();
    first.release();
    expect(findJobHolder(paths.jobDirectory)).toBeUndefined();
    expect(open(paths)).toMatchObject({ wasThere: true, hasJobDirectory: true, hasStagedOutputs: true });
    expect(findJobHolder(paths.jobDirectory)?.pid).toBe(process.pid);
  });

  it('belongs to the first of two jobs that begin together, and the other touches nothing of it', async () => {
    const paths = pathsOf();
    const [first, second] = [open(paths), open(paths)];
    await first.makeDirectories(false);
    fill(paths);
    const before = { job: namesIn(paths.jobDirectory), staged: namesIn(paths.stagingDirectory) };
    await expect(second.makeDirectories(false)).rejects.toMatchObject({ code: 'ERR_JOB_LOCKED' });
    await second.end('discarded');
    expect({ job: namesIn(paths.jobDirectory), staged: namesIn(paths.stagingDirectory) }).toEqual(before);
    for (const path of paths.dataDirectories) expect(readdirSync(path)).toEqual(['set-000001-ab.0.pile']);
  });

  it('is not had when another job has the outputs, and what was made for it is gone', async () => {
    const paths = pathsOf();
    const other = {
      ...paths,
      jobDirectory: directory.path('u', 'other'),
      dataDirectories: [directory.path('u', 'data')],
    };
    const [first, second] = [open(other), open(paths)];
    await first.makeDirectories(false);
    mkdirSync(join(paths.stagingDirectory, 'replaced'));
    writeFileSync(join(paths.stagingDirectory, 'replaced', 'shard'), 'former');
    await expect(second.makeDirectories(false)).rejects.toMatchObject({ code: 'ERR_JOB_LOCKED' });
    await second.end('discarded');
    expect(readdirSync(directory.path('t'))).toEqual([]);
    expect(readdirSync(join(paths.stagingDirectory, 'replaced'))).toEqual(['shard']);
    expect(() => new JobDirectory(paths)).toThrow(expect.objectContaining({ code: 'ERR_JOB_LOCKED' }));
  });

  it('is refused when others can get at it', () => {
    const paths = pathsOf();
    mkdirSync(directory.path('mine'), { mode: 0o700 });
    for (const planted of [paths.jobDirectory, paths.stagingDirectory]) {
      symlinkSync(directory.path('mine'), planted);
      expect(() => new JobDirectory(paths)).toThrow(expect.objectContaining({ code: 'ERR_TEMP_DIR' }));
      systemFileCalls.unlink(planted);
    }
    expect(readdirSync(directory.path('mine'))).toEqual([]);
    const named = pathsOf(directory.path('named'));
    mkdirSync(named.jobDirectory);
    for (const [mode, isTaken] of [
      [0o700, true],
      [0o755, true],
      [0o775, false],
    ] as const) {
      chmodSync(named.jobDirectory, mode);
      if (isTaken) open(named).release();
      else expect(() => new JobDirectory(named)).toThrow(expect.objectContaining({ code: 'ERR_TEMP_DIR' }));
    }
  });

  it('makes none of its directories through what was planted, and leaves that alone', async () => {
    for (const planted of ['link', 'open', 'file']) {
      const paths = pathsOf();
      mkdirSync(directory.path('mine'), { recursive: true });
      writeFileSync(directory.path('mine', 'file'), 'mine');
      const [, target = ''] = paths.dataDirectories;
      if (planted === 'link') symlinkSync(directory.path('mine'), target);
      else if (planted === 'file') writeFileSync(target, '');
      else mkdirSync(target, { mode: 0o777 });
      if (planted === 'open') chmodSync(target, 0o777);
      const made = open(paths);
      await expect(made.makeDirectories(false)).rejects.toMatchObject({ code: 'ERR_TEMP_DIR' });
      await made.end('discarded');
      expect(readdirSync(directory.path('mine'))).toEqual(['file']);
      expect(readdirSync(directory.path('u')).map((name) => directory.path('u', name))).toEqual([target]);
      rmSync(target, { recursive: true });
    }
  });
});

describe('a named directory of another use', () => {
  const refused = (name: string) =>
    expect.objectContaining({
      code: 'ERR_TEMP_DIR',
      message: expect.stringContaining(`: it holds ${name}, which is not from a job; name one that is empty or does`),
    });

  it.each(['notes', 'done-1', 'Set.index', 'disk-a', 'manifest.old'])('is refused: it holds %s', (name) => {
    const paths = pathsOf(directory.path('named'), true);
    mkdirSync(paths.jobDirectory);
    writeFileSync(join(paths.jobDirectory, 'manifest'), '');
    writeFileSync(join(paths.jobDirectory, name), 'mine');
    expect(() => new JobDirectory(paths)).toThrow(refused(name));
    expect(readdirSync(paths.jobDirectory).toSorted()).toEqual([name, 'manifest'].toSorted());
  });

  it('is refused when only what is in its data directories tells', () => {
    const paths = pathsOf(directory.path('named'), true);
    mkdirSync(join(paths.jobDirectory, 'disk-3'), { recursive: true });
    for (const name of ['set-000001-ab.0.pile', 'photos']) writeFileSync(join(paths.jobDirectory, 'disk-3', name), '');
    expect(() => new JobDirectory(paths)).toThrow(refused('disk-3/photos'));
    expect(readdirSync(join(paths.jobDirectory, 'disk-3'))).toHaveLength(2);
  });

  it('keeps what somebody put there meanwhile', async () => {
    const paths = pathsOf(directory.path('named'), true);
    const made = await make(paths);
    fill(paths);
    writeFileSync(join(paths.jobDirectory, 'notes'), 'mine');
    await made.end('discarded');
    expect(readdirSync(paths.jobDirectory)).toEqual(['notes']);
    expect(existsSync(paths.stagingDirectory)).toBe(false);
  });

  it('loses the data that an earlier attempt kept in there, also when this one does not', async () => {
    const jobDir = directory.path('named');
    const before = pathsOf(jobDir, true);
    const made = await make(before);
    fill(before);
    writeFileSync(join(jobDir, 'manifest'), seal('job', 1, {}));
    await made.end('kept');
    const next = open(pathsOf(jobDir));
    next.inherit({ removesJobDirectory: true });
    await next.end('discarded');
    expect(existsSync(jobDir)).toBe(false);
    expect(everything()).toEqual([]);
  });
});

describe('clearing', () => {
  it('removes records of ranges before what they describe, the last one first, and the manifest after all else', async () => {
    const paths = pathsOf();
    const made = await make(paths, true);
    fill(paths);
    const steps: string[] = [];
    await withCallsSeen(
      (name, call) => {
        const path = String(call[0]);
        if (name === 'unlink') steps.push(path.slice(path.lastIndexOf('/') + 1));
        if (name === 'removeDirectory') steps.push(path.replace(/^.*[./]/, 'rmdir '));
        if (name === 'syncAsync') {
          const isJob = readlinkSync(`/proc/self/fd/${path}`) === paths.jobDirectory;
          steps.push(isJob ? 'sync job' : 'sync other');
        }
      },
      () => made.clear(),
    );
    expect(steps.slice(0, 2)).toEqual(['done-000002', 'done-000001']);
    // What tells of pile sets is gone for sure before they are.
    const places = ['set-000001.index', 'sync job', '0.part', 'rmdir disk-0'].map((step) => steps.indexOf(step));
    expect(places).toEqual(places.toSorted((a, b) => a - b));
    expect(places[0]).toBeGreaterThan(1);
    expect(steps.slice(-3)).toEqual(['manifest', 'sync job', expect.stringMatching(/^\.pileshuf-\w+\.ended$/)]);
    expect(steps.indexOf('0.part')).toBeLessThan(steps.indexOf('rmdir disk-0'));
    expect(steps.filter((step) => step === 'sync other')).toHaveLength(3);
  });

  it('leaves, whenever the process ends, what the next run removes', async () => {
    const paths = pathsOf();
    for (let number = 1, isReached = true; isReached; number++) {
      const made = await make(paths);
      fill(paths);
      ({ isReached } = await interrupted('ends', number, () => made.clear()));
      const names = namesIn(paths.jobDirectory);
      // No gap in the records; no manifest that is gone while there is something that only it tells of.
      if (names.includes('done-000002')) expect(names).toContain('done-000001');
      if (names.some((name) => name.endsWith('.index'))) expect(names).toContain('manifest');
      made.release();
      await open(paths).end('discarded');
      expect(everything()).toEqual([]);
    }
  });

  it.each([true, false])(
    'knows a named one that a killed attempt had just made: it was there before: %s',
    async (wasThere) => {
      const paths = pathsOf(directory.path('t', 'mine'));
      for (let number = 1, isReached = true; isReached; number++) {
        if (wasThere) mkdirSync(paths.jobDirectory, { recursive: true });
        const made = new JobDirectory(paths);
        ({ isReached } = await interrupted('ends', number, () => made.makeDirectories(true)));
        for (const path of [paths.jobDirectory, paths.stagingDirectory].filter(existsSync))
          for (const lock of readdirSync(path).filter(looksLikeLock)) rmSync(join(path, lock));
        await open(paths).end('discarded');
        expect(everything()).toEqual(wasThere ? ['mine'] : []);
      }
    },
  );

  it('removes a damaged note of the end, which is of no use', async () => {
    const paths = pathsOf();
    const note = paths.stagingDirectory.replace(/out$/, 'ended');
    writeFileSync(note, seal('ended', 1, { records: [] }).subarray(1));
    hold(new JobDirectory(paths, true));
    expect(existsSync(note)).toBe(true);
    open(paths);
    expect(existsSync(note)).toBe(false);
  });

  it('removes as much as can be, and tells of all that cannot', async () => {
    const paths = pathsOf();
    const made = await make(paths);
    fill(paths);
    fileCalls.replace({
      unlink(path) {
        if (path.endsWith('.pile')) failWith('EIO')();
        systemFileCalls.unlink(path);
      },
    });
    const failure: unknown = await made.clear().catch((error: unknown) => error);
    expect(failure).toBeInstanceOf(SystemError);
    expect(failure).toMatchObject({ cleanupErrors: [expect.any(SystemError)] });
    expect(namesIn(paths.jobDirectory)).toEqual([]);
    expect(namesIn(paths.stagingDirectory)).toEqual([]);
    fileCalls.replace({});
    await made.end('discarded');
    expect(everything()).toEqual([]);
  });

  it.each(['done-000001', 'set-000001.index', '0.part'])(
    'can still be resumed when %s cannot be removed',
    async (stuck) => {
      const paths = pathsOf();
      const { jobDirectory, stagingDirectory, dataDirectories } = paths;
      const made = await make(paths, true);
      fill(paths);
      const before = { data: dataDirectories.map(namesIn), staged: namesIn(stagingDirectory) };
      fileCalls.replace({
        unlink(path) {
          if (path.endsWith(`/${stuck}`)) failWith('EIO')();
          systemFileCalls.unlink(path);
        },
      });
      const failure: unknown = await made.clear().catch((error: unknown) => error);
      for (const path of [jobDirectory, stagingDirectory, ...dataDirectories]) {
        expect(linesOf(failure)).toContain(`${path} remains, because not all of the job could be removed`);
      }
      expect(dataDirectories.map(namesIn)).toEqual(before.data);
      expect(namesIn(jobDirectory)).toEqual(expect.arrayContaining(['commit', 'manifest']));
      if (stuck === '0.part') expect(namesIn(stagingDirectory)).toContain(stuck);
      else expect(namesIn(stagingDirectory)).toEqual(before.staged);
      fileCalls.replace({});
      await made.end('discarded');
      expect(everything()).toEqual([]);
    },
  );

  it('never removes former files that made way, unless the output is complete', async () => {
    const paths = pathsOf();
    const made = await make(paths);
    fill(paths);
    const aside = join(paths.stagingDirectory, 'replaced');
    mkdirSync(aside);
    writeFileSync(join(aside, 'shard-00000-of-00001'), 'former');
    const before = everything();
    const message = new RegExp(`^${aside} holds former files that a killed job had moved out of the way; move `);
    await expect(made.clear()).rejects.toThrow(SystemError);
    await expect(made.end('discarded')).rejects.toThrow(message);
    expect(everything()).toEqual(before);
    expect(readFileSync(join(aside, 'shard-00000-of-00001'), 'utf8')).toBe('former');
    expect(findJobHolder(paths.jobDirectory)).toBeUndefined();
    const next = open(paths);
    await next.end('completed');
    expect(everything()).toEqual([]);
  });

  it('never removes a link that made way, even one that leads nowhere', async () => {
    const paths = pathsOf();
    const made = await make(paths);
    mkdirSync(join(paths.stagingDirectory, 'replaced'));
    symlinkSync('nowhere', join(paths.stagingDirectory, 'replaced', 'shard-00000-of-00001'));
    await expect(made.clear()).rejects.toThrow(SystemError);
    expect(readdirSync(join(paths.stagingDirectory, 'replaced'))).toEqual(['shard-00000-of-00001']);
  });
});

describe('the staging directory', () => {
  it('tells whose it is, as far as it is known', async () => {
    const paths = pathsOf();
    const made = await make(paths);
    const owner = join(paths.stagingDirectory, 'owner');
    expect(readStagingOwner(paths.stagingDirectory)?.jobDirectory).toBe(paths.jobDirectory);
    expect(statSync(owner).mode & 0o777).toBe(0o600);
    await made.makeDirectories(false);
    expect(readStagingOwner(paths.stagingDirectory)?.jobDirectory).toBe(paths.jobDirectory);
    writeFileSync(owner, readFileSync(owner).subarray(0, 50));
    expect(readStagingOwner(paths.stagingDirectory)).toBeUndefined();
    await made.makeDirectories(false);
    expect(readStagingOwner(paths.stagingDirectory)?.jobDirectory).toBe(paths.jobDirectory);
    systemFileCalls.unlink(owner);
    expect(readStagingOwner(paths.stagingDirectory)).toBeUndefined();
    symlinkSync(directory.path('o'), owner);
    expect(() => readStagingOwner(paths.stagingDirectory)).toThrow(SystemError);
  });

  it('is of another job when it says so', async () => {
    const paths = pathsOf();
    const other = { ...paths, jobDirectory: directory.path('u', 'other'), dataDirectories: [] };
    (await make(other)).release();
    const found = open(paths);
    expect(found).toMatchObject({ wasThere: true, hasJobDirectory: false, hasStagedOutputs: false });
    expect(found.readStagingOwner()).toMatchObject({ jobDirectory: other.jobDirectory, isResumable: false });
    held.pop()?.release();
    writeFileSync(join(paths.stagingDirectory, 'owner'), seal('owner', 2, { jobDirectory: '/x' }));
    expect(() => open(paths).readStagingOwner()).toThrow(expect.objectContaining({ code: 'ERR_JOB_VERSION' }));
  });
});

describe('makeDirectories', () => {
  it('makes the names durable that a later attempt relies on, and only then', async () => {
    for (const isDurable of [true, false]) {
      const paths = pathsOf();
      const made = open(paths);
      const synced: string[] = [];
      await withCallsSeen(
        (name, call) => {
          if (name === 'syncAsync') synced.push(readlinkSync(`/proc/self/fd/${String(call[0])}`));
        },
        () => made.makeDirectories(isDurable),
      );
      const parents = ['t', 'u', 'o'].map((name) => directory.path(name));
      const inside = [paths.jobDirectory, paths.stagingDirectory, join(paths.stagingDirectory, 'owner')];
      expect([...new Set(synced)].toSorted()).toEqual(isDurable ? [...inside, ...parents].toSorted() : []);
      await made.end('discarded');
    }
  });
});

describe('requireDataDirectories', () => {
  it('says which one is gone, as when its disk is not mounted', async () => {
    const paths = pathsOf();
    const made = await make(paths);
    expect(() => made.requireDataDirectories()).not.toThrow();
    const [, missing = ''] = paths.dataDirectories;
    systemFileCalls.removeDirectory(missing);
    expect(() => made.requireDataDirectories()).toThrow(
      expect.objectContaining({
        code: 'ERR_TEMP_DIR',
        message: expect.stringMatching(
          /\.disk-1 of the unfinished job does not exist; check that its disk is mounted, or /,
        ),
      }),
    );
  });
});
