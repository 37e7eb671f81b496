/**
 * Interrupted jobs keep their committed work if they can be resumed, and print the command to resume. That command writes
 * the same bytes as an undisturbed job, does no committed work again, and leaves no temp files.
 */

import { existsSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { setTimeout as delay } from 'node:timers/promises';
import { gzipSync } from 'node:zlib';
import { beforeEach, describe, expect, it } from 'vitest';
import type { ShuffleOptions } from '#src/index.js';
import { seen } from '../fixtures/command-outcome.js';
import { makePipe } from '../fixtures/make-pipe.js';
import { reasonNotToMount, remount, useMounts } from '../fixtures/mounts.js';
import { runCommand } from '../fixtures/run-command.js';
import { fromCi, sampled } from '../fixtures/scale.js';
import { useTestDirectory } from '../fixtures/temp-directory.js';
import { npyHeaderOf } from '../formats/any-headers.js';
import { contentOf, findJobPaths, type JobRun, namesBelow, runJob, runPrinted, undisturbed } from './resumable-job.js';
import { type Sabotage, withSabotage } from './sabotage.js';
import { OUTPUT_BYTES, smallSizes, writeInputs } from './small-job.js';

const directory = useTestDirectory();
const mountTmpfs = useMounts();

let inputs: string[] = [];
let output = '';
beforeEach(() => {
  inputs = writeInputs(directory);
  output = directory.path('out');
});

function argv(outputPath = output, workers = 2): string[] {
  return [...inputs, '-o', outputPath, '-T', directory.temp, '--workers', `${workers}`, '--seed', '1'];
}

const SLICE_BYTES = 10_000;
/** Several stripes, each of which is a range of its own. */
const SIZES = smallSizes({ pileCount: 6, stripeCount: 3, sliceBytes: SLICE_BYTES });

type Run = JobRun & { readonly workers?: number };
const run = ({ workers, ...more }: Run = {}) => runJob(directory, argv(output, workers), { sizes: SIZES, ...more });
const resume = (more: Run = {}) => run({ ...more, argv: ['--resume', ...(more.argv ?? [])] });

/** All slices of the job, which is of two inputs of the same length. */
const SPLITS = 2 * Math.ceil(OUTPUT_BYTES / 2 / SLICE_BYTES);

/** Where a job is stopped: late in pass 1, in the second half of pass 2, or when all is written. */
const PLACES = {
  'pass 1': { at: 'temp-write', nth: 250 },
  'pass 2': { at: 'output-write', nth: 36 },
} as const;

describe.each(
  sampled(
    [
      ['SIGINT', 130],
      ['SIGTERM', 143],
    ] as const,
    2,
  ),
)('%s', (signal, exitCode) => {
  it.each(sampled(['pass 1', 'pass 2'] as const, 2, 1))(
    'in %s leaves the committed work, and prints the line to resume with',
    async (place) => {
      const stopped = await resume({ sabotage: { act: 'signal', signal, ...PLACES[place] } });
      expect(stopped.exitCode).toBe(exitCode);
      expect(stopped.report).toBe(undefined);
      expect(existsSync(output)).toBe(false);
      const { job } = findJobPaths(directory.temp, directory.path());
      expect(stopped.failure).toMatchObject({
        code: 'ABORT_ERR',
        message: `interrupted by ${signal}: stopped before the end; no output was written`,
        resume: { directory: job },
      });
      const committed = namesBelow(job).filter((name) => /^set-\d+\.index$/.test(name)).length;
      expect(committed).toBeGreaterThan(2);
      if (place === 'pass 1') expect(committed).toBeLessThan(SPLITS);
      else expect(committed).toBe(SPLITS);

      const continued = await runPrinted(directory, stopped.failure?.resume?.command ?? '');
      expect(continued).toMatchObject({ exitCode: 0, failure: undefined, warnings: [] });
      expect(continued.report?.resumed?.pileSets).toBe(committed);
      expect(continued.splitsRead).toBe(SPLITS - committed);
      const taken = continued.report?.resumed?.outputBytes ?? 0;
      if (place === 'pass 1') expect(taken).toBe(0);
      else expect(taken).toBeGreaterThan(OUTPUT_BYTES / 4);
      expect(taken + continued.outputBytesWritten).toBe(OUTPUT_BYTES);
      expect(contentOf(output)).toBe(await undisturbed(directory, { inputs }));
    },
  );

  it.runIf(fromCi)('says all of it in one line', async () => {
    const { nodeOptions, env } = withSabotage({ act: 'signal', signal, ...PLACES['pass 1'] });
    const words = ['-q', ...argv(), '--job-dir', directory.path('job')];
    const stopped = await runCommand(words, { nodeOptions, env: { ...env, ...SIZES } });
    const line = `pileshuf ${words.join(' ')} --resume`;
    expect(seen(stopped)).toEqual({
      exitCode,
      lines: [
        `pileshuf: interrupted by ${signal}: stopped before the end; no output was written; ` +
          `finished work is kept in ${directory.path('job')}; to resume: ${line}`,
      ],
    });
    expect(await runPrinted(directory, line)).toMatchObject({ exitCode: 0, stderr: '' });
    expect(contentOf(output)).toBe(await undisturbed(directory, { inputs }));
    expect(existsSync(directory.path('job'))).toBe(false);
  });
});

/** As any other signal. */
describe('SIGTERM', () => {
  const SIGTERM = { act: 'signal', signal: 'SIGTERM' } as const;

  it.runIf(fromCi).each(['pass 1', 'pass 2'] as const)(
    'in %s of a job that cannot be resumed leaves nothing',
    async (place) => {
      const stopped = await run({ sabotage: { ...SIGTERM, ...PLACES[place] } });
      expect(stopped).toMatchObject({ exitCode: 143, failure: { code: 'ABORT_ERR' } });
      expect(stopped.failure?.resume).toBe(undefined);
      expect(readdirSync(directory.temp)).toEqual([]);
    },
  );
});

describe('a resumable job', () => {
  it.runIf(fromCi)('that two SIGINTs end at once can be resumed', async () => {
    // Each worker is held up for longer than the test may take, once the first pile sets are committed.
    const { failure } = await resume({ sabotage: { act: 'signal', signal: 'SIGINT', ...PLACES['pass 1'] } });
    const { job } = findJobPaths(directory.temp, directory.path());
    const committed = namesBelow(job).filter((name) => name.endsWith('.index')).length;
    const dataFiles = () => namesBelow(directory.temp).filter((name) => name.endsWith('.pile'));
    const dataFilesBefore = dataFiles().length;
    const stopped = await resume({
      workers: 1,
      sabotage: { act: 'meet', at: 'temp-write', patienceMilliseconds: 100_000 },
      onSpawn: async (pid) => {
        // About to be written to: the worker is held up.
        while (dataFiles().length === dataFilesBefore) await delay(10);
        await delay(500);
        process.kill(pid, 'SIGINT');
        await delay(600);
        process.kill(pid, 'SIGINT');
      },
    });
    expect(stopped).toMatchObject({ exitCode: 130, failure: undefined });
    expect(namesBelow(job).filter((name) => name.startsWith('lock'))).toHaveLength(1);
    const continued = await runPrinted(directory, failure?.resume?.command ?? '');
    expect(continued.report?.resumed?.pileSets).toBe(committed);
    expect(contentOf(output)).toBe(await undisturbed(directory, { inputs }));
  });

  it.each(
    sampled(
      [
        ['a pile set is committed', 3],
        ['the last of pass 1 is, or a range of pass 2', 15],
      ],
      2,
    ),
  )('that is killed when %s is resumed', async (_, nth) => {
    const sabotage: Sabotage = { act: 'signal', signal: 'SIGKILL', at: 'commit', nth, afterwards: true };
    expect(await resume({ sabotage })).toMatchObject({ signal: 'SIGKILL' });
    const { job } = findJobPaths(directory.temp, directory.path());
    const names = namesBelow(job);
    expect(names.filter((name) => name.startsWith('lock+'))).toHaveLength(1);
    const committed = names.filter((name) => /^set-\d+\.index$/.test(name)).length;
    const continued = await resume();
    expect(continued).toMatchObject({ exitCode: 0, warnings: [], splitsRead: SPLITS - committed });
    const taken = continued.report?.resumed?.outputBytes ?? 0;
    expect(taken > 0).toBe(names.some((name) => name.startsWith('done-')));
    expect(taken + continued.outputBytesWritten).toBe(OUTPUT_BYTES);
    expect(contentOf(output)).toBe(await undisturbed(directory, { inputs }));
  });

  it.runIf(fromCi)('whose worker dies can be resumed', async () => {
    for (const place of ['pass 1', 'pass 2'] as const) {
      const died = await resume({ sabotage: { act: 'end-worker', ...PLACES[place] } });
      expect(died).toMatchObject({ exitCode: 1, failure: { code: 'ERR_WORKER', resume: {} } });
      // The cause is not known: the printed command asks for another value of what it may be.
      expect(died.failure?.resume).toMatchObject({ change: ['--workers'] });
      const continued = await resume({ workers: 1 });
      expect(continued.report?.resumed?.pileSets).toBeGreaterThan(0);
      expect(contentOf(output)).toBe(await undisturbed(directory, { inputs }));
      rmSync(output);
    }
  });

  it.runIf(fromCi)('may have more memory and other workers when it is resumed', async () => {
    const sizes = smallSizes({ pileCount: undefined, stripeCount: undefined, sliceBytes: undefined });
    await resume({ sabotage: { act: 'signal', signal: 'SIGTERM', ...PLACES['pass 1'] } });
    const continued = await resume({ sizes, workers: 3, argv: ['--memory', '100M', '--io-limit', '/=2'] });
    expect(continued).toMatchObject({ exitCode: 0, report: { workers: 3, piles: 6 } });
    expect(continued.report?.resumed?.pileSets).toBeGreaterThan(2);
    expect(contentOf(output)).toBe(await undisturbed(directory, { inputs }));
  });
});

describe.runIf(fromCi)('inputs with headers', () => {
  const ROWS = 9000;

  it.each<[string, readonly string[], Pick<ShuffleOptions, 'header' | 'records'>, string | Buffer]>([
    ['lines', ['--header', '2'], { header: { lines: 2 } }, 'a\nb\n'],
    ['rows of .npy files', ['--npy'], { records: { by: 'npy' } }, npyHeaderOf('|S15', ROWS, [])],
  ])('can be resumed, but not with another header: %s', async (_, words, options, header) => {
    inputs = [0, 1].map((file) => {
      const path = directory.path(`${file}.headed`);
      const rows = Array.from({ length: ROWS }, (__, i) => `${`${file} ${i}`.padEnd(14)}\n`);
      writeFileSync(path, Buffer.concat([Buffer.from(header), Buffer.from(rows.join(''))]));
      return path;
    });
    const shards = { by: 'count', shardCount: 3 } as const;
    const argv = [...words, '--shards', '3'];
    const sabotage: Sabotage = { act: 'signal', signal: 'SIGKILL', at: 'commit', nth: 2, afterwards: true };
    expect(await resume({ argv, sabotage })).toMatchObject({ signal: 'SIGKILL' });
    const other = await resume({ argv: ['--lines', '--skip-bytes', '5', '--shards', '3'] });
    expect(other).toMatchObject({ exitCode: 2, failure: { code: 'ERR_JOB_DIFFERS' } });
    const continued = await resume({ argv });
    expect(continued.report?.resumed?.pileSets).toBeGreaterThan(1);
    expect(contentOf(output)).toEqual(await undisturbed(directory, { inputs, shards, ...options }));
  });
});

describe('shards', () => {
  it.runIf(fromCi).each([
    ['a number of them', ['--shards', '7'], { by: 'count', shardCount: 7 }, 0],
    ['bytes around a long record', ['--shard-bytes', '1000000B'], { by: 'bytes', maxShardBytes: 1_000_000 }, 900_000],
  ] as const)('can be resumed when the piles at their starts are deleted: %s', async (_, words, shards, longBytes) => {
    // Enough for several ranges of pass 2, with several piles each.
    const path = directory.path('large.input');
    const records = Array.from({ length: 20_000 }, (__, i) => `${i}${'.'.repeat(500 + (i % 1000))}\n`);
    const long = longBytes === 0 ? '' : `${'long '.repeat(longBytes / 5)}\n`;
    writeFileSync(path, [...records, long].join(''));
    inputs = [path];
    const sizes = smallSizes({
      pileCount: 16,
      stripeCount: 8,
      bufferBytes: 2 ** 16,
      readBytes: 2 ** 18,
      outputBytes: 2 ** 18,
      sliceBytes: 2 ** 22,
      pass2ArenaBytes: 2 ** 24,
    });
    const sabotage: Sabotage = { act: 'signal', signal: 'SIGTERM', at: 'output-write', nth: 60 };
    const stopped = await resume({ sizes, argv: words, sabotage });
    expect(stopped.exitCode).toBe(143);
    const { data } = findJobPaths(directory.temp, directory.path());
    const stripes = new Set(namesBelow(data).map((name) => name.split('.')[1]));
    expect(stripes.size).toBeLessThan(8);
    const continued = await resume({ sizes, argv: words });
    expect(continued).toMatchObject({ exitCode: 0, splitsRead: 0 });
    expect(continued.report?.resumed?.outputBytes).toBeGreaterThan(2 ** 20);
    expect(contentOf(output)).toEqual(await undisturbed(directory, { inputs, shards }));
  });
});

describe.skipIf(!fromCi || reasonNotToMount !== undefined)(`disks that are full ${reasonNotToMount ?? ''}`, () => {
  /** An input that says little of how large it will be. */
  function writeCompressed(decodedBytes: number): string {
    const path = directory.path('compressed.input');
    const lines = Array.from({ length: decodedBytes / 100 }, (_, i) => `${String(i).padStart(99, '.')}\n`);
    writeFileSync(path, gzipSync(lines.join('')));
    return path;
  }

  it('under the output let the job resume when there is room', async () => {
    const small = mountTmpfs(directory.path('small'), 'size=400k');
    inputs = [writeCompressed(600_000)];
    output = `${small}/out`;
    const sizes = smallSizes({ stripeCount: 3, pileCount: 6 });
    const stopped = await resume({ sizes });
    expect(stopped).toMatchObject({
      exitCode: 1,
      failure: { code: 'ERR_NO_SPACE', message: expect.stringMatching(/output .*: no space left on the device/) },
    });
    // Nothing has changed, and the job does not get further.
    expect((await resume({ sizes })).exitCode).toBe(1);
    remount(small, 'size=2m');
    const continued = await runPrinted(directory, stopped.failure?.resume?.command ?? '');
    expect(continued).toMatchObject({ exitCode: 0, splitsRead: 0 });
    expect(continued.report?.resumed).toEqual({ pileSets: 1, outputBytes: expect.any(Number) });
    expect(contentOf(output)).toBe(await undisturbed(directory, { inputs }));
    expect(readdirSync(small)).toEqual(['out']);
  });

  it.runIf(fromCi)('under temp data let the job resume when there is room', async () => {
    const small = mountTmpfs(directory.path('small'), 'size=200k');
    inputs = [...inputs, writeCompressed(600_000)];
    const words = [...inputs, '-o', output, '-T', small, '--workers', '2', '--seed', '1', '--resume'];
    const stopped = await runJob(directory, words, { sizes: SIZES });
    expect(stopped).toMatchObject({ exitCode: 1, failure: { code: 'ERR_NO_SPACE' } });
    expect(stopped.failure?.message).toMatch(/temp file .*: no space left on the device/);
    remount(small, 'size=8m');
    const continued = await runJob(directory, words, { sizes: SIZES });
    expect(continued.exitCode).toBe(0);
    expect(continued.report?.resumed?.pileSets).toBeGreaterThan(0);
    expect(contentOf(output)).toBe(await undisturbed(directory, { inputs }));
    expect(readdirSync(small)).toEqual([]);
  });
});

describe('a job that cannot be resumed is refused', () => {
  const STANDARD_INPUT =
    'standard input (-) cannot be read again to resume the job: name files, or leave out --resume and --job-dir';

  it('standard input', async () => {
    const { exitCode, failure } = await runJob(directory, ['-', '-o', output, '-T', directory.temp, '--resume']);
    expect({ exitCode, message: failure?.message }).toEqual({ exitCode: 2, message: STANDARD_INPUT });
  });

  it.runIf(fromCi).each([['--resume'], ['--job-dir']])('an input that is a pipe, with %s', async (option) => {
    const pipe = makePipe(directory.path('pipe'));
    const job = directory.path('job');
    const words = [pipe, '-o', output, '-T', directory.temp, option, ...(option === '--job-dir' ? [job] : [])];
    const { exitCode, failure } = await runJob(directory, words);
    expect({ exitCode, message: failure?.message }).toEqual({
      exitCode: 2,
      message: `${pipe} cannot be read again to resume the job: name files, or leave out --resume and --job-dir`,
    });
    expect(existsSync(job)).toBe(false);
  });
});
