/** A job of aligned files: the options that it refuses, the job that it resumes or does not, and what it reports. */
import { appendFileSync, mkdirSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { beforeEach, describe, expect, it } from 'vitest';
import { type ShuffleProgress, type ShuffleTogetherOptions, shuffleTogether } from '#src/index.js';
import { systemFileCalls } from '#src/io/file-calls.js';
import { errorOf } from '../fixtures/error-of.js';
import { makePipe } from '../fixtures/make-pipe.js';
import { useFileCalls } from '../fixtures/replaced-file-calls.js';
import { useMemoryDirectory } from '../fixtures/temp-directory.js';

const directory = useMemoryDirectory();
const TUNING = { inline: true };
let en = '';
let fr = '';
beforeEach(() => {
  en = directory.path('en.txt');
  fr = directory.path('fr.txt');
  writeFileSync(en, 'one\ntwo\nthree\nfour\n');
  writeFileSync(fr, 'un\ndeux\ntrois\nquatre');
});

const run = (options: Partial<ShuffleTogetherOptions> = {}) =>
  shuffleTogether({ together: [[en, fr]], output: directory.path('out'), seed: '1', ...options }, TUNING);

const hidden = () => readdirSync(directory.path('.')).filter((name) => name.startsWith('.'));

describe('aligned files are refused', () => {
  it.each<[string, () => Partial<ShuffleTogetherOptions>, RegExp]>([
    ['one file', () => ({ together: [[en]] }), /names one file, .*en.txt; expected two or more/],
    ['no tuple', () => ({ together: [] }), /^`together`: expected an array of arrays of paths$/],
    ['an empty path', () => ({ together: [[en, '']] }), /expected paths that are not empty$/],
    ['standard input', () => ({ together: [[en, '-']] }), /^standard input \(-\) cannot be one/],
    [
      'tuples of other lengths',
      () => ({
        together: [
          [en, fr],
          [en, fr, fr],
        ],
      }),
      /names 3 files in .* and 2 in .*each time$/,
    ],
    ['one name twice', () => ({ together: [[en, en]] }), /would both be called en.txt; give files of different names$/],
    ['a directory', () => ({ together: [[en, directory.path('d')]] }), /names the directory .*\/d; expected files$/],
    ['a pipe', () => ({ together: [[en, directory.path('p')]] }), /p, which is not a regular file/],
    ['a missing file', () => ({ together: [[en, directory.path('none')]] }), /none does not exist/],
    ['standard output', () => ({ output: '-' }), /writes several files: name a directory with `output`$/],
    [
      'shards by bytes',
      () => ({ shards: { by: 'bytes', maxShardBytes: 9 } }),
      /^shards by bytes would cut the members/,
    ],
    ['a file as output', () => ({ output: en }), /is a file; expected a directory/],
    [
      'a directory that holds something',
      () => ({ output: directory.path('d') }),
      /holds file already; aligned files appear/,
    ],
    ['the same, by force', () => ({ output: directory.path('d'), force: true }), /holds file already/],
    ['an option of other jobs', () => ({ repeat: true }) as Partial<ShuffleTogetherOptions>, /repeat/],
    ['splits', () => ({ splits: [] }) as Partial<ShuffleTogetherOptions>, /splits/],
  ])('%s', async (_, options, message) => {
    mkdirSync(directory.path('d'));
    writeFileSync(directory.path('d', 'file'), 'kept');
    makePipe(directory.path('p'));
    expect((await errorOf(run(options()))).message).toMatch(message);
    expect(readFileSync(directory.path('d', 'file'), 'utf8')).toBe('kept');
    expect(hidden()).toEqual([]);
  });
});

it('takes an empty directory, and one that a link leads to', async () => {
  mkdirSync(directory.path('d'));
  symlinkSync(directory.path('d'), directory.path('link'));
  const { members } = await run({ output: directory.path('link') });
  expect(readdirSync(directory.path('d'))).toEqual(['en.txt', 'fr.txt']);
  expect(members.map(({ files }) => files)).toEqual([[directory.path('d', 'en.txt')], [directory.path('d', 'fr.txt')]]);
});

describe('a disk without room for all members', () => {
  const calls = useFileCalls();
  it('is refused before the first one is shuffled, unless they are compressed', async () => {
    writeFileSync(en, 'line\n'.repeat(60_000));
    writeFileSync(fr, 'lines\n'.repeat(60_000));
    const bsize = 1024;
    calls.replace({
      statFileSystem: (path) => ({ ...systemFileCalls.statFileSystem(path), blocks: 2 ** 30, bavail: 500, bsize }),
    });
    const error = await errorOf(run());
    expect(error).toMatchObject({
      code: 'ERR_NO_SPACE',
      message: expect.stringMatching(/^not enough space for output on/),
    });
    expect(hidden()).toEqual([]);
    expect(await run({ compress: { codec: 'gzip' }, tempDirs: [directory.temp] })).toMatchObject({ records: 60_000 });
  });
});

it('tells which member its progress is of, and its part of all', async () => {
  const seen = new Map<number, ShuffleProgress['member']>();
  await run({ onProgress: ({ member }: ShuffleProgress) => void seen.set(member?.number ?? 0, member) });
  const [first, second] = [seen.get(1), seen.get(2)];
  expect([first, second]).toMatchObject([
    { of: 2, startShare: 0 },
    { of: 2, endShare: 1 },
  ]);
  expect(first?.endShare).toBeGreaterThan(0);
  expect(second?.startShare).toBe(first?.endShare);
});

describe('an unfinished job', () => {
  /** Stops in the second member, when the first is done. */
  async function stop(): Promise<void> {
    const stopper = new AbortController();
    const onProgress = ({ member }: ShuffleProgress) => {
      if (member?.number === 2) stopper.abort();
    };
    const error = await errorOf(run({ resume: true, signal: stopper.signal, onProgress }));
    expect(error.unfinishedJob?.directory).toMatch(/\.pileshuf-\w+\.job$/);
    expect(readdirSync(directory.path('.'))).not.toContain('out');
  }

  it('goes on behind the members that are done', async () => {
    const whole = await run({ output: directory.path('whole') });
    await stop();
    const report = await run({ resume: true, seed: undefined });
    expect(report).toMatchObject({ seed: '1', resumedMembers: 1, records: 4 });
    expect(report.members.map(({ checksum }) => checksum)).toEqual(whole.members.map(({ checksum }) => checksum));
    for (const name of ['en.txt', 'fr.txt'])
      expect(readFileSync(directory.path('out', name))).toEqual(readFileSync(directory.path('whole', name)));
    expect(hidden()).toEqual([]);
  });

  it.each<[string, Partial<ShuffleTogetherOptions>, string, RegExp]>([
    ['without `resume`', {}, 'ERR_JOB_UNFINISHED', /give `resume` to resume it, or `force` to discard it$/],
    ['with another seed', { resume: true, seed: '2' }, 'ERR_JOB_DIFFERS', /another seed \("1", now "2"\)/],
    [
      'with shards',
      { resume: true, shards: { by: 'count', shardCount: 2 } },
      'ERR_JOB_DIFFERS',
      /another cut into shards/,
    ],
    ['with a head', { resume: true, headCount: 2 }, 'ERR_JOB_DIFFERS', /another number of records \("all", now 2\)/],
    ['with other records', { resume: true, records: { by: 'csv' } }, 'ERR_JOB_DIFFERS', /another kind of records/],
    ['compressed', { resume: true, compress: { codec: 'gzip' } }, 'ERR_JOB_DIFFERS', /another list of members/],
  ])('is not resumed %s', async (_, options, code, message) => {
    await stop();
    const error = await errorOf(run(options));
    expect(error).toMatchObject({ code, message: expect.stringMatching(message) });
    expect(await run({ resume: true })).toMatchObject({ resumedMembers: 1 });
  });

  it('is not resumed when a file has changed, and is discarded by force', async () => {
    await stop();
    appendFileSync(fr, '\ncinq\n');
    appendFileSync(en, 'five\n');
    expect(await errorOf(run({ resume: true }))).toMatchObject({
      code: 'ERR_INPUT_CHANGED',
      message: expect.stringMatching(
        /en.txt: the input changed since the unfinished job .* \(its size was 19 bytes and is 24\)/,
      ),
    });
    expect(await run({ force: true })).toMatchObject({ resumedMembers: 0, records: 5 });
    expect(hidden()).toEqual([]);
  });
});
