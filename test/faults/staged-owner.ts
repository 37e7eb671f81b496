/** Checks that every staged output names its job, and that the job is at the place that the note names. */
import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'vitest';
import { readStagingOwner } from '#src/job-directory/job-manifest.js';
import type { TinyJob } from './tiny-job.js';

/** Otherwise another job of the same output would advise the user to resume a job that does not exist. */
export function expectOwnerOfStaged(job: TinyJob): void {
  const staging = readdirSync(job.outputDirectory).find((name) => name.endsWith('.out'));
  if (staging === undefined) return;
  const { jobDirectory = '', isResumable = false } = readStagingOwner(join(job.outputDirectory, staging)) ?? {};
  if (isResumable) expect(existsSync(jobDirectory), `${jobDirectory}, of which outputs are staged`).toBe(true);
}
