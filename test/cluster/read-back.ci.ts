/**
 * What tasks wrote is damaged before the commit. Whoever reads it back names the file, the region, the task and the
 * command that writes it anew; nothing is published until that was run, and then it is the right output.
 */
import {
  closeSync,
  existsSync,
  openSync,
  readdirSync,
  rmSync,
  statSync,
  truncateSync,
  writeFileSync,
  writeSync,
} from 'node:fs';
import { describe, expect, it } from 'vitest';
import type { ClusterPlanOptions } from '#src/index.js';
import { clusterStatus, planCluster, shuffle } from '#src/index.js';
import { replaceFileCalls } from '#src/io/file-calls.js';
import { FaultyFileCalls } from '../faults/faulty-file-calls.js';
import { arraysOf, contentOf, runNow } from '../fixtures/run-cluster.js';
import { sampled } from '../fixtures/scale.js';
import { messageOf, smallClusterJob, THREE_TASKS } from '../fixtures/small-cluster-job.js';
import { useMemoryDirectory } from '../fixtures/temp-directory.js';

const directory = useMemoryDirectory();
const { jobDir, options, giveUp } = smallClusterJob(directory);

interface Output {
  readonly name: string;
  readonly more: Partial<ClusterPlanOptions>;
}

const OUTPUTS: readonly Output[] = [
  { name: 'one file', more: {} },
  { name: 'shards behind headers', more: { header: { lines: 1 }, shards: { by: 'count', shardCount: 2 } } },
  { name: 'gzip shards', more: { compress: { codec: 'gzip' }, shards: { by: 'count', shardCount: 4 } } },
  { name: 'a gzip file', more: { compress: { codec: 'gzip' } } },
];

interface Damage {
  readonly name: string;
  readonly make: (path: string) => void;
}

const overwrite = (path: string, bytes: Buffer, position: number) => {
  const fd = openSync(path, 'r+');
  writeSync(fd, bytes, 0, bytes.byteLength, position);
  closeSync(fd);
};
const DAMAGES: readonly Damage[] = [
  { name: 'a byte', make: (path) => overwrite(path, Buffer.of(0xa5), Math.floor(statSync(path).size / 2)) },
  { name: 'an early byte', make: (path) => overwrite(path, Buffer.of(0xa5), 20) },
  { name: 'a hole', make: (path) => overwrite(path, Buffer.alloc(40), Math.floor(statSync(path).size / 2)) },
  { name: 'a cut', make: (path) => truncateSync(path, Math.floor(statSync(path).size / 3)) },
  { name: 'no bytes', make: (path) => truncateSync(path, 0) },
  { name: 'no file', make: (path) => rmSync(path) },
];

const CASES = OUTPUTS.flatMap((output) =>
  DAMAGES.map((damage) => ({ name: `${damage.name} of ${output.name}`, output, damage })),
);

function jobOf({ more }: Output): ClusterPlanOptions {
  return { ...options(), ...more };
}

/** Does all tasks of these kinds. */
async function doAll(kinds: ReturnType<typeof arraysOf>): Promise<void> {
  for (const [kind, count] of kinds)
    for (let taskIndex = 0; taskIndex < count; taskIndex++) await runNow({ kind, jobDir: jobDir(), taskIndex });
}

/** A staged file that has bytes of records. */
function stagedFile(): string {
  const staging = readdirSync(directory.path('.')).find((name) => name.startsWith('.pileshuf-')) ?? '';
  const files = readdirSync(directory.path(staging), { recursive: true })
    .map((name) => directory.path(staging, String(name)))
    .filter((path) => path.endsWith('.part') && statSync(path).size > 50);
  return files.at(-1) ?? expect.fail('no staged file');
}

