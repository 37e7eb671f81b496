/**
 * What the manifest of a job says, and a later run compares: what decides which bytes come out and where
 * they lie.
 */
import type { DecompressProgram } from '../formats/codec-table.js';
import { type Compression, nameOfCompression } from '../formats/encoder-table.js';
import { nameOfFormat } from '../formats/record-format.js';
import { noteInputs } from '../inputs/fingerprints.js';
import { describeInputIds, type InputIds } from '../inputs/ids.js';
import type { JobInput } from '../inputs/list-inputs.js';
import type { JobManifest } from '../job-directory/job-manifest.js';
import { type FilesPlaces, realTempDirsOf } from './job-places.js';
import type { JobPlan } from './job-plan.js';
import type { ShardRule } from './options.js';
import type { JobRequest } from './request.js';

/** The manifest of a job that begins. */
export async function describeJob(
  request: JobRequest,
  inputs: readonly JobInput[],
  inputIds: InputIds,
  plan: JobPlan,
  places: FilesPlaces,
  removesJobDirectory: boolean,
): Promise<JobManifest> {
  return {
    isResumable: plan.isResumable,
    seed: request.seed,
    inputIds: describeInputIds(inputIds),
    framing: nameOfFormat(request),
    decompressProgram: describeProgram(request.decompressProgram),
    shards: describeShards(request.shards),
    shardPrefix: request.shardPrefix,
    compression: describeCompression(request.compression),
    output: places.output.path,
    removesJobDirectory,
    tempDirs: describeTempDirs(places),
    inputs: await noteInputs(inputs, plan.isResumable, request.signal),
    layout: plan.layout ?? null,
  };
}

/** Null: none. */
export function describeProgram(program: DecompressProgram): JobManifest['decompressProgram'] {
  return program === undefined ? null : [...program];
}

/** Nothing where they follow from the job directory. */
export function describeTempDirs({ paths, keepsDataInJobDir }: FilesPlaces): string[] {
  return keepsDataInJobDir ? [] : realTempDirsOf(paths);
}

/** Null: none. */
export function describeCompression(compression: Compression | undefined): string | null {
  return compression === undefined ? null : nameOfCompression(compression);
}

/** What is noted of the shards asked for; null: one output. */
export function describeShards(shards: ShardRule | undefined): JobManifest['shards'] {
  switch (shards?.by) {
    case 'count':
      return { by: 'count', amount: shards.shardCount };
    case 'records':
      return { by: 'records', amount: shards.recordsPerShard };
    case 'bytes':
      return { by: 'bytes', amount: shards.maxShardBytes };
    default:
      return null;
  }
}
