/**
 * Damages the files of an unfinished job, one at a time, and resumes the job: one bit in every byte in turn, blocks that
 * cannot be read, staged output that is another. Either the output has the bytes of an undisturbed job, or the command
 * names the damaged file with exit code 4, and the job can be resumed or started anew. A wrong output never appears.
 * committed-slices.test.ts damages pile sets in other ways.
 */
import { readdirSync, readFileSync, rmSync, statSync, truncateSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { exitCodeOf } from '#src/cli/messages.js';
import { PileshufError } from '#src/index.js';
import { readFinishedRanges } from '#src/job-directory/notes.js';
import { recordBytesOf } from '#src/sinks/output-target.js';
import { atScale, isSlow, sampled } from '../fixtures/scale.js';
import { unreadable } from '../fixtures/unreadable-files.js';
import { jobDirectoryOf, stopAtOutput, useStoppedJob } from './stopped-job.js';
import { type Content, type TinyJob, useTinyJobs } from './tiny-job.js';
import { COMPRESSED_SHARDS, CONTINUING_JOBS, FILE } from './tiny-job-kinds.js';

type Store = 'index' | 'sealed' | 'note' | 'data';

const KINDS_OF_FILES: readonly (readonly [Store, RegExp])[] = [
  /** Of pile sets that are committed: made again. */
  ['index', /\/set-\d+\.index$/],
  /** Without these nobody can tell what there is. */
  ['sealed', /\.job\/(manifest|commit|cuts|head|splits|distinct|done-\d+)$/],
  /** Tells jobs of one output from each other; this one knows its own. */
  ['note', /\.out\/job$/],
  /** Made again where it is still needed. */
  ['data', /\.pile$/],
];

const storeOf = (path: string) => KINDS_OF_FILES.find(([, pattern]) => pattern.test(path))?.[0];

const totals = { flips: 0, refusals: 0 };

/** Every so many-th byte of indexes, manifest, records and journal is tried. */
const step = atScale(419, 53, 1);
/** Likewise of the records on disk. */
const dataStep = atScale(1019, 131, 1);

describe.each(sampled(CONTINUING_JOBS, 3))('$name', (kind) => {
  const jobs = useTinyJobs();

  it('writes the right bytes or names the damaged file', async () => {
    const job = jobs.of(kind);
    const expected = await job.expectedContent();
    job.prepare();
    const files = job.leftovers().flatMap((path) => {
      const store = storeOf(path);
      return store === undefined ? [] : [{ path: join(job.root, path), store }];
    });
    const problems: string[] = [];
    const seen = new Set<Store>();
    // Of many small files of one kind together, not of each from its first byte on.
    const positions = new Map<Store, number>();
    for (const { path, store } of files) {
      job.prepare();
      const { size } = statSync(path);
      const stride = store === 'data' ? dataStep : step;
      let position = positions.get(store) ?? 0;
      for (; position < size; position += stride) {
        job.prepare();
        flipBit(path, position);
        seen.add(store);
        totals.flips += 1;
        await expectNoHarm(job, path, store, expected).catch((problem: Error) =>
          problems.push(`${path}, byte ${position}: ${problem.message}`),
        );
      }
      positions.set(store, position - size);
    }
    expect(problems).toEqual([]);
    expect(seen.has('sealed')).toBe(true);
  });
});

it('the number of changed bytes', (context) => {
  if (totals.flips < 40) context.skip('not all of the tests were run');
  if (isSlow) console.info(`${totals.flips} bytes changed, ${totals.refusals} of them refused at once`);
  expect(totals.refusals).toBeGreaterThan(totals.flips / 10);
});

/** The error with which the stopped job ends. */
async function failureOf(job: TinyJob): Promise<PileshufError> {
  const failure: unknown = await job.run().catch((error: unknown) => error);
  return failure instanceof PileshufError ? failure : expect.fail(String(failure));
}

describe('a pile set', () => {
  const stopped = useStoppedJob(FILE, (job, fileCalls) => stopAtOutput(job, fileCalls, 1));

  it.each([
    ['whose records were changed', flipLastBit, 4, / are not what was written there; check the disk; if .* `resume`$/],
    ['of which a block cannot be read', undefined, 1, /^cannot read at byte \d+ of .*: the device reports .*`resume`$/],
  ] as const)(
    '%s is seen when it is read, and made again by the next attempt',
    async (_, damage, exitCode, message) => {
      const { job, expected, fileCalls } = stopped();
      const indexes = () => job.leftovers().filter((path) => path.endsWith('.index')).length;
      const files = job.leftovers().map((path) => join(job.root, path));
      const bad =
        files.find((path) => path.endsWith('.pile') && statSync(path).size > 0) ?? expect.fail('there is one');
      const pileSets = indexes();
      if (damage === undefined) fileCalls.replace(unreadable((path) => path === bad));
      else damage(bad);
      const failure = await failureOf(job);
      expect(failure).toMatchObject({ message: expect.stringMatching(message), unfinishedJob: {} });
      expect(failure.message).toContain(bad);
      expect(exitCodeOf(failure, undefined)).toBe(exitCode);
      expect(indexes()).toBe(pileSets - 1);
      // The block stays unreadable.
      expect((await job.run()).resumed?.pileSets).toBe(pileSets - 1);
      expect(job.content()).toEqual(expected);
      expect(job.leftovers()).toEqual([]);
    },
  );
});

describe.each(sampled([FILE, COMPRESSED_SHARDS], 2))('the staged output of $name', (kind) => {
  const stopped = useStoppedJob(kind);

  /** The finished regions, with their places in the files: they are counted from the end of the header. */
  function finishedRegions() {
    const { job } = stopped();
    const { ranges } = readFinishedRanges(jobDirectoryOf(job), { pileCount: 4, mostShards: 3 });
    const staging = readdirSync(job.outputDirectory).find((entry) => entry.endsWith('.out')) ?? '';
    return ranges
      .flatMap(({ regions }) => regions)
      .map((region) => ({
        ...region,
        path: join(job.outputDirectory, staging, `${region.shard}.part`),
        start: job.storedHeaderBytes + region.start,
        end: job.storedHeaderBytes + region.end,
      }));
  }

  /** All files stay, and the error does not advise to resume. */
  async function expectRefused(message: string) {
    const { job } = stopped();
    const before = job.leftovers();
    const failure = await failureOf(job);
    expect(failure).toMatchObject({ code: 'ERR_VERIFICATION', unfinishedJob: undefined });
    expect(failure.message).toContain(message);
    expect(failure.message).toMatch(/; give `force` without `resume` to start anew$/);
    expect(exitCodeOf(failure, undefined)).toBe(4);
    expect(job.leftovers()).toEqual(before);
    expect(job.content()).toEqual({});
  }

  it('is refused for the first and the last byte of each region, and taken when these are right', async () => {
    const regions = finishedRegions();
    for (const { path, start, end } of regions) {
      const bytes = readFileSync(path);
      for (const position of [start, end - 1]) {
        writeFileSync(path, bytes.with(position, (bytes[position] ?? 0) ^ 1));
        await expectRefused(`bytes ${start} to ${end} of the staged output ${path} are not what`);
      }
      writeFileSync(path, bytes);
    }
    expect((await stopped().job.run()).resumed?.outputBytes).toBe(recordBytesOf(regions));
    expect(stopped().job.content()).toEqual(stopped().expected);
  });

  it('is refused when it is shorter or gone, until --force', async () => {
    const [{ path, end } = expect.fail('there is one')] = finishedRegions();
    truncateSync(path, end - 1);
    await expectRefused(path);
    rmSync(path);
    await expectRefused(`the staged output ${path} has 0 bytes, expected at least the `);
    await stopped().job.run({ resume: false, force: true });
    expect(stopped().job.content()).toEqual(stopped().expected);
    expect(stopped().job.leftovers()).toEqual([]);
  });
});

function flipLastBit(path: string): void {
  flipBit(path, statSync(path).size - 1);
}

function flipBit(path: string, position: number): void {
  const bytes = readFileSync(path);
  bytes[position] = (bytes[position] ?? 0) ^ (1 << (position % 8));
  writeFileSync(path, bytes);
}

async function expectNoHarm(job: TinyJob, path: string, store: Store, expected: Content): Promise<void> {
  const error: unknown = await job.run({ resume: true }).then(
    () => undefined,
    (thrown: unknown) => thrown,
  );
  if (error === undefined) {
    expect(store, 'the job ended well').not.toBe('sealed');
    const hasTold = job.warnings.some((line) => line.includes(path) && line.endsWith('made again'));
    if (store === 'index') expect(hasTold, 'it was told').toBe(true);
  } else {
    totals.refusals += 1;
    expect(error).toBeInstanceOf(PileshufError);
    const { code, message } = error instanceof PileshufError ? error : { code: '', message: '' };
    expect([exitCodeOf(error, undefined), code], message).toEqual([4, 'ERR_VERIFICATION']);
    expect(message).toContain(path);
    expect(store).not.toBe('note');
    job.expectNothingHalf(expected);
    if (path.endsWith('/commit')) await expectFormerFilesAreLeft(job, expected);
    await (store === 'sealed' ? job.run({ force: true, resume: false }) : job.run({ resume: true }));
  }
  expect(job.content()).toEqual(expected);
  expect(job.leftovers()).toEqual([]);
}

/** Nobody can tell what belongs where when the journal is damaged: that is for the user to decide. */
async function expectFormerFilesAreLeft(job: TinyJob, expected: Content): Promise<void> {
  await expect(job.run({ force: true, resume: false })).rejects.toThrow(/move them back or remove them/);
  job.expectNothingHalf(expected);
  const aside = job.leftovers().find((path) => path.endsWith('.out/replaced'));
  rmSync(join(job.root, aside ?? 'none'), { recursive: true });
}