/** Runs the shuffle tasks of a message, as it says. @returns their indexes. */
async function runAgain(message: string, path: string): Promise<number[]> {
  const told =
    /^verification failed: bytes (\d+) to (\d+) of (\S+) are not what shuffle task \d+ wrote there.*; run pileshuf cluster task shuffle --job-dir (\S+) --index (?:(\d+)|I for I of ([\d, ]+)), then the (?:same with verify, then the )?commit$/.exec(
      message,
    ) ?? expect.fail(message);
  expect([told[3], told[4]]).toEqual([path, jobDir()]);
  const tasks = (told[5] ?? told[6] ?? '').split(', ').map(Number);
  for (const taskIndex of tasks) {
    const { done } = await runNow({ kind: 'shuffle', jobDir: jobDir(), taskIndex });
    expect(done).toEqual([taskIndex]);
  }
  return tasks;
}

async function expectTheLocalBytes({ more }: Output): Promise<void> {
  const { jobDir: _, tasks: __, cpusPerTask: ___, ...job } = jobOf({ name: '', more });
  await shuffle({ ...job, output: directory.path('local'), tempDirs: [directory.temp] });
  expect(contentOf(directory.path('out'))).toEqual(contentOf(directory.path('local')));
  expect(readdirSync(jobDir())).toEqual(['committed']);
  expect(readdirSync(directory.path('.')).filter((name) => name.startsWith('.pileshuf-'))).toEqual([]);
}

describe('a commit', () => {
  it.each(sampled(CASES, 5))(
    'publishes nothing with $name, and tells which task to run again',
    async ({ output, damage }) => {
      await doAll(arraysOf(await planCluster(jobOf(output), THREE_TASKS)));
      const path = stagedFile();
      damage.make(path);
      const commit = () => runNow({ kind: 'commit', jobDir: jobDir() });
      const refused = { kind: 'verification', message: expect.stringContaining(path) };
      await expect(commit()).rejects.toMatchObject(refused);
      // A scheduler tries it once more.
      await expect(commit()).rejects.toMatchObject(refused);
      expect(existsSync(directory.path('out'))).toBe(false);
      const message = await messageOf(commit());
      expect((await clusterStatus(jobDir())).state).toBe('shuffle');
      await runAgain(message, path);
      await commit();
      await expectTheLocalBytes(output);
    },
  );

  it('reads each byte of the output once', async () => {
    for (const readBack of [true, false]) {
      await doAll(arraysOf(await planCluster({ ...options(), readBack }, THREE_TASKS)));
      const watched = new FaultyFileCalls({ kind: 'kills', part: 'nothing' }, Number.POSITIVE_INFINITY, () => true);
      let readBytes = 0;
      const former = replaceFileCalls({
        ...watched.calls,
        read: (fd, ...rest) => {
          const count = watched.calls.read(fd, ...rest);
          if (watched.calls.openFiles.get(fd)?.path.endsWith('.part') === true) readBytes += count;
          return count;
        },
      });
      await runNow({ kind: 'commit', jobDir: jobDir() }).finally(() => replaceFileCalls(former));
      expect(readBytes).toBe(readBack ? statSync(directory.path('out')).size : 0);
      for (const name of ['out', 'job']) rmSync(directory.path(name), { recursive: true });
    }
  });

  it('warns of bytes that are read wrongly once, and believes the second reading', async () => {
    await doAll(arraysOf(await planCluster(options(), THREE_TASKS)));
    const watched = new FaultyFileCalls({ kind: 'kills', part: 'nothing' }, Number.POSITIVE_INFINITY, () => true);
    let isFirst = true;
    const former = replaceFileCalls({
      ...watched.calls,
      read: (fd, bytes, offset, ...rest) => {
        const count = watched.calls.read(fd, bytes, offset, ...rest);
        if (isFirst && watched.calls.openFiles.get(fd)?.path.endsWith('.part') === true) {
          bytes[offset] = (bytes[offset] ?? 0) ^ 1;
          isFirst = false;
        }
        return count;
      },
    });
    const warnings: string[] = [];
    const onWarning = (line: string) => void warnings.push(line);
    await runNow({ kind: 'commit', jobDir: jobDir(), onWarning }).finally(() => replaceFileCalls(former));
    expect(warnings).toEqual([
      expect.stringMatching(/0\.part was read wrongly once; check the memory and the network of /),
    ]);
    await expectTheLocalBytes({ name: '', more: {} });
  });

  it('takes what was added behind the end of a file for nothing', async () => {
    const [output = expect.fail()] = OUTPUTS;
    await doAll(arraysOf(await planCluster(jobOf(output), THREE_TASKS)));
    writeFileSync(stagedFile(), 'added', { flag: 'a' });
    await runNow({ kind: 'commit', jobDir: jobDir() });
    await expectTheLocalBytes(output);
  });

  it('reads nothing back if nobody shall, and misses no bytes all the same', async () => {
    const [output = expect.fail(), , shards = expect.fail()] = OUTPUTS;
    for (const each of [output, shards]) {
      await doAll(arraysOf(await planCluster({ ...jobOf(each), readBack: false }, THREE_TASKS)));
      expect(await clusterStatus(jobDir())).toMatchObject({ readBackBy: 'nobody', state: 'commit' });
      const path = stagedFile();
      truncateSync(path, 40);
      const commit = () => runNow({ kind: 'commit', jobDir: jobDir() });
      await runAgain(await messageOf(commit()), path);
      overwrite(stagedFile(), Buffer.from('X'), 45);
      await commit();
      expect(await clusterStatus(jobDir())).toMatchObject({ readBackBy: 'nobody', state: 'committed' });
      for (const name of ['out', 'job']) rmSync(directory.path(name), { recursive: true });
    }
  });
});

