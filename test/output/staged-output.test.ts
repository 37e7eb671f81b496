/**
 * The output between its first byte and its appearance: regions that do not tile it and sizes that do
 * not fit are refused, nothing is visible before the commit, the commit is all or nothing, and nothing
 * stays behind.
 */
import fs, { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { syncBuiltinESMExports } from 'node:module';
import { describe, expect, it, vi } from 'vitest';
import { AbortedError, UsageError, VerificationError } from '#src/errors.js';
import { JobControl, UNGATED } from '#src/io/job-control.js';
import { type OutputTarget, stagedPath, type WrittenRegion } from '#src/output/output-target.js';
import { StagedOutput } from '#src/output/staged-output.js';
import { useTestDirectory } from '../fixtures/temp-directory.js';

const naming = { prefix: 'shard', extension: '.txt' };
const cutsOf = (shardCount: number) => ({ by: 'rank' as const, shardCount, totalRecords: 100 });

function region(start: number, end: number, shard = 0): WrittenRegion {
  return { shard, start, end };
}

const control = JobControl.create([], 0);

describe('StagedOutput', () => {
  const directory = useTestDirectory();

  function fileOutput(mayReplace = false): StagedOutput {
    return new StagedOutput({ kind: 'file', path: directory.path('out'), mayReplace }, UNGATED);
  }

  function shardsOutput(exists: boolean, mayReplace = false): StagedOutput {
    return new StagedOutput({ kind: 'shards', path: directory.path('out'), exists, naming, mayReplace }, UNGATED);
  }

  /** Writes the staged files as the tasks of pass 2 would. */
  function stage(output: StagedOutput, ...contents: string[]): void {
    const target: OutputTarget = output.target(cutsOf(contents.length), contents.join('').length);
    if (target.kind !== 'files') throw new TypeError('staged outputs are files');
    for (const [shard, content] of contents.entries()) {
      writeFileSync(stagedPath(target.stagingDirectory, shard), content);
    }
  }

  const visible = () => readdirSync(directory.path()).filter((name) => name !== 'temp' && !name.startsWith('.'));

  it.each<[string, WrittenRegion[], string]>([
    ['a gap', [region(0, 4), region(5, 10)], 'was written up to byte 4 and from byte 5 on'],
    ['an overlap', [region(0, 5), region(4, 10)], 'was written up to byte 5 and from byte 4 on'],
    ['a missing beginning', [region(1, 10)], 'was written up to byte 0 and from byte 1 on'],
    ['a region twice', [region(0, 10), region(0, 10)], 'was written up to byte 10 and from byte 0 on'],
    ['less than is on disk', [region(0, 9)], 'has 10 bytes on disk, expected 9'],
    ['more than is on disk', [region(0, 11)], 'has 10 bytes on disk, expected 11'],
  ])('refuses %s', (_, regions, message) => {
    const output = fileOutput();
    stage(output, '0123456789');
    const verify = () => output.verify(regions, 1, 10);
    expect(verify).toThrow(VerificationError);
    expect(verify).toThrow(message);
    output.release();
  });

  it('accepts regions that tile every shard, in any order, and refuses another total', () => {
    const output = shardsOutput(false);
    stage(output, '0123456789', 'abc');
    const regions = [region(3, 10), region(0, 3, 1), region(0, 3)];
    expect(() => output.verify(regions, 2, 13)).not.toThrow();
    expect(() => output.verify(regions, 2, 12)).toThrow('13 bytes were written, expected 12');
    expect(() => output.verify(regions, 2, 14)).toThrow(VerificationError);
    output.release();
  });

  it('shows one file when it is committed, and not before', async () => {
    const output = fileOutput();
    stage(output, 'bytes');
    expect(visible()).toEqual([]);
    output.verify([region(0, 5)], 1, 5);
    expect(await output.commit(1, control)).toEqual([]);
    output.release();
    expect(readFileSync(directory.path('out'), 'utf8')).toBe('bytes');
    expect(readdirSync(directory.path()).toSorted()).toEqual(['out', 'temp']);
  });

  it('shows nothing when it is let go of', () => {
    for (const open of [() => fileOutput(), () => shardsOutput(false)]) {
      const output = open();
      stage(output, 'bytes');
      output.release();
      expect(readdirSync(directory.path())).toEqual(['temp']);
    }
  });

  it('makes the shards that nobody wrote, and names all of them in order', async () => {
    const output = shardsOutput(false);
    stage(output, 'a', 'b');
    output.verify([region(0, 1), region(0, 1, 1)], 4, 2);
    const paths = await output.commit(4, control);
    output.release();
    expect(paths).toEqual([0, 1, 2, 3].map((shard) => directory.path('out', `shard-0000${shard}-of-00004.txt`)));
    expect(paths.map((path) => readFileSync(path, 'utf8'))).toEqual(['a', 'b', '', '']);
    expect(readdirSync(directory.path('out'))).toHaveLength(4);
  });

  it('leaves a file that appeared meanwhile alone', async () => {
    const output = fileOutput();
    stage(output, 'bytes');
    writeFileSync(directory.path('out'), 'mine');
    await expect(output.commit(1, control)).rejects.toThrow(UsageError);
    output.release();
    expect(readFileSync(directory.path('out'), 'utf8')).toBe('mine');
  });

  it('leaves shards that appeared meanwhile alone, and adds none of its own', async () => {
    mkdirSync(directory.path('out'));
    const output = shardsOutput(true);
    stage(output, 'a', 'b');
    writeFileSync(directory.path('out', 'shard-00001-of-00002.txt'), 'mine');
    await expect(output.commit(2, control)).rejects.toMatchObject({ code: 'ERR_OUTPUT_EXISTS' });
    output.release();
    expect(readdirSync(directory.path('out'))).toEqual(['shard-00001-of-00002.txt']);
    expect(readFileSync(directory.path('out', 'shard-00001-of-00002.txt'), 'utf8')).toBe('mine');
  });

  it('replaces by force all shards of the prefix, also of another count, and no other file', async () => {
    mkdirSync(directory.path('out'));
    for (const name of ['shard-00000-of-00002.txt', 'shard-00002-of-00003.csv', 'other-00000-of-00001.txt', 'note']) {
      writeFileSync(directory.path('out', name), 'old');
    }
    const output = shardsOutput(true, true);
    stage(output, 'a', 'b');
    await output.commit(2, control);
    output.release();
    const files = readdirSync(directory.path('out')).toSorted();
    expect(files.map((name) => [name, readFileSync(directory.path('out', name), 'utf8')])).toEqual([
      ['note', 'old'],
      ['other-00000-of-00001.txt', 'old'],
      ['shard-00000-of-00002.txt', 'a'],
      ['shard-00001-of-00002.txt', 'b'],
    ]);
  });

  it('puts all shards back that it was to replace when one of the new ones has no place', async () => {
    mkdirSync(directory.path('out'));
    const old = ['shard-00000-of-00002.txt', 'shard-00002-of-00003.csv'];
    for (const name of old) writeFileSync(directory.path('out', name), `old ${name}`);
    const output = shardsOutput(true, true);
    stage(output, 'a', 'b');
    const missing = 'shard-00001-of-00002.txt';
    const { linkSync } = fs;
    vi.spyOn(fs, 'linkSync').mockImplementation((from, to) => {
      if (String(to).endsWith(missing)) throw Object.assign(new Error('made up'), { code: 'EIO' });
      linkSync(from, to);
    });
    syncBuiltinESMExports();
    await expect(output.commit(2, control)).rejects.toThrow(expect.objectContaining({ code: 'ERR_IO' }));
    vi.restoreAllMocks();
    syncBuiltinESMExports();
    output.release();
    expect(readdirSync(directory.path('out')).toSorted()).toEqual(old);
    for (const name of old) expect(readFileSync(directory.path('out', name), 'utf8')).toBe(`old ${name}`);
    expect(existsSync(directory.path('out', missing))).toBe(false);
  });

  it('shows nothing when the job is stopped before', async () => {
    const output = fileOutput();
    stage(output, 'bytes');
    const stopped = JobControl.create([], 0);
    stopped.abort();
    await expect(output.commit(1, stopped)).rejects.toThrow(AbortedError);
    output.release();
    expect(readdirSync(directory.path())).toEqual(['temp']);
  });

  it('does not move shards into a directory that appeared and holds something', async () => {
    const output = shardsOutput(false);
    stage(output, 'a');
    mkdirSync(directory.path('out'));
    writeFileSync(directory.path('out', 'mine'), 'mine');
    await expect(output.commit(1, control)).rejects.toMatchObject({ code: 'ERR_OUTPUT_EXISTS' });
    output.release();
    expect(readdirSync(directory.path('out'))).toEqual(['mine']);
    expect(existsSync(directory.path('out', 'shard-00000-of-00001.txt'))).toBe(false);
  });

  it('is written directly only where shards are large', () => {
    const output = shardsOutput(false);
    const direct = (shardCount: number, bytes: number) => output.target(cutsOf(shardCount), bytes);
    expect(direct(1, 16 * 2 ** 20)).toMatchObject({ direct: true });
    expect(direct(2, 16 * 2 ** 20)).toMatchObject({ direct: false });
    expect(direct(1, 16 * 2 ** 20 - 1)).toMatchObject({ direct: false });
    output.release();
  });
});
