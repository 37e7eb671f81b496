/**
 * The process is killed at each call after the output has appeared, while the job removes its files, or again and again.
 * The same job, resumed, ends it: with the report of the whole, with the same bytes, and nothing left behind.
 */
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { shuffleTogether, UsageError } from '#src/index.js';
import { fastPlace } from '../fixtures/fast-place.js';
import { atScale, fromCi, sampled } from '../fixtures/scale.js';
import { callsOf, killBefore } from './stopped-attempt.js';
import { disownLocksBelow, useTinyJobs } from './tiny-job.js';
import { FILE, RESUMABLE_JOBS, type TinyJobKind } from './tiny-job-kinds.js';

interface EndingJob {
  readonly prepare: () => void;
  readonly run: () => Promise<{ readonly records: number }>;
  /** Whether all of the output is there. */
  readonly isWhole: () => boolean;
  readonly leftovers: () => readonly string[];
  readonly root: string;
}

/** In `npm test` every so many-th call from the last one back. */
const step = atScale(14, 4);

async function expectEnded({ prepare, run, isWhole, leftovers, root }: EndingJob, mayReplace: boolean) {
  const watches = (path: string) => path.startsWith(`${root}/`);
  prepare();
  let records = 0;
  const calls = await callsOf(watches, async () => {
    records = (await run()).records;
  });
  expect(isWhole()).toBe(true);
  expect(leftovers()).toEqual([]);
  const refused = await run().then(
    () => undefined,
    (error: unknown) => error,
  );
  if (!mayReplace) {
    expect(refused).toBeInstanceOf(UsageError);
    expect(String(refused)).toContain('nothing is left to resume, so the job may be done');
  }
  let kills = 0;
  for (let nth = calls.length; nth > 0; nth -= step) {
    prepare();
    await killBefore(nth, watches, run);
    if (!isWhole()) break;
    disownLocksBelow(root);
    const how = `killed at call ${nth} of ${calls.length}: ${JSON.stringify(calls[nth - 1])}`;
    const report = await run().catch((error: unknown) => {
      throw new Error(`${how}: ${error}`);
    });
    expect(report.records, how).toBe(records);
    expect(isWhole(), how).toBe(true);
    expect(leftovers(), how).toEqual([]);
    kills += 1;
  }
  expect(kills).toBeGreaterThan(20 / step);
}

const jobs = useTinyJobs();
const NAMED: TinyJobKind = {
  name: 'lines, in a job directory that is named',
  tuning: {},
  resumable: true,
  jobDir: true,
};

it.each([NAMED, ...sampled(RESUMABLE_JOBS, 3)])('$name', async (kind) => {
  const job = jobs.of(kind);
  const expected = JSON.stringify(await job.expectedContent());
  const isWhole = () => JSON.stringify(job.content()) === expected;
  const { root } = job;
  const parts = { prepare: () => job.prepare(), run: () => job.run(), isWhole, leftovers: () => job.leftovers(), root };
  await expectEnded(parts, kind.force === true);
});

it.runIf(fromCi)('a file, in an attempt after the other', async () => {
  const job = jobs.of(FILE);
  const expected = await job.expectedContent();
  job.prepare();
  let kills = 0;
  // Each gets a bit further than the one before: it has less to do.
  while (await killBefore(160 + kills, job.watches, () => job.run())) {
    job.disownLocks();
    kills += 1;
  }
  expect(job.content()).toEqual(expected);
  expect(job.leftovers()).toEqual([]);
  expect(kills).toBeGreaterThan(1);
});

let root = '';
beforeAll(() => {
  root = mkdtempSync(join(fastPlace(), 'pileshuf-test-'));
});
afterAll(() => rmSync(root, { recursive: true, force: true }));

it.each(sampled([undefined, { by: 'count', shardCount: 2 }] as const, 2))(
  'aligned files, resumable, in shards: %j',
  async (shards) => {
    const input = (name: string) => join(root, name);
    const output = join(root, 'out');
    const lines = Array.from({ length: 40 }, (_, i) => `${i}\n`).join('');
    const isOutput = (name: string) => name === 'out';
    const options = { together: [[input('a'), input('b')]], output, seed: '1', workers: 1, memoryBytes: 2 ** 27 };
    const tuning = { inline: true, keepInRam: false, pileCount: 3, bufferBytes: 300, sliceBytes: 400 };
    await expectEnded(
      {
        root,
        prepare: () => {
          rmSync(root, { recursive: true, force: true });
          mkdirSync(root);
          for (const name of ['a', 'b']) writeFileSync(input(name), lines);
        },
        run: () => shuffleTogether({ ...options, shards, resume: true, tempDirs: [root] }, tuning),
        isWhole: () => {
          if (!readdirSync(root).some(isOutput)) return false;
          const text = readdirSync(output).map((name) => readFileSync(join(output, name), 'latin1'));
          return text.join('').length === 2 * lines.length;
        },
        leftovers: () => readdirSync(root).filter((name) => !isOutput(name) && !['a', 'b'].includes(name)),
      },
      false,
    );
  },
);
