/**
 * A commit is killed, or a call on a file fails, at every call after its output is noted as published. Until all else is
 * removed, the job says so, and another commit or `resume` removes it.
 */
import { cpSync, existsSync, readdirSync, renameSync, rmSync } from 'node:fs';
import { expect, it } from 'vitest';
import { clusterStatus, planCluster, resumeOnSlurm } from '#src/index.js';
import { replaceFileCalls } from '#src/io/file-calls.js';
import { type Fault, FaultyFileCalls } from '../faults/faulty-file-calls.js';
import { arraysOf, runNow } from '../fixtures/run-cluster.js';
import { fromCi } from '../fixtures/scale.js';
import { smallClusterJob, THREE_TASKS } from '../fixtures/small-cluster-job.js';
import { useMemoryDirectory } from '../fixtures/temp-directory.js';

const directory = useMemoryDirectory();
const { jobDir, options } = smallClusterJob(directory);

const commit = () => runNow({ kind: 'commit', jobDir: jobDir() });
const stagingNames = () => readdirSync(directory.path('.')).filter((name) => name.startsWith('.pileshuf-'));
const left = () => [...readdirSync(jobDir()).filter((name) => name !== 'committed'), ...stagingNames()];

/** A job of which all but the commit is done. @returns puts it back as it was then. */
async function planned(): Promise<() => void> {
  const output = { shards: { by: 'count', shardCount: 2 }, compress: { codec: 'gzip' } } as const;
  const plan = await planCluster({ ...options(), ...output }, THREE_TASKS);
  for (const [kind, count] of arraysOf(plan))
    for (let taskIndex = 0; taskIndex < count; taskIndex++) await runNow({ kind, jobDir: jobDir(), taskIndex });
  const names = ['job', ...stagingNames()];
  for (const name of names) renameSync(directory.path(name), directory.path(`kept-${name}`));
  return () => {
    for (const name of ['out', ...names]) rmSync(directory.path(name), { recursive: true, force: true });
    for (const name of names) cpSync(directory.path(`kept-${name}`), directory.path(name), { recursive: true });
  };
}

const FAULTS: readonly (readonly [string, Fault])[] = [
  ['is killed', { kind: 'kills', part: 'nothing' }],
  ['meets an error', { kind: 'fails', errno: 'EIO' }],
];

it.each(FAULTS)('what a commit leaves that %s after the output is there goes', async (_, fault) => {
  const restore = await planned();
  const isPublished = () => existsSync(directory.path('job', 'committed'));
  let strikes = 0;
  // In `npm test`, some of the calls.
  for (let nth = 1; ; nth += fromCi ? 1 : 3) {
    restore();
    const faulty = new FaultyFileCalls(fault, nth, isPublished);
    const former = replaceFileCalls(faulty.calls);
    const failure = await commit().then(
      () => undefined,
      (error: unknown) => error,
    );
    await faulty.settle();
    replaceFileCalls(former);
    if (faulty.struck === undefined) {
      expect({ failure, left: left() }).toEqual({ failure: undefined, left: [] });
      break;
    }
    // The note itself has failed.
    if (!isPublished()) continue;
    strikes += 1;
    const { state, output } = await clusterStatus(jobDir());
    expect({ state, records: output?.records }).toEqual({
      state: left().length === 0 ? 'committed' : 'commit',
      records: 400,
    });
    if (strikes % 2 === 0) await commit();
    else expect((await resumeOnSlurm({ jobDir: jobDir() })).jobs).toEqual([]);
    expect({ left: left(), state: (await clusterStatus(jobDir())).state }).toEqual({ left: [], state: 'committed' });
  }
  expect(strikes).toBeGreaterThan(8);
  for (const name of readdirSync(directory.path('.')).filter((each) => each.startsWith('kept-')))
    rmSync(directory.path(name), { recursive: true });
});