describe('verify tasks of a large output', () => {
  const LARGE = { ...THREE_TASKS, commitReadBytes: 1000 };

  it.each(sampled(CASES, 5, 3))('find $name, and read anew what was written anew', async ({ output, damage }) => {
    const plan = await planCluster(jobOf(output), LARGE);
    expect([plan.verifyTasks, (await clusterStatus(jobDir())).readBackBy]).toEqual([plan.shuffleTasks, 'verify']);
    await doAll(arraysOf(plan).filter(([kind]) => kind !== 'verify'));
    expect(await messageOf(runNow({ kind: 'commit', jobDir: jobDir() }))).toMatch(/^verify tasks? 0.* not done; run/);
    const path = stagedFile();
    damage.make(path);
    const verify = (taskIndex: number) => runNow({ kind: 'verify', jobDir: jobDir(), taskIndex });
    for (let taskIndex = 0; taskIndex < plan.verifyTasks; taskIndex++) {
      const found = await verify(taskIndex).catch(({ message }: Error) => message);
      if (typeof found !== 'string') continue;
      expect(await messageOf(verify(taskIndex))).toBe(found);
      expect(await runAgain(found, path)).toEqual([taskIndex]);
      expect((await clusterStatus(jobDir())).verify?.unfinished).toContain(taskIndex);
      expect((await verify(taskIndex)).done).toEqual([taskIndex]);
    }
    for (let taskIndex = 0; taskIndex < plan.verifyTasks; taskIndex++)
      expect((await verify(taskIndex)).wereDone).toEqual([taskIndex]);
    await runNow({ kind: 'commit', jobDir: jobDir() });
    expect((await clusterStatus(jobDir())).readBackBy).toBe('verify');
    await expectTheLocalBytes(output);
  });

  it('need the shuffle task of their index alone', async () => {
    const plan = await planCluster(options(), LARGE);
    await doAll(arraysOf(plan).slice(0, 1));
    await runNow({ kind: 'shuffle', jobDir: jobDir(), taskIndex: 1 });
    expect((await runNow({ kind: 'verify', jobDir: jobDir(), taskIndex: 1 })).bytes).toBeGreaterThan(500);
    expect(await messageOf(runNow({ kind: 'verify', jobDir: jobDir(), taskIndex: 2 }))).toMatch(
      /^shuffle task 2 of \S+ is not done; run it first$/,
    );
    giveUp();
  });
});
