/**
 * A task of the shuffle pass: writes its share of the output. Whole shards go into a directory of this attempt: the commit
 * takes them from the first attempt that is done.
 */
import { join } from 'node:path';
import { ensurePrivateDirectory, removeDirectory } from '../io/directories.js';
import { syncPath } from '../io/durable.js';
import { listNames } from '../io/paths.js';
import { SHUFFLED } from '../job-directory/notes.js';
import { recordBytesOf } from '../sinks/output-target.js';
import { StagedOutput } from '../sinks/staged-output.js';
import { shareOfTask, shuffleShare } from '../stages/shuffle-share.js';
import { bytesOfPart } from '../stages/shuffle-work.js';
import { recordNameOf, taskCountOf } from './cluster-plan.js';
import { decideOutput } from './job-piles.js';
import { type ClusterJob, rewriteOf } from './open-job.js';

/** @returns the bytes of the records that this attempt put into the output; undefined if the task was done before. */
export async function shufflePart(job: ClusterJob): Promise<number | undefined> {
  const { directory, plan, gates, control, index, log, scope } = job;
  // Another machine may have found a moment ago that the output of the task is damaged.
  listNames(directory, 'temp');
  const rewrite = rewriteOf(directory, index);
  const name = recordNameOf('shuffle', index, rewrite);
  if (SHUFFLED.read(directory, name) !== undefined) return undefined;
  const { work, layout, threads } = await decideOutput(job);
  const share = shareOfTask(layout, work, index, taskCountOf(plan, 'shuffle'));
  log.count(bytesOfPart(work.piles.totals, share.part), () => control.counted('shuffledBytes'));
  const { output, stagingDirectory } = plan;
  const own = share.shards === undefined ? null : `task-${index}-${log.attempt}`;
  const directoryOfOwn = join(stagingDirectory, own ?? '');
  const removeOwn = () => {
    if (own !== null) removeDirectory(directoryOfOwn);
  };
  let mayBeNoted = false;
  try {
    const gate = gates.gateOf(stagingDirectory, 'output');
    if (own !== null) ensurePrivateDirectory(directoryOfOwn, 'output');
    const staged = new StagedOutput(output, { stagingDirectory: directoryOfOwn, jobDirectory: directory }, gate);
    const ranges = await shuffleShare(work, share, layout, staged, threads);
    if (own !== null) await syncPath(stagingDirectory);
    mayBeNoted = true;
    const note = { task: index, rewrite, own, headerBytes: layout.ends.headerBytes, ranges };
    if (!(await SHUFFLED.write(directory, name, note, `shuffle task ${index}`))) removeOwn();
    return recordBytesOf(ranges.flatMap(({ regions }) => regions));
  } catch (error) {
    // No thread may make a file of this attempt after the removal.
    await threads.pool.destroy();
    try {
      // A link that fails may have been made all the same: then the commit takes these files.
      if (!mayBeNoted) removeOwn();
    } catch (failure) {
      scope.warn(failure);
    }
    throw error;
  }
}
