/** Counting the output of strace: the calls on the data, and the bytes that they moved. */
import { spawnSync } from 'node:child_process';
import { realpathSync, writeFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { countCalls, readTracedCalls, traced } from '../../bench/traced-calls.mjs';
import { useTestDirectory } from '../fixtures/temp-directory.js';
import { reasonNotToTrace } from '../regress/traced-calls.js';

const directory = useTestDirectory();

describe('countCalls', () => {
  it('counts the calls of all threads, and the bytes of those on the data', () => {
    const thread1 = [
      'openat(AT_FDCWD</data>, ""..., O_RDONLY|O_CLOEXEC) = 17</data/part-0.txt>',
      'openat(AT_FDCWD</data>, ""..., O_RDONLY|O_CLOEXEC) = -1 ENOENT (No such file or directory)',
      'pread64(17</data/part-0.txt>, ""..., 1048576, 0) = 1000',
      'read(17</data/part-0.txt>, ""..., 1048576) = 0',
      'read(20</usr/lib/module.js>, ""..., 8192) = 700',
      'write(9<anon_inode:[eventfd]>, ""..., 8) = 8',
      '',
    ];
    const thread2 = [
      'pwrite64(18</data/tmp/0>, ""..., 4096, 8192) = 4096',
      'pwrite64(19</data/tmp/1>(deleted), ""..., 4096, 0) = 200',
      'pwrite64(19</data/tmp/1>, ""..., 4096, 0) = -1 EINTR (Interrupted system call)',
      'pwrite64(19</database/1>, ""..., 4096, 0) = 4096',
    ];
    expect(countCalls([thread1.join('\n'), thread2.join('\n')], '/data')).toEqual({
      opens: 2,
      dataReads: 2,
      dataWrites: 3,
      dataReadBytes: 1000,
      dataWrittenBytes: 4296,
    });
  });
});

describe('traced', () => {
  it.skipIf(reasonNotToTrace)('sees what a command reads and writes', () => {
    writeFileSync(directory.path('in'), Buffer.alloc(4096));
    const command = traced('dd if=in of=copy bs=1024 status=none');
    const { status, stderr } = spawnSync('bash', ['-c', command], { cwd: directory.path(), encoding: 'utf8' });
    expect({ status, stderr }).toEqual({ status: 0, stderr: '' });
    const calls = readTracedCalls(realpathSync(directory.path()));
    // The fifth read finds the end.
    expect(calls).toMatchObject({ dataReads: 5, dataWrites: 4, dataReadBytes: 4096, dataWrittenBytes: 4096 });
    expect(calls?.opens).toBeGreaterThan(2);
  });

  it('is null where nothing was traced', () => {
    expect(readTracedCalls(directory.path())).toBeNull();
  });
});
