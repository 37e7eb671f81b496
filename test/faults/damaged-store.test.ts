/**
 * Damages the files of an unfinished job, one at a time, and resumes the job: one bit in every byte in turn, files that are
 * empty, cut off, gone, or those of another pile set. Either the output has the bytes of an undisturbed job, or the command
 * names the damaged file with exit code 4, and the job can be resumed or started anew. A wrong output never appears.
 */

import { copyFileSync, readFileSync, rmSync, statSync, truncateSync, writeFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { exitCodeOf } from '#src/cli/exit-code.js';
import { PileshufError } from '#src/index.js';
import { atScale, isSlow, sampled } from '../fixtures/scale.js';
import { stopAtOutput, useStoppedJob } from './stopped-job.js';
import { type Content, type TinyJob, useTinyJobs } from './tiny-job.js';
import { CONTINUING_JOBS, FILE } from './tiny-job-kinds.js';

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

describe('a pile set', () => {
  const stopped = useStoppedJob(FILE, (job, fileCalls) => stopAtOutput(job, fileCalls, 1));
  const filesOf = (pattern: RegExp) => {
    const { job } = stopped();
    return job
      .leftovers()
      .filter((path) => pattern.test(path))
      .map((path) => join(job.root, path))
      .filter((path) => statSync(path).size > 0);
  };
  const cutOff = (path: string) => truncateSync(path, statSync(path).size - 1);

  it.each<[string, RegExp, (path: string, others: readonly string[]) => void, RegExp | undefined]>([
    ['data is gone', /\.pile$/, (path) => rmSync(path), /the data file .* is missing, expected \d+ bytes;/],
    ['data was cut off', /\.pile$/, cutOff, /the data file .* has \d+ bytes, expected \d+ bytes;/],
    ['index is empty', /\.index$/, (path) => truncateSync(path, 0), /\.index/],
    ['index was cut off', /\.index$/, cutOff, /\.index/],
    [
      'index is that of another one',
      /\.index$/,
      (path, [, other = '']) => {
        rmSync(path);
        copyFileSync(other, path);
      },
      /\.index/,
    ],
    ['index is gone', /\.index$/, (path) => rmSync(path), undefined],
  ])('is made again, and no other, if its %s', async (_, pattern, damage, warning) => {
    const { job, expected } = stopped();
    const files = filesOf(pattern);
    const [path = expect.fail('there is one')] = files;
    const pileSets = filesOf(/\.index$/).length;
    damage(path, files);
    const report = await job.run();
    expect(report.resumed?.pileSets).toBe(pileSets - 1);
    const told = job.warnings.filter((line) => !line.includes(' in memory (tmpfs)'));
    expect(told).toEqual(warning === undefined ? [] : [expect.stringMatching(warning)]);
    for (const line of told) {
      expect(line).toContain(basename(path));
      expect(line).toMatch(/; this part is made again$/);
    }
    expect(job.content()).toEqual(expected);
    expect(job.leftovers()).toEqual([]);
  });

  it('whose records were changed is seen when it is read, and made again by the next attempt', async () => {
    const { job, expected } = stopped();
    const [path = expect.fail('there is one')] = filesOf(/\.pile$/);
    const pileSets = filesOf(/\.index$/).length;
    flipBit(path, statSync(path).size - 1);
    const refused: unknown = await job.run().catch((error: unknown) => error);
    expect(refused).toMatchObject({
      code: 'ERR_VERIFICATION',
      message: expect.stringMatching(
        /\.pile .* are not what was written there; check the disk; if the job can be resumed, give `resume`$/,
      ),
      unfinishedJob: {},
    });
    expect(exitCodeOf(refused, undefined)).toBe(4);
    expect((await job.run()).resumed?.pileSets).toBe(pileSets - 1);
    expect(job.content()).toEqual(expected);
  });
});

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
