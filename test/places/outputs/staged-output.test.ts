/**
 * The output between its first byte and its appearance: regions that do not tile it and wrong sizes are refused,
 * nothing is visible before the commit, and the commit is all or nothing.
 */
import { existsSync, mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { beforeEach, describe, expect, it } from 'vitest';
import { SystemError, VerificationError } from '#src/errors.js';
import { JobControl, UNGATED } from '#src/floor/job-control.js';
import { systemFileCalls } from '#src/io/file-calls.js';
import type { WrittenRegion } from '#src/job-directory/notes.js';
import { readJournal } from '#src/places/outputs/commit-journal.js';
import type { Destination } from '#src/places/outputs/destination.js';
import { LOCAL_PLACES_ONLY } from '#src/places/outputs/output-kinds.js';
import { type OutputSummary, StagedOutput } from '#src/places/outputs/staged-output.js';
import type { OutputLayout } from '#src/sinks/output-layout.js';
import { NO_PLAIN_ENDS, type PlainEnds, storedEnds } from '#src/sinks/output-layout.js';
import { stagedPath } from '#src/sinks/output-target.js';
import { failWith, useFileCalls } from '../../fixtures/replaced-file-calls.js';
import { useTestDirectory } from '../../fixtures/temp-directory.js';

const naming = { prefixes: ['shard'], extension: '.txt' };
const layoutOf = (shardCount: number, recordBytes: number, ends = NO_PLAIN_ENDS): OutputLayout => ({
  kind: 'placed',
  cuts: { by: 'rank', shardCount, totalRecords: 100 },
  ends: storedEnds(ends, undefined),
  recordBytes,
  compression: undefined,
});
const summaryOf = (shardCount: number, bytes: number) => ({
  shardCount,
  records: 2,
  bytes,
  checksum: '00000000000000ab',
  splits: undefined,
});

function region(start: number, end: number, shard = 0): WrittenRegion {
  return { shard, start, end, recordBytes: end - start, checksum: '', sum: undefined, uploaded: undefined };
}

const control = JobControl.create([], 0);

describe('StagedOutput', () => {
  const directory = useTestDirectory();
  const fileCalls = useFileCalls();
  const staging = (...names: string[]) => directory.path('staging', ...names);
  const out = (...names: string[]) => directory.path('out', ...names);

  beforeEach(() => {
    safeCount = 0;
    for (const name of ['staging', 'job']) mkdirSync(directory.path(name), { mode: 0o700 });
  });

  /** How often the job directory was made durable for the moves. */
  let safeCount = 0;

  /** An output that commits as the job does it. */
  class CommittedOutput extends StagedOutput {
    isResumable = false;
    place = LOCAL_PLACES_ONLY.reopen({ kind: 'file', path: '', mayReplace: false });

    async commit(summary: OutputSummary, by: JobControl): Promise<readonly string[]> {
      const moves = await this.prepareCommit(summary, by);
      expect(journal()).toBeUndefined();
      if (this.isResumable || !this.place.isPublishedAtOnce) {
        if (!this.isResumable) safeCount += 1;
        await this.journalMoves(moves);
      }
      return this.commitMoves(moves);
    }
  }

  function outputAt(to: Destination, isResumable: boolean, gate = UNGATED): CommittedOutput {
    const place = LOCAL_PLACES_ONLY.reopen(to);
    return Object.assign(new CommittedOutput(place, directories(), gate), { isResumable, place });
  }
  const directories = () => ({ stagingDirectory: staging(), jobDirectory: directory.path('job') });
  const journal = () => readJournal(directory.path('job'));

  function fileOutput(mayReplace = false, isResumable = false): CommittedOutput {
    return outputAt({ kind: 'file', path: out(), mayReplace }, isResumable);
  }

  function shardsOutput(exists: boolean, mayReplace = false, isResumable = false): CommittedOutput {
    return outputAt({ kind: 'shards', path: out(), exists, naming, mayReplace }, isResumable);
  }

  /** Writes the staged files as the tasks of pass 2 would. */
  function stage(...contents: string[]): void {
    for (const [shard, content] of contents.entries()) writeFileSync(stagedPath(staging(), shard), content);
  }

  /** Names and contents of the files in the output directory. */
  const shown = () => Object.fromEntries(readdirSync(out()).map((name) => [name, readFileSync(out(name), 'utf8')]));

  it.each<[string, WrittenRegion[], string]>([
    ['a gap', [region(0, 4), region(5, 10)], 'written up to byte 4 and from byte 5 on'],
    ['an overlap', [region(0, 5), region(4, 10)], 'written up to byte 5 and from byte 4 on'],
    ['less than is on disk', [region(0, 9)], 'has 10 bytes on disk, expected 9'],
    ['more than is on disk', [region(0, 11)], 'has 10 bytes on disk, expected 11'],
  ])('refuses %s', (_, regions, message) => {
    const output = fileOutput();
    stage('0123456789');
    const verify = () => output.verify(layoutOf(1, 10), regions);
    expect(verify).toThrow(VerificationError);
    expect(verify).toThrow(message);
  });

  it('accepts regions that tile every shard, in any order, and refuses another total', () => {
    const output = shardsOutput(false);
    stage('0123456789', 'abc');
    const regions = [region(3, 10), region(0, 3, 1), region(0, 3)];
    expect(() => output.verify(layoutOf(2, 13), regions)).not.toThrow();
    expect(() => output.verify(layoutOf(2, 12), regions)).toThrow('13 bytes were written, expected 12');
    expect(() => output.verify(layoutOf(2, 14), regions)).toThrow(VerificationError);
  });

  it('refuses a split that has more or less than its records, though all are there', () => {
    const output = shardsOutput(false);
    stage('012', '3456789', 'abc');
    const regions = [region(0, 3), region(0, 7, 1), region(0, 3, 2)];
    const verify = (first: number, second: number) => () => {
      const cuts = { by: 'byte', shardCount: 1, totalBytes: 0 } as const;
      const parts = [
        { firstShard: 0, firstRank: 0, firstByte: 0, bytes: first, cuts: { ...cuts, shardCount: 2 } },
        { firstShard: 2, firstRank: 0, firstByte: first, bytes: second, cuts },
      ];
      output.verify({ ...layoutOf(3, 13), cuts: { by: 'byte', shardCount: 3, parts } }, regions);
    };
    expect(verify(10, 3)).not.toThrow();
    expect(verify(9, 4)).toThrow('part 0 of the output has 10 bytes in the shards from 0 on, expected 9');
    expect(verify(10, 4)).toThrow(VerificationError);
  });

  /** Of a shard with records of n bytes: the header `<nnn>`, the trailer `end`. */
  const ENDS: PlainEnds = {
    headerBytes: 5,
    headerOf: (recordBytes) => Buffer.from(`<${String(recordBytes).padStart(3, '0')}>`),
    trailer: Buffer.from('end'),
  };
  const textOf = (shard: number) => readFileSync(staging(`${shard}.part`), 'utf8');

  it('makes no header that would lie on the first record', async () => {
    const ends = { ...ENDS, headerOf: () => Buffer.from('longer') };
    await expect(fileOutput().complete(layoutOf(1, 0, ends), [], control)).rejects.toThrow(RangeError);
    expect(existsSync(staging('0.part'))).toBe(false);
  });

  it('drops of a compressed output what lies behind that, and nothing of one whose records have their places', async () => {
    const output = shardsOutput(false);
    const finished = [region(0, 2), region(2, 4), region(0, 3, 2)];
    const layout = layoutOf(4, 99, ENDS);
    const contents = ['<000>0123456789', 'abc', '<000>abc', ''];
    stage(...contents);
    await output.begin(layout, finished);
    expect([0, 1, 2, 3].map(textOf)).toEqual(contents);
    const compression = { codec: 'gzip', level: 6 } as const;
    expect(await output.begin({ ...layout, kind: 'appended', compression }, finished)).toMatchObject({
      kind: 'appended',
      compression,
    });
    expect([0, 1, 2, 3].map(textOf)).toEqual(['<000>0123', '', '<000>abc', '']);
    // If bytes are missing, reading back finds that; the file is not made longer.
    stage('<000>01');
    await output.begin({ ...layout, kind: 'appended', compression }, finished);
    expect(textOf(0)).toBe('<000>01');
  });

  it('requires what an earlier attempt wrote, and accepts more', () => {
    const output = shardsOutput(false);
    stage('0123456789', 'abc');
    expect(() => output.requireStaged([])).not.toThrow();
    expect(() => output.requireStaged([region(5, 10), region(0, 5), region(1, 2, 1)])).not.toThrow();
    expect(() => output.requireStaged([region(5, 11), region(0, 5)])).toThrow(VerificationError);
    expect(() => output.requireStaged([region(5, 11), region(0, 5)])).toThrow(
      /0\.part has 10 bytes, expected at least the 11 that the unfinished job wrote; give `force` without `resume`/,
    );
    expect(() => output.requireStaged([region(0, 1, 2)])).toThrow(/2\.part has 0 bytes, expected at least the 1 /);
  });

  it('makes durable what was written, each file once, and says which it cannot', async () => {
    const output = shardsOutput(false);
    stage('a', 'b', 'c');
    const synced: number[] = [];
    fileCalls.replace({ syncAsync: async (fd) => void synced.push(Number(systemFileCalls.statOpen(fd).ino)) });
    await output.makeDurable([region(0, 1), region(0, 1, 2), region(1, 1)]);
    // Their names are made durable in turn.
    expect(synced).toEqual([staging('0.part'), staging('2.part'), staging()].map((path) => statSync(path).ino));
    fileCalls.replace({ syncAsync: async () => failWith('EIO')() });
    await expect(output.makeDurable([region(0, 1, 1)])).rejects.toThrow(/^cannot sync output .*\/1\.part: the device/);
  });

  it.each([false, true])(
    'makes all bytes durable before it notes or shows anything: resumable %s',
    async (resumable) => {
      mkdirSync(out());
      const output = shardsOutput(true, false, resumable);
      stage('a', 'b');
      const isShown = () => journal() !== undefined || readdirSync(out()).length > 0;
      const syncedBefore: number[] = [];
      const inodes = [0, 1].map((shard) => Number(statSync(staging(`${shard}.part`)).ino));
      fileCalls.replace({
        async syncAsync(fd) {
          const inode = Number(systemFileCalls.statOpen(fd).ino);
          if (inodes.includes(inode)) syncedBefore.push(inode);
          if (inodes.includes(inode)) expect(isShown()).toBe(false);
        },
      });
      await output.commit(summaryOf(2, 2), control);
      expect(syncedBefore.toSorted()).toEqual(inodes.toSorted());
    },
  );

  it.each([
    ['one file', false, (isResumable: boolean) => fileOutput(false, isResumable)],
    ['a new directory', false, (isResumable: boolean) => shardsOutput(false, false, isResumable)],
    ['a directory that exists', true, (isResumable: boolean) => shardsOutput(true, false, isResumable)],
  ])('notes the moves when a later attempt must know of them: %s', async (_, exists, open) => {
    for (const isResumable of [false, true]) {
      if (exists) mkdirSync(out(), { recursive: true });
      const output = open(isResumable);
      stage('a');
      fileCalls.replace({ link: failWith('ENOSPC'), rename: renameWithin(directory.path('job')) });
      await expect(output.commit(summaryOf(1, 1), control)).rejects.toThrow(SystemError);
      fileCalls.replace({});
      // A job that cannot be resumed makes safe what the note relies on.
      expect(safeCount).toBe(exists ? 1 : 0);
      // Moves into a directory that exists were taken back, which needs no note.
      expect(journal() !== undefined).toBe(isResumable && !exists);
      expect(existsSync(out('shard-00000-of-00001.txt'))).toBe(false);
    }
  });

  it('finishes nothing that was noted of other outputs', async () => {
    const noted = {
      outputIdentity: 'out',
      phase: 'move-aside',
      intoExisting: false,
      replaced: [],
      records: 1,
      bytes: 1,
      splits: undefined,
      sums: undefined,
      emptyShards: undefined,
      beside: undefined,
    } as const;
    const checksum = '00000000000000ab';
    const one = { ...noted, checksum, names: [], byteLengths: [1] };
    const shards = { ...noted, checksum, names: ['shard-00000-of-00001.txt'], byteLengths: [1] };
    const others = { ...shards, names: ['other-00000-of-00001.txt'] };
    for (const [output, journalOfOthers] of [
      [shardsOutput(false), one],
      [shardsOutput(false), others],
      [fileOutput(), shards],
    ] as const) {
      stage('a');
      await expect(output.finishMoves(journalOfOthers)).rejects.toThrow(
        /\/commit is damaged: expected the outputs of /,
      );
      expect(existsSync(out())).toBe(false);
    }
  });

  it('says where former shards are that it could not put back, and keeps the note of the moves', async () => {
    mkdirSync(out());
    writeFileSync(out('shard-00000-of-00001.txt'), 'former');
    const output = shardsOutput(true, true);
    stage('a', 'b');
    fileCalls.replace({
      link(from, to) {
        if (dirname(to) === out()) failWith('EIO')();
        systemFileCalls.link(from, to);
      },
    });
    const committed = output.commit(summaryOf(2, 2), control);
    await expect(committed).rejects.toThrow(SystemError);
    await expect(committed).rejects.toThrow(
      /; the former shards could not all be put back \(cannot give its name .*\): they are in .*\/staging\/replaced$/,
    );
    expect(readFileSync(staging('replaced', 'shard-00000-of-00001.txt'), 'utf8')).toBe('former');
    expect(journal()?.phase).toBe('move-aside');
  });

  it('leaves the output where it is when only former shards could not be removed', async () => {
    mkdirSync(out());
    writeFileSync(out('shard-00000-of-00001.txt'), 'former');
    const output = shardsOutput(true, true);
    stage('a', 'b');
    fileCalls.replace({ removeDirectory: failWith('EIO') });
    expect(await output.commit(summaryOf(2, 2), control)).toHaveLength(2);
    const complete = () => {
      expect(shown()).toMatchObject({ 'shard-00000-of-00002.txt': 'a', 'shard-00001-of-00002.txt': 'b' });
      expect(Object.keys(shown())).toHaveLength(3);
    };
    complete();
    expect(existsSync(staging('replaced'))).toBe(true);
    const noted = journal();
    expect(noted?.phase).toBe('moved');
    fileCalls.replace({});
    if (noted !== undefined) await output.finishMoves(noted);
    complete();
    expect(existsSync(staging('replaced'))).toBe(false);
  });

  it('is written directly only where shards are large, and not in memory', async () => {
    const place = { kind: 'shards', path: out(), exists: false, naming, mayReplace: false } as const;
    const begin = (gate: number, shardCount: number, bytes: number) =>
      outputAt(place, false, gate).begin(layoutOf(shardCount, bytes), []);
    expect(await begin(0, 1, 2 ** 20)).toMatchObject({ direct: true });
    expect(await begin(0, 2, 2 ** 20)).toMatchObject({ direct: false });
    expect(await begin(0, 1, 2 ** 20 - 1)).toMatchObject({ direct: false });
    expect(await begin(UNGATED, 1, 2 ** 20)).toMatchObject({ direct: false });
  });
});

/** A rename that fails but inside of one directory. */
function renameWithin(directory: string) {
  return (from: string, to: string) => {
    if (dirname(to) !== directory) failWith('ENOSPC')();
    systemFileCalls.rename(from, to);
  };
}
