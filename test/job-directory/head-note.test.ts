/** The note of the head: what is written comes back, and nothing else does. */
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { beforeEach, describe, expect, it } from 'vitest';
import { VerificationError } from '#src/errors.js';
import { type HeadNote, readHeadNote, writeHeadNote } from '#src/job-directory/notes.js';
import { useTestDirectory } from '../fixtures/temp-directory.js';

const directory = useTestDirectory();
const path = (...names: string[]) => directory.path('job', ...names);
beforeEach(() => mkdirSync(path()));

const note: HeadNote = { pile: 3, records: 7, recordBytes: 70, checksum: '00000000000000ff', longestRecordBytes: 12 };

describe('the note of the head', () => {
  it('comes back as it was written', async () => {
    expect(readHeadNote(path())).toBe(undefined);
    await writeHeadNote(path(), note);
    expect(readdirSync(path())).toEqual(['head']);
    expect(readHeadNote(path())).toEqual(note);
  });

  it('is refused where a byte of it is another', async () => {
    await writeHeadNote(path(), note);
    const bytes = readFileSync(path('head'));
    for (let at = 0; at < bytes.byteLength; at++) {
      const damaged = Buffer.from(bytes);
      damaged.writeUInt8((damaged[at] ?? 0) ^ 1, at);
      writeFileSync(path('head'), damaged);
      expect(() => readHeadNote(path()), `byte ${at}`).toThrow(VerificationError);
    }
  });
});
