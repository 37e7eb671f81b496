/**
 * One job holds a directory at a time, whatever happens: real processes and threads that hold it, end, are killed and
 * stopped, and locks of processes on other systems.
 */
import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdirSync, readdirSync, readFileSync, statSync, utimesSync, writeFileSync } from 'node:fs';
import { basename } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { Worker } from 'node:worker_threads';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { PileshufError, UsageError } from '#src/errors.js';
import { type FileCalls, systemFileCalls } from '#src/io/file-calls.js';
import { acquireJobLock, findJobHolder, type JobLock, looksLikeLock } from '#src/job-directory/job-lock.js';
import { type FileOwner, formatOwnerName, identifyThisProcess } from '#src/machine/file-owner.js';
import { caseSeed } from '../fixtures/draws.js';
import { failWith, useFileCalls } from '../fixtures/replaced-file-calls.js';
import { sampled } from '../fixtures/scale.js';
import { useTestDirectory } from '../fixtures/temp-directory.js';

const directory = useTestDirectory();
const fileCalls = useFileCalls();
const { pid: endedPid } = spawnSync(process.execPath, ['-e', '']);
const hasProc = process.platform === 'linux';
const holderProgram = fileURLToPath(new URL('lock-holder.mjs', import.meta.url));
const rivalProgram = fileURLToPath(new URL('lock-rival.mjs', import.meta.url));

const job = () => directory.path('job');
const lockNames = () => readdirSync(job()).filter(looksLikeLock);
const locks: JobLock[] = [];
const children: ChildProcess[] = [];

beforeEach(() => mkdirSync(job(), { mode: 0o700 }));
afterEach(() => {
  // Those of this process would count in no other test, but for their directory.
  for (const lock of locks.splice(0)) lock.release();
  for (const child of children.splice(0)) child.kill('SIGKILL');
});

function acquire(): JobLock {
  const lock = acquireJobLock(job());
  locks.push(lock);
  return lock;
}

function locked(message: RegExp): unknown {
  return expect.objectContaining({ code: 'ERR_JOB_LOCKED', message: expect.stringMatching(message) });
}

/** Starts a program and waits for the first line it says. */
async function startChild(program: string, args: readonly string[]) {
  const child = spawn(program, args, { stdio: ['ignore', 'pipe', 'inherit'] });
  children.push(child);
  const ended = once(child, 'exit');
  const [line] = await once(createInterface(child.stdout), 'line');
  return { pid: child.pid ?? 0, kill: (signal: NodeJS.Signals) => child.kill(signal), line: String(line), ended };
}

const startHolder = () => startChild(process.execPath, [holderProgram, job()]);

/** Makes a lock of another holder: like this thread's, except for the given fields. */
function plantLock(changes: Partial<FileOwner>): string {
  const owner = { ...identifyThisProcess(), threadId: 0, token: '0123456789abcdef', ...changes };
  const path = directory.path('job', formatOwnerName('lock', owner));
  writeFileSync(path, '', { mode: 0o600 });
  utimesSync(path, 0, new Date('2026-01-31T12:00:00Z'));
  return path;
}

describe('looksLikeLock', () => {
  it('tells locks, also of other versions, from other files', () => {
    for (const name of ['lock', 'lock+', 'lock.pid', 'lock+host+1']) expect(looksLikeLock(name)).toBe(true);
    for (const name of ['manifest', 'set-000000.index', 'unlock']) expect(looksLikeLock(name)).toBe(false);
  });
});

describe('acquireJobLock', () => {
  it('makes one file that only its owner can open, and takes it away', () => {
    const umask = process.umask(0);
    let lock: JobLock;
    try {
      lock = acquire();
    } finally {
      process.umask(umask);
    }
    expect(lock.staleHolders).toEqual([]);
    const [name = ''] = lockNames();
    expect(lockNames()).toHaveLength(1);
    expect(statSync(directory.path('job', name)).mode & 0o777).toBe(0o600);
    lock.release();
    expect(readdirSync(job())).toEqual([]);
    lock.release();
  });

  it('refuses a second job of the same process until the first has released it', () => {
    const first = acquire();
    expect(acquire).toThrow(UsageError);
    expect(acquire).toThrow(locked(new RegExp(`is held by process ${process.pid} on .*; wait for it or stop it$`)));
    expect(lockNames()).toHaveLength(1);
    first.release();
    const second = acquire();
    // Once more is once too often: the directory has a new holder.
    first.release();
    expect(acquire).toThrow(UsageError);
    second.release();
    expect(acquire().staleHolders).toEqual([]);
  });
});

