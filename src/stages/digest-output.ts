/** Has the threads compute the SHA-256 of the staged output: each shard is read back by one of them. */
import type { GateNumber } from '../floor/job-control.js';
import type { OutputDecision } from './chain.js';
import { runTasks, tasksAtOnce } from './run-tasks.js';

/** @returns the SHA-256 of the files, in hex. */
export async function digestOutput(
  { threads, output: { work } }: Pick<OutputDecision, 'threads' | 'output'>,
  paths: readonly string[],
  gate: GateNumber,
): Promise<readonly string[]> {
  const digests: string[] = [];
  await runTasks(
    paths.keys(),
    (shard) => threads.pool.run('digest', { job: work.settings, gate, path: paths[shard] ?? '' }),
    (digest, shard) => {
      digests[shard] = digest;
    },
    tasksAtOnce(threads),
    threads.stop,
  );
  return digests;
}
