/**
 * Interrupted jobs keep their committed work if they can be resumed, and print the command to resume. That command writes
 * the same bytes as an undisturbed job, does no committed work again, and leaves no temp files. A wrong pile is made once
 * more, from its temp data.
 */
import { existsSync, mkdirSync, readdirSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { setTimeout as delay } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { OUTPUT_CODECS } from '#src/formats/encoder-table.js';
import type { ShuffleOptions } from '#src/index.js';
import { fromCi } from '../fixtures/scale.js';
import { useTestDirectory } from '../fixtures/temp-directory.js';
import { contentOf, findJobPaths, type JobRun, namesBelow, runPrinted, useSmallJob } from './resumable-job.js';
import type { Sabotage } from './sabotage.js';
import { OUTPUT_BYTES, smallSizes } from './small-job.js';

const directory = useTestDirectory();
const job = useSmallJob(directory);

const SLICE_BYTES = 10_000;
/** Several stripes, each of which is a range of its own. */
const SIZES = smallSizes({ pileCount: 6, stripeCount: 3, sliceBytes: SLICE_BYTES });
/** Several ranges of several members each. */
const SIZES_OF_MEMBERS = smallSizes({ pileCount: 6, stripeCount: 6, outputBytes: 200, memberBytes: 500 });
/** Of the two inputs, which have the same length. */
const SLICES = 2 * Math.ceil(OUTPUT_BYTES / 2 / SLICE_BYTES);

/** Where a job is stopped: late in pass 1, or in the second half of pass 2. */
const PASS_1 = { at: 'temp-write', nth: 250 } as const;
const PASS_2 = { at: 'output-write', nth: 36 } as const;
const stopBy = (signal: NodeJS.Signals, place: typeof PASS_1 | typeof PASS_2): Sabotage => ({
  act: 'signal',
  signal,
  ...place,
});
const killWhenCommitted = (nth: number): Sabotage => ({
  act: 'signal',
  signal: 'SIGKILL',
  at: 'commit',
  nth,
  afterwards: true,
});

const run = (words: readonly string[] = [], how: JobRun = {}) =>
  job.run(['-T', directory.temp, ...words], { sizes: SIZES, ...how });
const resume = (words: readonly string[] = [], how: JobRun = {}) => run(['--resume', ...words], how);

const committedIn = (path: string) => namesBelow(path).filter((name) => /^set-\d+\.index$/.test(name)).length;

describe('a resumable job', () => {
  interface Stop {
    readonly name: string;
    readonly sabotage: Sabotage;
    /** Undefined: it was killed. */
    readonly exitCode?: number;
    readonly words?: readonly string[];
    readonly sizes?: Record<string, string>;
    readonly options?: Partial<ShuffleOptions>;
    readonly prepare?: () => void;
  }

  /** Enough for several ranges of pass 2, with several piles each, of which some are deleted. */
  const large: Stop = {
    name: 'that deletes the piles at the starts of shards around a long record',
    words: ['--shard-bytes', '1000000B'],
    options: { shards: { by: 'bytes', maxShardBytes: 1_000_000 } },
    prepare: () => {
      const records = Array.from({ length: 20_000 }, (_, i) => `${i}${'.'.repeat(500 + (i % 1000))}\n`);
      job.inputs = [directory.path('large.input')];
      writeFileSync(directory.path('large.input'), `${records.join('')}${'long '.repeat(180_000)}\n`);
    },
    sabotage: { act: 'signal', signal: 'SIGTERM', at: 'output-write', nth: 60 },
    exitCode: 143,
    sizes: smallSizes({
      pileCount: 16,
      stripeCount: 8,
      bufferBytes: 2 ** 16,
      readBytes: 2 ** 18,
      outputBytes: 2 ** 18,
      sliceBytes: 2 ** 22,
      pass2ArenaBytes: 2 ** 24,
    }),
  };

  const copies: Stop = {
    name: 'killed when the second scatter commits a pile set',
    sabotage: killWhenCommitted(SLICES + 3),
    words: ['--unique', '--weight', '**=1.5'],
    options: { unique: true, weights: [{ glob: '**', factor: '1.5' }] },
    prepare: () => {},
  };

  const sections = {
    words: ['--each', 'v=/([0-4]?)$/', '--shards', '2'],
    options: { each: 'v=/([0-4]?)$/', shards: { by: 'count', shardCount: 2 } },
  } as const;

  const STOPS: readonly Stop[] = [
    copies,
    { name: 'stopped by SIGINT in pass 2', sabotage: stopBy('SIGINT', PASS_2), exitCode: 130 },
    { name: 'killed when a pile set is committed', sabotage: killWhenCommitted(3) },
  ];
  const STOPS_OF_CI: readonly Stop[] = [
    { name: 'stopped by SIGTERM in pass 1', sabotage: stopBy('SIGTERM', PASS_1), exitCode: 143 },
    { name: 'killed when the last of pass 1 is, or a range of pass 2', sabotage: killWhenCommitted(15) },
    large,
    { ...sections, name: 'with shards for each value, killed in pass 1', sabotage: killWhenCommitted(5) },
    { ...sections, name: 'with shards for each value, killed in pass 2', sabotage: stopBy('SIGKILL', PASS_2) },
    {
      ...sections,
      name: 'with shards for each value, killed while they get their names',
      sabotage: { act: 'signal', signal: 'SIGKILL', at: 'output-move', nth: 3 },
    },
  ];

  it.each([...STOPS, ...(fromCi ? STOPS_OF_CI : [])])('$name ends with the bytes of a whole one', async (stop) => {
    const { sabotage, exitCode, words = [], sizes = SIZES, options = {} } = stop;
    stop.prepare?.();
    const stopped = await resume(words, { sabotage, sizes });
    expect(stopped).toMatchObject(exitCode === undefined ? { signal: 'SIGKILL' } : { exitCode, report: undefined });
    expect(existsSync(job.output)).toBe(false);
    const { job: kept } = findJobPaths(directory.temp, directory.path());
    const committed = committedIn(kept);
    expect(committed).toBeGreaterThan(stop === copies ? SLICES : 1);
    const finishedRanges = namesBelow(kept).some((name) => name.startsWith('done-'));
    if (exitCode !== undefined)
      expect(stopped.failure).toMatchObject({
        code: 'ABORT_ERR',
        message: expect.stringMatching(/^interrupted by SIG\w+: stopped before the end; no output was written$/),
        resume: { directory: kept },
      });

    // The command that is printed has no sizes of its own.
    const printed = sizes === SIZES ? stopped.failure?.resume?.command : undefined;
    const continued = await (printed === undefined ? resume(words, { sizes }) : runPrinted(directory, printed));
    expect(continued).toMatchObject({ exitCode: 0, failure: undefined, warnings: [] });
    expect(continued.report?.resumed?.pileSets).toBe(committed);
    const taken = continued.report?.resumed?.outputBytes ?? 0;
    expect(taken > 0).toBe(finishedRanges);
    if (stop.prepare === undefined) {
      expect(continued.splitsRead).toBe(SLICES - committed);
      expect(taken + continued.outputBytesWritten).toBe(OUTPUT_BYTES);
    }
    await job.expectWhole(options);
    const left = [directory.temp, directory.path()].flatMap((path) => readdirSync(path));
    expect(left.filter((name) => name.startsWith('.pileshuf-'))).toEqual([]);
  });

  it.runIf(fromCi)('that two SIGINTs end at once can be resumed', async () => {
    // Each worker is held up for longer than the test may take, once the first pile sets are committed.
    const { failure } = await resume([], { sabotage: stopBy('SIGINT', PASS_1) });
    const { job: kept } = findJobPaths(directory.temp, directory.path());
    const committed = committedIn(kept);
    const dataFiles = () => namesBelow(directory.temp).filter((name) => name.endsWith('.pile')).length;
    const before = dataFiles();
    const stopped = await resume(['--workers', '1'], {
      sabotage: { act: 'meet', at: 'temp-write', patienceMilliseconds: 100_000 },
      onSpawn: async (pid) => {
        // About to be written to: the worker is held up.
        while (dataFiles() === before) await delay(10);
        await delay(500);
        process.kill(pid, 'SIGINT');
        await delay(600);
        process.kill(pid, 'SIGINT');
      },
    });
    expect(stopped).toMatchObject({ exitCode: 130, failure: { code: 'ABORT_ERR' } });
    expect(namesBelow(kept).filter((name) => name.startsWith('lock'))).toHaveLength(1);
    const continued = await runPrinted(directory, failure?.resume?.command ?? '');
    expect(continued.report?.resumed?.pileSets).toBe(committed);
    await job.expectWhole();
  });

  it.runIf(fromCi)('whose worker dies can be resumed', async () => {
    for (const place of [PASS_1, PASS_2]) {
      const died = await resume([], { sabotage: { act: 'end-worker', ...place } });
      expect(died).toMatchObject({ exitCode: 1, failure: { code: 'ERR_WORKER', resume: {} } });
      // The cause is not known: the printed command asks for another value of what it may be.
      expect(died.failure?.resume).toMatchObject({ change: ['--workers'] });
      const continued = await resume(['--workers', '1']);
      expect(continued.report?.resumed?.pileSets).toBeGreaterThan(0);
      await job.expectWhole();
      rmSync(job.output);
    }
  });
});

describe.runIf(fromCi)('a compressed output, on threads that take turns,', () => {
  const IN_PASS_2 = { at: 'output-write', nth: 8 } as const;
  const KINDS: readonly (readonly [string, readonly string[], Sabotage])[] = [
    ['one file, killed', [], { act: 'signal', signal: 'SIGKILL', ...IN_PASS_2 }],
    ['one file, killed when a range is recorded', [], { act: 'signal', signal: 'SIGKILL', at: 'output-sync', nth: 3 }],
    ['shards, with a worker that dies', ['--shards', '4'], { act: 'end-worker', ...IN_PASS_2 }],
  ];
  const sizes = SIZES_OF_MEMBERS;

  it.each(KINDS.map((kind, i) => [...kind, OUTPUT_CODECS[i % OUTPUT_CODECS.length] ?? 'gzip'] as const))(
    'loses what was appended and not recorded, and has the same bytes: %s',
    async (_, more, sabotage, codec) => {
      const words = ['--compress', codec, ...more];
      expect((await run(words, { sizes })).exitCode).toBe(0);
      renameSync(job.output, directory.path('whole'));
      expect((await resume(words, { sizes, sabotage })).report).toBe(undefined);
      const { job: kept } = findJobPaths(directory.temp, directory.path());
      const recorded = namesBelow(kept).some((name) => /^done-\d+$/.test(name));
      const continued = await resume(words, { sizes });
      expect(continued).toMatchObject({ exitCode: 0, failure: undefined });
      expect(continued.warnings.filter((line) => !line.startsWith('this Node compresses zstd'))).toEqual([]);
      expect((continued.report?.resumed?.outputBytes ?? 0) > 0).toBe(recorded);
      expect(contentOf(job.output)).toEqual(contentOf(directory.path('whole')));
    },
  );
});

describe.runIf(fromCi)('a job directory', () => {
  const STOPPED = { sabotage: stopBy('SIGTERM', PASS_1) };

  interface Place {
    readonly name: string;
    readonly words: () => readonly string[];
    readonly cwd?: () => string;
    readonly env?: Readonly<Record<string, string>>;
    /** Looks at what is kept. */
    readonly expectKept?: () => void;
  }

  const PLACES: readonly Place[] = [
    {
      name: 'that holds the temp data, too',
      words: () => ['--job-dir', directory.path('job')],
      expectKept: () => {
        const kept = ['disk-0', 'manifest', expect.stringMatching(/^set-\d+/)];
        expect(readdirSync(directory.path('job'))).toEqual(expect.arrayContaining(kept));
        expect(namesBelow(directory.path('job', 'disk-0')).length).toBeGreaterThan(0);
      },
    },
    {
      name: 'whose path is relative',
      words: () => ['--job-dir', '../here/job'],
      cwd: () => {
        mkdirSync(directory.path('here'), { recursive: true });
        return directory.path('here');
      },
      expectKept: () => expect(readdirSync(directory.path('here'))).toEqual(['job']),
    },
    {
      name: 'beside the output, where nothing else is named',
      words: () => ['--resume'],
      env: { TMPDIR: '' },
      expectKept: () => {
        const { job: kept, data } = findJobPaths(directory.path(), directory.path());
        expect([kept, data].every((path) => existsSync(path))).toBe(true);
      },
    },
  ];

  it.each(PLACES)('is all that a job needs to go on: one $name', async ({ words, cwd, env, expectKept }) => {
    const how = { ...(cwd === undefined ? {} : { cwd: cwd() }), ...(env === undefined ? {} : { env }) };
    const stopped = await job.run(words(), { ...STOPPED, ...how });
    expect(stopped).toMatchObject({ exitCode: 143, failure: { resume: { directory: expect.any(String) } } });
    expectKept?.();
    const continued = await job.run([...words(), '--resume'], how);
    expect(continued).toMatchObject({ exitCode: 0, failure: undefined });
    expect(continued.report?.resumed?.pileSets).toBeGreaterThan(2);
    await job.expectWhole();
    expect(existsSync(stopped.failure?.resume?.directory ?? '')).toBe(false);
  });
});

describe('a wrong result', () => {
  it.runIf(fromCi)('in a pile is made once more, and again by a later attempt', async () => {
    const sizes = smallSizes();
    const wrong = await resume([], { sabotage: { act: 'repeat-gathered', nth: 9, ever: true }, sizes });
    expect(wrong).toMatchObject({
      exitCode: 4,
      failure: {
        message: expect.stringMatching(/^verification failed: twice in a row: pile \d+ came out of pass 2 with /),
        resume: { directory: expect.any(String) },
      },
    });
    expect(existsSync(job.output)).toBe(false);
    const later = await resume([], { sabotage: { act: 'repeat-gathered', nth: 4 }, sizes });
    expect(later).toMatchObject({
      exitCode: 0,
      warnings: [expect.stringMatching(/pile \d+ came out of pass 2 .*; it is tried once more$/)],
      splitsRead: 0,
    });
    expect(readdirSync(directory.temp)).toEqual([]);
    await job.expectWhole();
  });

  it('in an unknown part is not resumed, and leaves no files', async () => {
    const wrong = await resume([], { sabotage: { act: 'short-output-write', outputBytes: OUTPUT_BYTES } });
    const message = /^verification failed: the staged output \S+\/0\.part has \d+ bytes on disk, expected/;
    expect(wrong).toMatchObject({ exitCode: 4, failure: { message: expect.stringMatching(message) } });
    expect(wrong.failure?.resume).toBeUndefined();
    expect(existsSync(job.output)).toBe(false);
    expect(readdirSync(directory.temp)).toEqual([]);
    const anew = await resume();
    expect(anew).toMatchObject({ exitCode: 0, warnings: [] });
    expect(anew.report?.resumed).toBeUndefined();
    await job.expectWhole();
  });
});
