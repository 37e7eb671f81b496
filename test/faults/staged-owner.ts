/** Outputs that are staged say whose they are: of a job that can be found there. */
import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'vitest';
import { readStagingOwner } from '#src/job-directory/job-manifest.js';
import type { TinyJob } from './tiny-job.js';

/** Else another job of the same output would be told to go on with one that is nowhere. */
export function expectOwnerOfStaged(job: TinyJob): void {
  const staging = readdirSync(job.outputDirectory).find((name) => name.endsWith('.out'));
  if (staging === undefined) return;
  const owner = readStagingOwner(join(job.outputDirectory, staging))?.jobDirectory;
  if (owner !== undefined) expect(existsSync(owner), `${owner}, of which outputs are staged`).toBe(true);
}
