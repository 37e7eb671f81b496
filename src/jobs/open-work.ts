/**
 * Opens what a job has on disk.
 */

import type { Release } from '../cleanup.js';
import { StreamOutput } from '../output/stream-output.js';
import { FilesWork } from './files-work.js';
import type { StreamPlaces } from './job-places.js';
import type { JobWork } from './job-work.js';
import type { PreparedJob } from './prepare-job.js';

export async function openWork(prepared: PreparedJob, releases: Release[]): Promise<JobWork> {
  const { site } = prepared;
  if (site.kind === 'stream') return openStreamWork(prepared, site.places, releases);
  const work = new FilesWork(prepared, site.places, site.start);
  releases.push(() => work.end());
  await work.open();
  return work;
}

async function openStreamWork(prepared: PreparedJob, places: StreamPlaces, releases: Release[]): Promise<JobWork> {
  const tempPlaces = prepared.tempPlaces.makePrivate(releases);
  const output = await StreamOutput.open(places.output.path, prepared.control);
  releases.push(() => output.release());
  return {
    tempPlaces,
    indexDirectory: tempPlaces[0]?.directory ?? '',
    output,
    kept: undefined,
    commit: async () => [],
    finishMoves: async () => [],
    failed: async () => {},
    succeeded: async () => {},
  };
}
