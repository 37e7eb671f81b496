/** The notes of a job: what is noted first stays, and a sealed note that no job writes is refused. */
import { mkdirSync, readdirSync, writeFileSync } from 'node:fs';
import { beforeEach, expect, it } from 'vitest';
import { VerificationError } from '#src/errors.js';
import { seal } from '#src/io/sealed-file.js';
import { readNotes, writeNote } from '#src/job-directory/notes.js';
import { useMemoryDirectory } from '../fixtures/temp-directory.js';

const directory = useMemoryDirectory();
const path = (...names: string[]) => directory.path('job', ...names);
const read = () => readNotes(path(), { mostShards: 5, pileCount: 2 });
const tally = { records: 2, recordBytes: 30, checksum: '0123456789abcdef' };

beforeEach(() => mkdirSync(path()));

it('come back as they were written first, and never change', async () => {
  expect(read()).toEqual({ cuts: undefined, distinct: undefined, head: undefined, splits: undefined });
  const cuts = { starts: [0, 10, 2 ** 50], ofOthers: [[0, 5], null] };
  await writeNote(path(), 'cuts', cuts);
  await writeNote(path(), 'distinct', { piles: [tally, tally] });
  await writeNote(path(), 'cuts', { starts: null, ofOthers: undefined });
  expect(read()).toMatchObject({ cuts, distinct: { piles: [tally, tally] } });
  expect(readdirSync(path()).sort()).toEqual(['cuts', 'distinct']);
});

it.each<[string, number, object, RegExp]>([
  ['cuts', 1, {}, /: starts: expected a list, got nothing/],
  ['cuts', 1, { starts: [0, 0.5] }, /: starts\[1\]: expected a whole number/],
  ['cuts', 1, { starts: [1, 2] }, /: expected the first shard to begin at byte 0, got 1/],
  ['cuts', 1, { starts: [0, 7, 7] }, /: starts\[2\]: expected a byte behind 7, got 7/],
  ['cuts', 1, { starts: [0, 1, 2, 3, 4, 5] }, /: expected at most 5 shards, got 6/],
  ['distinct', 2, { piles: [tally] }, /: expected the totals of 2 piles, got 1/],
  ['head', 1, { ...tally, pile: -1, longestRecordBytes: 9 }, /: pile: expected a whole number/],
])('are refused with impossible content: %s, version %i, %j', (name, version, value, problem) => {
  writeFileSync(path(name), seal(name, version, value));
  expect(read).toThrow(VerificationError);
  expect(read).toThrow(problem);
});
