/** A note of cuts is read back as it was written; one that is damaged, or that no job writes, is always reported. */
import { mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import fc from 'fast-check';
import { beforeEach, describe, expect, it } from 'vitest';
import { UsageError, VerificationError } from '#src/errors.js';
import { NameTakenError } from '#src/io/durable.js';
import { seal } from '#src/io/sealed-file.js';
import { type CutsNote, readCutsNote, writeCutsNote } from '#src/job-directory/notes.js';
import { mutationOf, readOrDamaged } from '../fixtures/mutated-values.js';
import { useTestDirectory } from '../fixtures/temp-directory.js';

const directory = useTestDirectory();
const path = (...names: string[]) => directory.path('job', ...names);
const read = () => readCutsNote(path(), { mostShards: 5 });

beforeEach(() => mkdirSync(path()));

describe('a note of cuts', () => {
  it.each<CutsNote>([
    { starts: [0, 10, 2 ** 50], ofOthers: undefined },
    { starts: [0], ofOthers: undefined },
    { starts: null, ofOthers: undefined },
    { starts: null, ofOthers: [[0, 5], null] },
  ])('is read as it was: %j', async (note) => {
    expect(read()).toBe(undefined);
    await writeCutsNote(path(), note);
    expect(read()).toEqual(note);
    expect(readdirSync(path())).toEqual(['cuts']);
    expect(statSync(path('cuts')).mode & 0o777).toBe(0o600);
    await expect(writeCutsNote(path(), { starts: [0, 1], ofOthers: undefined })).rejects.toThrow(NameTakenError);
    expect(read()).toEqual(note);
  });

  it('is told to be damaged when any byte is not what it was', async () => {
    await writeCutsNote(path(), { starts: [0, 10], ofOthers: undefined });
    const bytes = readFileSync(path('cuts'));
    for (let index = 0; index < bytes.byteLength; index++) {
      const damaged = Buffer.from(bytes);
      damaged[index] = (damaged[index] ?? 0) ^ 1;
      writeFileSync(path('cuts'), damaged);
      expect(read).toThrow(VerificationError);
      expect(read).toThrow(/\/cuts is damaged: .*; give `force` to discard the job$/);
    }
  });

  it.each<[object, RegExp]>([
    [{}, /: starts: expected a list, got nothing/],
    [{ starts: [0, 0.5] }, /: starts\[1\]: expected a whole number/],
    [{ starts: [] }, /: expected the first shard to begin at byte 0, got undefined/],
    [{ starts: [1, 2] }, /: expected the first shard to begin at byte 0, got 1/],
    [{ starts: [0, 7, 7] }, /: starts\[2\]: expected a byte behind 7, got 7/],
    [{ starts: [0, 1, 2, 3, 4, 5] }, /: expected at most 5 shards, got 6/],
  ])('is refused with impossible content: %j', (value, problem) => {
    writeFileSync(path('cuts'), seal('cuts', 1, value));
    expect(read).toThrow(VerificationError);
    expect(read).toThrow(problem);
  });

  it('of another version is not taken', () => {
    writeFileSync(path('cuts'), seal('cuts', 2, { starts: null }));
    expect(read).toThrow(UsageError);
    expect(read).toThrow(expect.objectContaining({ code: 'ERR_JOB_VERSION' }));
  });

  it('that differs in one place ascends from byte 0, or is told to be damaged', () => {
    fc.assert(
      fc.property(mutationOf({ starts: [0, 5, 9] }), (mutated) => {
        writeFileSync(path('cuts'), seal('cuts', 1, mutated));
        const starts = readOrDamaged(read)?.starts ?? [0];
        expect(starts[0]).toBe(0);
        expect(starts).toEqual([...new Set(starts)].sort((a, b) => a - b));
      }),
    );
  });
});
