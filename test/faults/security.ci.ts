/**
 * Attacks by other users who can write to the temp directory or the output directory: the job follows no planted link,
 * removes no file outside its own directories, and nobody else can read its files. The tests of `io` and `job-directory` try
 * other plants and other names.
 */
import {
  copyFileSync,
  existsSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { basename, join } from 'node:path';
import { beforeEach, describe, expect, it } from 'vitest';
import { shuffle } from '#src/index.js';
import { useMemoryDirectory } from '../fixtures/temp-directory.js';
import { contentOf, findJobPaths, namesBelow, runInProcess, useSmallJob } from './resumable-job.js';
import { SMALL_SIZES } from './small-job.js';

const directory = useMemoryDirectory();
const job = useSmallJob(directory);

const STOPPED = { act: 'signal', signal: 'SIGTERM', at: 'temp-write', nth: 250 } as const;

/** Where a job of this output has what it has. */
let paths: ReturnType<typeof findJobPaths>;
let victim = '';

const run = (...words: readonly string[]) => runInProcess(job.words(['-T', directory.temp, ...words]));

/** Has a job stopped, so that its directories are known. */
beforeEach(async () => {
  victim = directory.path('victim');
  mkdirSync(victim, 0o700);
  writeFileSync(join(victim, 'precious'), 'precious\n');
  await job.run(['-T', directory.temp, '--resume'], { sabotage: STOPPED });
  paths = findJobPaths(directory.temp, directory.path());
});

/** The job is discarded, links are removed, and not what they lead to. */
async function expectDiscarded() {
  expect((await run('--force')).exitCode).toBe(0);
  expect(contentOf(victim)).toEqual([['precious', 'precious\n']]);
  expect(statSync(victim).mode & 0o777).toBe(0o700);
  await job.expectWhole();
}

describe('a symbolic link', () => {
  it.each(['job', 'data', 'staging'] as const)(
    'in place of a directory of the job is not followed: %s',
    async (place) => {
      for (const path of Object.values(paths)) rmSync(path, { recursive: true });
      symlinkSync(victim, paths[place]);
      for (const how of ['--force', '--resume']) {
        expect(await run(how)).toMatchObject({
          exitCode: 1,
          failure: {
            code: 'ERR_TEMP_DIR',
            message: expect.stringMatching(/cannot use the directory .*: it is a symbolic link, expected a directory;/),
          },
        });
        expect(existsSync(job.output)).toBe(false);
        // What the job made before it saw that is gone again.
        for (const [name, path] of Object.entries(paths)) expect(existsSync(path)).toBe(name === place);
      }
      expect(lstatSync(paths[place]).isSymbolicLink()).toBe(true);
      rmSync(paths[place]);
      await expectDiscarded();
    },
  );

  it.each([
    ['manifest', () => join(paths.job, 'manifest'), /^cannot open temp file .*manifest: it is a symbolic link$/],
    ['journal', () => join(paths.job, 'commit'), /^cannot open temp file .*commit: it is a symbolic link$/],
    ['staged output', () => join(paths.staging, '0.part'), /^cannot create output .*0\.part: too many symbolic links$/],
    ['lock', () => join(paths.job, 'lock+planted'), /lock\+planted/],
  ])('in place of a file of the job is neither read nor written through: %s', async (_, pathOf, message) => {
    const path = pathOf();
    rmSync(path, { force: true });
    symlinkSync(join(victim, 'precious'), path);
    expect((await run('--resume')).failure?.message).toMatch(message);
    // What the journal may have said of outputs that moved is not passed over, and nobody knows whose lock it is.
    if (/commit$|planted$/.test(path)) rmSync(path);
    await expectDiscarded();
  });

  it('in place of pile data is not read, and the piles are made again', async () => {
    const [index = ''] = namesBelow(paths.job).filter((name) => /^set-\d+\.index$/.test(name));
    const [name = ''] = namesBelow(paths.data).filter((file) => file.startsWith(`${basename(index, '.index')}-`));
    copyFileSync(join(paths.data, name), directory.path('copy'));
    rmSync(join(paths.data, name));
    symlinkSync(directory.path('copy'), join(paths.data, name));
    expect(await run('--resume')).toMatchObject({
      exitCode: 4,
      failure: { message: expect.stringContaining(`${name} is a symbolic link`), resume: {} },
    });
    expect((await run('--resume')).exitCode).toBe(0);
    await job.expectWhole();
  });
});

describe('the files of a job', () => {
  it.each([true, false])(
    'is closed to others from first to last, whatever the umask (resumable: %s)',
    async (resume) => {
      const seen = new Map<string, number>();
      const look = () => {
        for (const parent of [directory.temp, directory.path()]) {
          for (const home of readdirSync(parent).filter((name) => name.startsWith('.pileshuf-'))) {
            const ofHome = statSync(join(parent, home), { throwIfNoEntry: false });
            if (ofHome !== undefined) seen.set(home.replace(/[0-9a-f]{16}/, 'ID'), ofHome.mode & 0o777);
            if (ofHome?.isDirectory() !== true) continue;
            for (const name of readdirSync(join(parent, home))) {
              const stat = lstatSync(join(parent, home, name), { throwIfNoEntry: false });
              if (stat !== undefined && parent === directory.temp) seen.set(kindOf(name), stat.mode & 0o777);
            }
          }
        }
      };
      await expectDiscarded();
      rmSync(job.output);
      const umask = process.umask(0);
      try {
        const running = shuffle(
          {
            inputs: job.inputs,
            output: job.output,
            resume,
            tempDirs: [directory.temp],
            memoryBytes: 2 ** 26,
            workers: 2,
            onProgress: look,
          },
          { ...SMALL_SIZES, stripeCount: 5 },
        );
        const timer = setInterval(look, 1);
        await running.finally(() => clearInterval(timer));
      } finally {
        process.umask(umask);
      }
      // The note of the end is there for a moment.
      expect(seen.get('.pileshuf-ID.ended') ?? 0o600).toBe(0o600);
      seen.delete('.pileshuf-ID.ended');
      const kinds = [...seen.keys()];
      expect(kinds).toEqual(expect.arrayContaining(['manifest', 'lock', '.pile', '.index']));
      for (const [kind, mode] of seen)
        expect({ kind, mode }).toEqual({ kind, mode: kind.startsWith('.pileshuf') ? 0o700 : 0o600 });
      expect(kinds.filter((kind) => kind.startsWith('.pileshuf')).sort()).toEqual([
        '.pileshuf-ID.disk-0',
        '.pileshuf-ID.job',
        '.pileshuf-ID.out',
      ]);
    },
  );

  function kindOf(name: string): string {
    if (name.startsWith('lock+')) return 'lock';
    return /\.(pile|index|attempt)$/.exec(name)?.[0] ?? name;
  }
});
