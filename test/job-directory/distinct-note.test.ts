/** The note of what stays of each pile, where of equal records one is kept: what it refuses. */
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { beforeEach, expect, it } from 'vitest';
import { VerificationError } from '#src/index.js';
import { readDistinctNote, writeDistinctNote } from '#src/job-directory/notes.js';
import { useTestDirectory } from '../fixtures/temp-directory.js';

const directory = useTestDirectory();
const path = (...names: string[]) => directory.path('job', ...names);
beforeEach(() => mkdirSync(path()));

const TALLY = { records: 20, recordBytes: 300, checksum: '0123456789abcdef' };

it('is found as it was written, and by no other number of piles', async () => {
  const piles = Array.from({ length: 65_536 }, (_, i) => ({ ...TALLY, records: i, recordBytes: 2 ** 52 + i }));
  expect(readDistinctNote(path(), 1)).toBe(undefined);
  await writeDistinctNote(path(), { piles });
  expect(readdirSync(path())).toEqual(['distinct']);
  expect(readDistinctNote(path(), 65_536)).toEqual({ piles });
  expect(() => readDistinctNote(path(), 65_535)).toThrow(/expected the totals of 65535 piles, got 65536/);
});

it('is damaged where any byte differs', async () => {
  await writeDistinctNote(path(), { piles: [TALLY, TALLY] });
  const bytes = readFileSync(path('distinct'));
  for (let at = 0; at < bytes.byteLength; at++) {
    const damaged = Buffer.from(bytes);
    damaged[at] = (damaged[at] ?? 0) ^ 1;
    writeFileSync(path('distinct'), damaged);
    expect(() => readDistinctNote(path(), 2)).toThrow();
  }
  writeFileSync(path('distinct'), bytes.subarray(0, -1));
  expect(() => readDistinctNote(path(), 2)).toThrow(VerificationError);
});
