/**
 * Records of a job that are whole and correctly sealed, but contradict what any job writes: the attempt that reads them
 * ends soon, with an error or with the right bytes.
 */
import { readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { PileshufError } from '#src/index.js';
import { seal, splitSealed, unseal } from '#src/io/sealed-file.js';
import { mutationOf } from '../fixtures/mutated-values.js';
import { atScale, sampled } from '../fixtures/scale.js';
import { jobDirectoryOf, useStoppedJob } from './stopped-job.js';
import { COMPRESSED_SHARDS, FEW_LINES, FILE, makeTexts, type TinyJobKind } from './tiny-job-kinds.js';

const SOON_MILLISECONDS = 20_000;
const RUNS = atScale(1, 30);

const RECORD = 'done-000001';
type SealedKind = 'cuts' | 'distinct' | 'ranges' | 'job';

const FITTED_SHARDS: TinyJobKind = {
  name: 'shards around a long line',
  tuning: FILE.tuning,
  shards: true,
  shardBytes: 2100,
  makeInputs: () => [...makeTexts(FEW_LINES).slice(0, 2), Buffer.from(`${'long '.repeat(400)}\n`)],
  resumable: true,
};

describe.each(sampled([FITTED_SHARDS, COMPRESSED_SHARDS], 2))('$name', (kind) => {
  const stopped = useStoppedJob(kind);
  const run = () => stopped().job.run();
  const pathOf = (name: string) => join(jobDirectoryOf(stopped().job), name);

  /** Seals `value` in place of what a file of the stopped job holds. */
  function reseal(path: string, sealedKind: SealedKind, value: object): void {
    stopped().restore();
    const { rest } = splitSealed(readFileSync(path));
    writeFileSync(path, Buffer.concat([seal(sealedKind, versionOf(path), value), rest]));
  }

  /** As the job has just written it. */
  const versionOf = (path: string) => Number(readFileSync(path, 'latin1').split(' ')[2]);
  const sealedValue = (path: string, sealedKind: SealedKind) =>
    Object(unseal(splitSealed(readFileSync(path)).sealed, sealedKind, versionOf(path), path));

  it.each([
    ['more piles than there are', { first: 0, end: 3e8 }],
    ['piles behind all numbers', { first: 2 ** 53 - 2, end: 2 ** 53 - 1 }],
    ['piles from their end to their beginning', { first: 3, end: 1 }],
  ])('refuses ranges of %s', async (_, range) => {
    reseal(pathOf(RECORD), 'ranges', { ranges: [{ ...range, regions: [] }] });
    await expect(run()).rejects.toMatchObject({
      code: 'ERR_VERIFICATION',
      message: expect.stringMatching(/done-000001 is damaged: expected a range of the 4 piles, got /),
    });
  });

  it('refuses ranges whose byte counts differ from their piles', async () => {
    const { ranges } = sealedValue(pathOf(RECORD), 'ranges');
    reseal(pathOf(RECORD), 'ranges', { ranges: [{ ...ranges[0], regions: [] }] });
    await expect(run()).rejects.toMatchObject({
      code: 'ERR_VERIFICATION',
      message: expect.stringMatching(
        /^verification failed: the records of the (unfinished job put 0 bytes of piles \d to \d in .*, expected \d+ bytes in order|staged output .* were written up to byte 0 and from byte \d+ on, expected no gap)/,
      ),
      unfinishedJob: undefined,
    });
  });

  const RECORDS: readonly (readonly [string, SealedKind])[] = [
    [RECORD, 'ranges'],
    ['manifest', 'job'],
  ];
  const NOTES: readonly (readonly [string, SealedKind])[] = [
    ['cuts', 'cuts'],
    ...(kind.unique ? [['distinct', 'distinct'] as const] : []),
  ];

  it.each([...RECORDS, ...NOTES])(
    'ends soon and right, or with an error, when its %s is another',
    async (name, sealedKind) => {
      const path = pathOf(name);
      const good = sealedValue(path, sealedKind);
      await fc.assert(
        fc.asyncProperty(mutationOf(good), async (mutated) => {
          reseal(path, sealedKind, mutated);
          await expectItEndsRightOrWithAnError();
        }),
        { numRuns: RUNS },
      );
    },
  );

  describe.runIf(kind.unique)('with a note of what stays', () => {
    const note = () => pathOf('distinct');

    it('goes on with it when piles may be gone', async () => {
      expect((await run()).duplicates?.records).toBeGreaterThan(0);
      expect(stopped().job.decodedContent()).toEqual(stopped().decoded);
    });

    it.each([
      ['is missing', undefined, /finished a part of its output without noting what stays of its piles; give `force` /],
      ['has too few piles', 3, /distinct is damaged: expected the totals of 4 piles, got 3/],
      [
        'has too many records',
        4,
        /the unfinished job noted that 900 records of pile 3 stay, expected at most \d+; give /,
      ],
    ])('keeps all when it %s', async (_, pileCount, message) => {
      const { piles } = sealedValue(note(), 'distinct');
      if (pileCount === undefined) rmSync(note());
      else
        reseal(note(), 'distinct', {
          piles: piles
            .slice(0, pileCount)
            .map((pile: object, i: number) => (i === 3 ? { ...pile, records: 900 } : pile)),
        });
      const left = stopped().job.leftovers();
      await expect(run()).rejects.toMatchObject({
        code: 'ERR_VERIFICATION',
        message: expect.stringMatching(message),
      });
      expect(stopped().job.leftovers()).toEqual(left);
    });

    it('keeps all when the output so far has other records than it tells', async () => {
      const { piles } = sealedValue(note(), 'distinct');
      reseal(note(), 'distinct', {
        piles: piles.map((pile: object) => ({ ...pile, checksum: '0123456789abcdef' })),
      });
      const left = stopped().job.leftovers();
      await expect(run()).rejects.toMatchObject({
        code: 'ERR_VERIFICATION',
        message: expect.stringMatching(/the unfinished job noted two different totals of pile \d; give `force` /),
      });
      expect(stopped().job.leftovers()).toEqual(left);
    });
  });

  describe.runIf(kind === FITTED_SHARDS)('with cuts that are noted', () => {
    const note = () => pathOf('cuts');

    it('goes on with them when the piles at the cuts may be gone', async () => {
      expect(sealedValue(note(), 'cuts')).toEqual({ starts: [0, 395, 2396] });
      expect((await run()).resumed?.outputBytes).toBeGreaterThan(0);
      expect(stopped().job.decodedContent()).toEqual(stopped().decoded);
    });

    it.each([
      [undefined, /the unfinished job finished a part of its output without noting where shards begin; give `force` /],
      [[0, 395], /noted that shard 1 begins at byte 395 and the next one at 4215, expected 1 to 2100 bytes of records/],
      [
        [0, 2100, 4200, 4215],
        /noted that shard 3 begins at byte 4215 and the next one at 4215, expected 1 to 2100 bytes/,
      ],
      [null, /the unfinished job noted that its shards are nearly equal, but some would be empty; give `force` /],
    ])('keeps all when the note says that shards begin at %j', async (starts, message) => {
      if (starts === undefined) rmSync(note());
      else reseal(note(), 'cuts', { starts });
      const left = stopped().job.leftovers();
      await expect(run()).rejects.toMatchObject({
        code: 'ERR_VERIFICATION',
        message: expect.stringMatching(message),
      });
      expect(stopped().job.leftovers()).toEqual(left);
    });

    it('ends with an error when the note has a cut inside a record', async () => {
      reseal(note(), 'cuts', { starts: [0, 396, 2396] });
      await expect(run()).rejects.toMatchObject({ code: 'ERR_VERIFICATION' });
      expect(stopped().job.content()).toEqual({});
    });
  });

  // Members of compressed shards end where ranges of piles do, and these depend on the stripes.
  it('ends right when its manifest has other stripes', async () => {
    const path = pathOf('manifest');
    const good = sealedValue(path, 'job');
    expect(good.layout.stripeCount).toBe(2);
    reseal(path, 'job', { ...good, layout: { ...good.layout, stripeCount: 3 } });
    await run();
    expect(stopped().job.decodedContent()).toEqual(stopped().decoded);
  });

  async function expectItEndsRightOrWithAnError(): Promise<void> {
    const began = performance.now();
    const failure = await run().then(
      () => undefined,
      (error: unknown) => error,
    );
    expect(performance.now() - began).toBeLessThan(SOON_MILLISECONDS);
    if (failure !== undefined) expect(failure).toBeInstanceOf(PileshufError);
    expect(failure).not.toMatchObject({ code: 'ERR_WORKER' });
    expect(stopped().job.decodedContent()).toEqual(failure === undefined ? stopped().decoded : {});
  }
});
