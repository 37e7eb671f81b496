/**
 * The journal of the moves: it is read as it was written, damage is reported, and no name in it leads out of the
 * output's directory, even if its checksum is right.
 */
import { mkdirSync, readdirSync, statSync, symlinkSync, writeFileSync } from 'node:fs';
import fc from 'fast-check';
import { beforeEach, describe, expect, it } from 'vitest';
import { SystemError, VerificationError } from '#src/errors.js';
import { seal } from '#src/io/sealed-file.js';
import { type CommitJournal, readJournal, removeJournal, writeJournal } from '#src/places/outputs/commit-journal.js';
import { useTestDirectory } from '../../fixtures/temp-directory.js';

const directory = useTestDirectory();
const path = (...names: string[]) => directory.path('job', ...names);
const read = () => readJournal(path());

const journal: CommitJournal = {
  outputIdentity: 'out',
  phase: 'move-in',
  intoExisting: true,
  names: ['shard-00000-of-00002', 'shard-00001-of-00002'],
  byteLengths: [0, 2 ** 50],
  replaced: ['ä b-00000-of-00001', 'shard-00001-of-00002', '.shard.complete.json', 'README.md', 'SHA256SUMS'],
  records: 5,
  bytes: 2 ** 50,
  checksum: '00000000000000ab',
  splits: undefined,
  emptyShards: undefined,
  sums: { of: '.n', total: '123456789012345678.5', splits: [] },
  beside: [{ name: 'README.md', text: '---\n' }],
};

beforeEach(() => mkdirSync(directory.path('job')));

describe('a journal', () => {
  it('is there when it was written, closed to others, and replaces the one before', async () => {
    expect(read()).toBeUndefined();
    for (const phase of ['move-aside', 'move-in', 'moved'] as const) {
      await writeJournal(path(), { ...journal, phase });
      expect(read()).toEqual({ ...journal, phase });
    }
    expect(readdirSync(path())).toEqual(['commit']);
    expect(statSync(path('commit')).mode & 0o777).toBe(0o600);
    await removeJournal(path());
    expect(read()).toBeUndefined();
    await removeJournal(path());
  });

  it('is not read through a link', async () => {
    await writeJournal(directory.path(), journal);
    symlinkSync(directory.path('commit'), path('commit'));
    expect(read).toThrow(SystemError);
  });

  const write = (value: object) => writeFileSync(path('commit'), seal('commit', 3, value));

  it('names no file outside of the directory', () => {
    for (const name of ['..', '.', '', '/etc/passwd', '../x', 'x/../../y', 'x\0', 'x/']) {
      for (const field of ['names', 'replaced']) {
        write({ ...journal, [field]: ['fine', name] });
        expect(read, JSON.stringify(name)).toThrow(VerificationError);
        expect(read).toThrow(
          new RegExp(`: ${field}\\[1\\]: expected the name of a file(?:, perhaps in a directory)?, got `),
        );
      }
    }
  });

  it('has all its fields, of the right kind, and no others', () => {
    const { names, ...without } = journal;
    for (const [value, problem] of [
      [without, /: names: expected a list, got nothing/],
      [{ ...journal, names, more: 1 }, /: expected no field "more"/],
      [{ ...journal, phase: 'begun' }, /: phase: expected one of move-aside, move-in, moved, got "begun"/],
      [{ ...journal, byteLengths: [-1] }, /: byteLengths\[0\]: expected a whole number/],
      [{ ...journal, intoExisting: 1 }, /: intoExisting: expected true or false, got 1/],
      [{ ...journal, bytes: 1e300 }, /: bytes: expected a whole number/],
    ] as const) {
      write(value);
      expect(read).toThrow(VerificationError);
      expect(read).toThrow(problem);
    }
  });

  it('tells of as many outputs as have names and lengths, and of no file that is not of a shard', () => {
    const file = { ...journal, intoExisting: false, names: [], byteLengths: [2 ** 50], replaced: [] };
    write(file);
    expect(read()).toEqual(file);
    for (const [value, problem] of [
      [{ ...journal, byteLengths: [1] }, /: expected as many lengths as outputs, got 1 and 2 names;/],
      [{ ...file, byteLengths: [] }, /: expected as many lengths as outputs, got 0 and 0 names;/],
      [{ ...file, intoExisting: true }, /: expected replaced files only in a directory/],
      [{ ...journal, intoExisting: false }, /: expected replaced files only in a directory/],
      [{ ...journal, names: [...journal.names].reverse() }, /: names\[0\]: expected the name of shard 0 of 2;/],
      [{ ...journal, names: ['a', 'b'] }, /: names\[0\]: expected the name of shard 0 of 2;/],
      [
        { ...journal, replaced: ['shard-00000-of-00002', 'precious'] },
        /: replaced\[1\]: expected the name of a former/,
      ],
      [{ ...journal, replaced: ['a-00000-of-00001', 'a-00000-of-00001'] }, /: it has a name twice;/],
    ] as const) {
      write(value);
      expect(read).toThrow(VerificationError);
      expect(read).toThrow(problem);
    }
  });

  it('of whatever is in it, is read or told to be damaged', () => {
    const field = fc.constantFrom(...Object.keys(journal), '__proto__', 'constructor');
    fc.assert(
      fc.property(fc.dictionary(field, fc.jsonValue()), (fields) => {
        write({ ...journal, ...fields });
        let value: CommitJournal | undefined;
        try {
          value = read();
        } catch (error) {
          expect(error).toBeInstanceOf(VerificationError);
          return;
        }
        for (const name of [...(value?.names ?? []), ...(value?.replaced ?? [])])
          expect(name).not.toMatch(/^\.{0,2}$|\//);
      }),
    );
  });
});
