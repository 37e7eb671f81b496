/** A task is done when all of its records are there. */
import { writeFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import type { ClusterJob } from '#src/cluster/open-job.js';
import { unfinishedTasks } from '#src/cluster/open-job.js';
import { committedIndexPath } from '#src/job-directory/pile-set-commits.js';
import { useMemoryDirectory } from '../fixtures/temp-directory.js';

const directory = useMemoryDirectory();

it('a scatter task is done with the last of its slices', () => {
  const plan = { scatterTasks: [[0, 1], [2], [3, 4]], otherTasks: { measure: 0, shuffle: 2, verify: 0 } };
  const job = { directory: directory.path(), plan } as unknown as ClusterJob;
  const left = () => unfinishedTasks(job, 'scatter');
  expect(left()).toEqual([0, 1, 2]);
  for (const slice of [1, 2, 3]) writeFileSync(committedIndexPath(job.directory, slice), '');
  expect(left()).toEqual([0, 2]);
  writeFileSync(committedIndexPath(job.directory, 0), '');
  expect(left()).toEqual([2]);
  expect(unfinishedTasks(job, 'shuffle')).toEqual([0, 1]);
  expect(unfinishedTasks(job, 'measure')).toEqual([]);
});