describe('acquireJobLock, beside real processes', () => {
  it('refuses what a live one holds, stopped or not, and takes over when it is killed', async () => {
    const holder = await startHolder();
    expect(holder.line).toBe('held');
    const [name = ''] = lockNames();
    for (const signal of ['SIGCONT', 'SIGSTOP'] as const) {
      holder.kill(signal);
      expect(acquire).toThrow(
        locked(
          new RegExp(
            `^the job in ${job()} is held by process ${holder.pid} on \\S+ since ` +
              '20\\d\\d-\\d\\d-\\d\\dT\\d\\d:\\d\\d:\\d\\d\\.\\d\\d\\dZ; wait for it or stop it$',
          ),
        ),
      );
      expect(findJobHolder(job())).toMatchObject({ pid: holder.pid });
      expect(lockNames()).toEqual([name]);
    }
    holder.kill('SIGKILL');
    await holder.ended;
    expect(findJobHolder(job())).toBeUndefined();
    expect(lockNames()).toEqual([name]);
    expect(acquire().staleHolders).toMatchObject([{ pid: holder.pid, path: directory.path('job', name) }]);
    expect(lockNames()).toHaveLength(1);
    expect(lockNames()).not.toEqual([name]);
  });

  it.runIf(hasProc)('takes over from one that was killed and that nobody waits for', async () => {
    // The shell becomes a program that never asks what became of its child.
    const script = '"$0" "$1" "$2" & exec sleep 60';
    await startChild('/bin/sh', ['-c', script, process.execPath, holderProgram, job()]);
    const pid = findJobHolder(job())?.pid ?? 0;
    process.kill(pid, 'SIGKILL');
    const state = () => readFileSync(`/proc/${pid}/stat`, 'utf8').replace(/^.*\) /s, '')[0];
    while (state() !== 'Z') await new Promise((resolve) => setTimeout(resolve, 2));
    expect(acquire().staleHolders).toMatchObject([{ pid }]);
    expect(state()).toBe('Z');
  });

  it('refuses a thread what another thread of the process holds', async () => {
    const firstWord = async (worker: Worker) => (await once(worker, 'message'))[0];
    const lock = acquire();
    const refused = new Worker(holderProgram, { workerData: job() });
    expect(await firstWord(refused)).toMatch(new RegExp(`^the job in .* is held by process ${process.pid} `));
    lock.release();

    const holder = new Worker(holderProgram, { workerData: job() });
    expect(await firstWord(holder)).toBe('held');
    expect(acquire).toThrow(locked(new RegExp(`is held by process ${process.pid} `)));
    holder.postMessage('release');
    expect(await firstWord(holder)).toBe('released');
    expect(acquire().staleHolders).toEqual([]);
    await Promise.all([refused.terminate(), holder.terminate()]);
  });
});

describe('acquireJobLock, beside locks that were left', () => {
  const otherBoot = '00000000-0000-4000-8000-000000000000';

  it.each([
    ['of a process that has ended', { pid: endedPid }],
    ['of a process of another number of this name', { pid: process.ppid, startTicks: '1' }],
    ['of a former process with the number of this one', { startTicks: '1' }],
    ['of before this host was started again', { bootId: otherBoot, pid: process.ppid }],
    ['of before this host was started again, in a container', { bootId: otherBoot, pidNamespace: '7' }],
    ['of this thread, which does not hold it', {}],
  ])('takes over one %s', (_, changes) => {
    if (!hasProc && ('bootId' in changes || 'startTicks' in changes)) return;
    const path = plantLock(changes);
    expect(findJobHolder(job())).toBeUndefined();
    expect(existsSync(path)).toBe(true);
    const lock = acquire();
    expect(lock.staleHolders).toMatchObject([{ path, since: '2026-01-31T12:00:00.000Z' }]);
    expect(lockNames()).toHaveLength(1);
    lock.release();
    expect(lockNames()).toEqual([]);
  });

  it.each([
    ['on another host', { host: 'elsewhere', pid: endedPid }],
    ['on another host that was started at another time', { host: 'elsewhere', bootId: otherBoot }],
    ['in another container', { pidNamespace: '7', pid: endedPid }],
    ['that says not when its host was started', { bootId: undefined, pid: endedPid }],
    ['that says not in which container', { pidNamespace: undefined, pid: endedPid }],
    ['in another thread', { threadId: 99 }],
  ])('refuses to judge one %s', (_, changes) => {
    if (!hasProc && Object.values(changes).includes(undefined)) return;
    const path = plantLock(changes);
    for (const attempt of [1, 2]) {
      expect(acquire, `${attempt}`).toThrow(UsageError);
      expect(acquire).toThrow(
        locked(
          /^the job in .* is held by process \d+ on \S+ since 2026-01-31T12:00:00\.000Z, which cannot be seen from here; /,
        ),
      );
    }
    expect(acquire).toThrow(`; wait for it or stop it, or remove ${path} if it has ended`);
    expect(findJobHolder(job())).toMatchObject({ path });
    expect(lockNames()).toEqual([basename(path)]);
  });

  it('leaves what is left over to the job that gets the directory', () => {
    const leftOver = plantLock({ pid: endedPid });
    const foreign = plantLock({ host: 'elsewhere' });
    expect(acquire).toThrow(UsageError);
    expect(lockNames().sort()).toEqual([basename(leftOver), basename(foreign)].sort());
  });

  it('refuses a lock that no job has made, and names it', () => {
    writeFileSync(directory.path('job', 'lock+x'), '');
    for (const look of [acquire, () => findJobHolder(job())]) {
      expect(look).toThrow(UsageError);
      expect(look).toThrow(locked(/^\S*\/job\/lock\+x may be the lock of a job, .*; remove it if no job uses the dir/));
    }
    expect(lockNames()).toEqual(['lock+x']);
  });
});

