/** What a job notes between its passes is read back as it was; what is damaged, or no job writes, is always reported. */
import { mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import fc from 'fast-check';
import { beforeEach, describe, expect, it } from 'vitest';
import { UsageError, VerificationError } from '#src/errors.js';
import { seal } from '#src/io/sealed-file.js';
import { type JobNotes, readNote, writeNote } from '#src/job-directory/notes.js';
import { mutationOf, readOrDamaged } from '../fixtures/mutated-values.js';
import { useTestDirectory } from '../fixtures/temp-directory.js';

const directory = useTestDirectory();
const path = (...names: string[]) => directory.path('job', ...names);
const read = (name: keyof JobNotes, pileCount = 2) => readNote(path(), name, { pileCount, mostShards: 5 });
const readCuts = () => readNote(path(), 'cuts', { pileCount: 2, mostShards: 5 });

const TALLY = { records: 20, recordBytes: 300, checksum: '0123456789abcdef' };
const NOTES: readonly (readonly [keyof JobNotes, JobNotes[keyof JobNotes]])[] = [
  ['head', { pile: 3, ...TALLY, longestRecordBytes: 12 }],
  ['splits', { before: [{ records: 1, bytes: 2, checksum: '00000000000000ff' }] }],
  ['cuts', { starts: [0, 10, 2 ** 50], ofOthers: undefined }],
  ['cuts', { starts: [0], ofOthers: undefined }],
  ['cuts', { starts: null, ofOthers: undefined }],
  ['cuts', { starts: null, ofOthers: [[0, 5], null] }],
  ['distinct', { piles: [TALLY, { ...TALLY, recordBytes: 2 ** 52 }] }],
];

beforeEach(() => mkdirSync(path()));

describe.each(NOTES)('a note of %s: %j', (name, note) => {
  it('is read as it was, and the first stays', async () => {
    expect(read(name)).toBe(undefined);
    await writeNote(path(), name, note);
    expect(read(name)).toEqual(note);
    expect(readdirSync(path())).toEqual([name]);
    expect(statSync(path(name)).mode & 0o777).toBe(0o600);
    const { ino } = statSync(path(name));
    await writeNote(path(), name, note);
    expect(statSync(path(name)).ino).toBe(ino);
    expect(readdirSync(path())).toEqual([name]);
  });

  it('is told to be damaged when any byte is not what it was', async () => {
    await writeNote(path(), name, note);
    const bytes = readFileSync(path(name));
    for (let at = 0; at < bytes.byteLength; at++) {
      const damaged = Buffer.from(bytes);
      damaged[at] = (damaged[at] ?? 0) ^ 1;
      writeFileSync(path(name), damaged);
      expect(() => read(name), `byte ${at}`).toThrow(VerificationError);
      expect(() => read(name)).toThrow(/ is damaged: .*; give `force` to discard the job$/);
    }
    writeFileSync(path(name), bytes.subarray(0, -1));
    expect(() => read(name)).toThrow(VerificationError);
  });

  it('of another version is not taken', () => {
    writeFileSync(path(name), seal(name, 9, note));
    expect(() => read(name)).toThrow(UsageError);
    expect(() => read(name)).toThrow(expect.objectContaining({ code: 'ERR_JOB_VERSION' }));
  });
});

it.each<[object, RegExp]>([
  [{}, /: starts: expected a list, got nothing/],
  [{ starts: [0, 0.5] }, /: starts\[1\]: expected a whole number/],
  [{ starts: [] }, /: expected the first shard to begin at byte 0, got undefined/],
  [{ starts: [1, 2] }, /: expected the first shard to begin at byte 0, got 1/],
  [{ starts: [0, 7, 7] }, /: starts\[2\]: expected a byte behind 7, got 7/],
  [{ starts: [0, 1, 2, 3, 4, 5] }, /: expected at most 5 shards, got 6/],
  [{ starts: [0], ofOthers: [[0, 4], [3]] }, /: expected the first shard to begin at byte 0, got 3/],
])('a note of cuts is refused with impossible content: %j', (value, problem) => {
  writeFileSync(path('cuts'), seal('cuts', 1, value));
  expect(readCuts).toThrow(VerificationError);
  expect(readCuts).toThrow(problem);
});

it('a note of cuts that differs in one place ascends from byte 0, or is told to be damaged', () => {
  fc.assert(
    fc.property(mutationOf({ starts: [0, 5, 9] }), (mutated) => {
      writeFileSync(path('cuts'), seal('cuts', 1, mutated));
      const starts = readOrDamaged(readCuts)?.starts ?? [0];
      expect(starts[0]).toBe(0);
      expect(starts).toEqual([...new Set(starts)].sort((a, b) => a - b));
    }),
  );
});

it('a note of what stays is of as many piles as the job has', async () => {
  const piles = Array.from({ length: 65_536 }, (_, i) => ({ ...TALLY, records: i }));
  await writeNote(path(), 'distinct', { piles });
  expect(read('distinct', 65_536)).toEqual({ piles });
  expect(() => read('distinct', 65_535)).toThrow(/expected the totals of 65535 piles, got 65536/);
});
