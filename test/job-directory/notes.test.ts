/**
 * The notes of a job: what is noted first stays, and a sealed note that no job writes is refused. Those of finished ranges are
 * read back in order; a missing, damaged or foreign one is always reported.
 */
import { mkdirSync, readdirSync, writeFileSync } from 'node:fs';
import fc from 'fast-check';
import { beforeEach, describe, expect, it } from 'vitest';
import { VerificationError } from '#src/errors.js';
import { seal } from '#src/io/sealed-file.js';
import { type FinishedRange, NOTES, readFinishedRanges, readNotes, SHUFFLED } from '#src/job-directory/notes.js';
import { mutationOf, readOrDamaged } from '../fixtures/mutated-values.js';
import { atScale } from '../fixtures/scale.js';
import { useMemoryDirectory } from '../fixtures/temp-directory.js';

const directory = useMemoryDirectory();
const path = (...names: string[]) => directory.path('job', ...names);
const read = () => readNotes(path(), { mostShards: 5, pileCount: 2 });
const tally = { records: 2, bytes: 30, checksum: '0123456789abcdef' };

beforeEach(() => mkdirSync(path()));

it('come back as they were written first, and never change', async () => {
  expect(read()).toEqual({ cuts: undefined, distinct: undefined, head: undefined, splits: undefined });
  const cuts = { starts: [0, 7, 7, 2 ** 50], ofOthers: [[0, 5], null] };
  expect(await NOTES.cuts.write(path(), 'cuts', cuts, 'the cuts')).toBe(true);
  expect(await NOTES.distinct.write(path(), 'distinct', { piles: [tally, tally] }, 'the job')).toBe(true);
  expect(await NOTES.cuts.write(path(), 'cuts', cuts, 'the cuts')).toBe(true);
  await expect(NOTES.cuts.write(path(), 'cuts', { starts: null, ofOthers: undefined }, 'the cuts')).rejects.toThrow(
    /two attempts at the cuts of \S+job found different records; check the memory of both machines$/,
  );
  expect(read()).toMatchObject({ cuts, distinct: { piles: [tally, tally] } });
  expect(readdirSync(path()).sort()).toEqual(['cuts', 'distinct']);
});

it('of two attempts must agree on what others read, and need not on the rest', async () => {
  const region = {
    shard: 4,
    start: 0,
    end: 9,
    recordBytes: 20,
    checksum: '0123456789abcdef',
    sum: undefined,
    uploaded: undefined,
  };
  const shuffled = (own: string | null, changed: Partial<typeof region> = {}) => {
    const ranges = [{ first: 0, end: 1, regions: [{ ...region, ...changed }], ends: undefined, distinct: undefined }];
    return { task: 3, rewrite: 0, own, headerBytes: 0, ranges };
  };
  const write = (name: string, note: ReturnType<typeof shuffled>) =>
    SHUFFLED.write(path(), name, note, 'shuffle task 3');
  for (const [name, own] of [
    ['plain', null],
    ['compressed', 'task-3-a'],
  ] as const)
    expect(await write(name, shuffled(own))).toBe(true);
  // An attempt whose link was made and reported as failed finds its own note.
  expect(await write('compressed', shuffled('task-3-a'))).toBe(true);
  expect(await write('compressed', shuffled('task-3-b', { end: 10, checksum: 'fedcba9876543210' }))).toBe(false);
  for (const [name, other] of [
    ['compressed', shuffled('task-3-b', { recordBytes: 21 })],
    ['plain', shuffled(null, { checksum: 'fedcba9876543210' })],
  ] as const)
    await expect(write(name, other)).rejects.toThrow(/two attempts at shuffle task 3 of \S+ wrote different bytes;/);
});

it.each<[string, number, object, RegExp]>([
  ['cuts', 1, {}, /: starts: expected a list, got nothing/],
  ['cuts', 1, { starts: [0, 0.5] }, /: starts\[1\]: expected a whole number/],
  ['cuts', 1, { starts: [1, 2] }, /: expected the first shard to begin at byte 0, got 1/],
  ['cuts', 1, { starts: [0, 7, 6] }, /: starts\[2\]: expected byte 7 or a later one, got 6/],
  ['cuts', 1, { starts: [0, 1, 2, 3, 4, 5] }, /: expected at most 5 shards, got 6/],
  ['distinct', 3, { piles: [tally] }, /: expected the totals of 2 piles, got 1/],
  ['head', 2, { inPile: tally, pile: -1, longestRecordBytes: 9 }, /: pile: expected a whole number/],
])('are refused with impossible content: %s, version %i, %j', (name, version, value, problem) => {
  writeFileSync(path(name), seal(name, version, value));
  expect(read).toThrow(VerificationError);
  expect(read).toThrow(problem);
});

const LIMITS = { pileCount: 10, mostShards: 10 };
const readRanges = () => readFinishedRanges(path(), LIMITS);

function range(first: number, end: number): FinishedRange {
  const checksum = '00000000000000ab';
  const regions = [
    { shard: first, start: 0, end: 2 ** 50, recordBytes: 2 ** 52, checksum, sum: undefined, uploaded: undefined },
  ];
  return { first, end, regions, ends: undefined, distinct: undefined };
}

describe('finished ranges', () => {
  it('that differ in one place are within the job, or told to be damaged', () => {
    const ranges = [range(0, 2), { ...range(2, 3), regions: [] }, range(5, 9)];
    fc.assert(
      fc.property(mutationOf({ ranges }), (mutated) => {
        writeFileSync(path('done-000001'), seal('ranges', 5, mutated));
        const piles = new Set<number>();
        for (const { first, end, regions } of readOrDamaged(readRanges)?.ranges ?? []) {
          expect(end).toBeLessThanOrEqual(LIMITS.pileCount);
          for (let pile = first; pile < end; pile++) expect(piles.has(pile) || piles.add(pile)).toBe(piles);
          for (const { shard, start, end: regionEnd } of regions) {
            expect(shard).toBeLessThan(LIMITS.mostShards);
            expect(start).toBeLessThanOrEqual(regionEnd);
          }
        }
      }),
      { numRuns: atScale(200, 500, 1000) },
    );
  });
});