describe('acquireJobLock, when calls fail', () => {
  it('leaves no lock that counts, whichever call it is', () => {
    for (const call of ['open', 'close', 'list', 'lstat', 'unlink'] as const) {
      plantLock({ pid: endedPid });
      const fail: Partial<FileCalls> = { [call]: failWith('EIO') };
      // The descriptor is closed whatever the call says.
      if (call === 'close') {
        fail.close = (fd) => {
          systemFileCalls.close(fd);
          failWith('EIO')();
        };
      }
      fileCalls.replace(fail);
      expect(acquire, call).toThrow(PileshufError);
      fileCalls.replace({});
      // What could not be taken away is taken over.
      const lock = acquire();
      expect(lock.staleHolders.length, call).toBe(call === 'unlink' ? 2 : 1);
      expect(lockNames()).toHaveLength(1);
      lock.release();
    }
  });

  it('does not count a lock that goes away while it looks', () => {
    const path = plantLock({ host: 'elsewhere' });
    fileCalls.replace({
      list(listed) {
        const entries = systemFileCalls.list(listed);
        systemFileCalls.unlink(path);
        return entries;
      },
    });
    expect(acquire().staleHolders).toEqual([]);
  });

  it('does not take over from a job that releases its lock and ends while it looks', () => {
    const path = plantLock({ pid: endedPid });
    fileCalls.replace({
      lstat(examined) {
        const stat = systemFileCalls.lstat(examined);
        if (examined === path) systemFileCalls.unlink(path);
        return stat;
      },
    });
    expect(acquire().staleHolders).toEqual([]);
  });
});

describe('many processes that want one directory', () => {
  it.each(
    sampled(
      [
        ['', 20, 3, 1e9],
        [', some of which are killed while they hold it', 20, 6, 8],
      ],
      2,
      1,
    ),
  )('have it one at a time%s', async (_, processCount, times, killedOnceOf) => {
    const witness = directory.path('witness');
    const args = [rivalProgram, job(), witness, `${times}`, `${killedOnceOf}`];
    const ends = await Promise.all(
      Array.from({ length: processCount }, async (_, i) => {
        const child = spawn(process.execPath, [...args, `${caseSeed} ${i}`], { stdio: ['ignore', 'ignore', 'pipe'] });
        children.push(child);
        let complaints = '';
        child.stderr.on('data', (bytes) => {
          complaints += bytes;
        });
        const [exitCode, signal] = await once(child, 'close');
        return { exitCode, signal, complaints };
      }),
    );
    const killed = ends.filter(({ signal }) => signal === 'SIGKILL');
    const done = ends.filter(({ signal }) => signal !== 'SIGKILL');
    expect(done).toEqual(done.map(() => ({ exitCode: 0, signal: null, complaints: '' })));

    const log = existsSync(`${witness}.log`) ? readFileSync(`${witness}.log`, 'utf8').trim().split('\n') : [];
    expect(log.length).toBeGreaterThanOrEqual(done.length * times + killed.length);
    if (killedOnceOf > 1e6) {
      expect(killed).toEqual([]);
      expect(log).toHaveLength(processCount * times);
    }
    // The lock of each killed process is taken over once: by one of the others, or now.
    const takenOver = log.reduce((sum, line) => sum + Number(line.split(' ')[1]), 0);
    expect(takenOver + acquire().staleHolders.length).toBe(killed.length);
    expect(lockNames()).toHaveLength(1);
  });
});
