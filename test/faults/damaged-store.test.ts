/**
 * Flips one bit in every byte, in turn, of the files of an unfinished job, and resumes the job. Either the output has the
 * bytes of an undisturbed job, or the command names the damaged file with exit code 4, and the job can be resumed or started
 * anew. A wrong output never appears.
 */

import { readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { exitCodeOf } from '#src/cli/exit-code.js';
import { PileshufError } from '#src/index.js';
import { atScale, isSlow, sampled } from '../fixtures/scale.js';
import { type Content, type TinyJob, useTinyJobs } from './tiny-job.js';
import { CONTINUING_JOBS } from './tiny-job-kinds.js';

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
