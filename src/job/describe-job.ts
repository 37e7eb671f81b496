/**
 * What the manifest of a job says, and a later run compares: what decides which bytes come out and where
 * they lie.
 */
import { createHash } from 'node:crypto';
import { resolve } from 'node:path';
import { hashFileEnds } from '../io/file-ends.js';
import { STANDARD_INPUT } from '../io/input-source.js';
import type { JobManifest } from '../job-directory/manifest.js';
import type { JobInput } from './job-inputs.js';
import type { FilesPlaces } from './job-places.js';
import type { JobPlan } from './job-plan.js';
import type { JobRequest } from './job-request.js';
import type { ShardRule } from './shuffle-options.js';

/** The manifest of a job that begins. */
export function describeJob(
  request: JobRequest,
  inputs: readonly JobInput[],
  plan: JobPlan,
  { output, tempDirs }: FilesPlaces,
): JobManifest {
  return {
    isResumable: plan.isResumable,
    seed: request.seed,
    delimiter: request.framing.delimiter,
    shards: describeShards(request.shards),
    shardPrefix: request.shardPrefix,
    output: output.path,
    tempDirs: tempDirs.map((path) => resolve(path)),
    inputs: describeInputs(inputs, plan.isResumable),
    layout: plan.layout ?? null,
  };
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

type InputsOfManifest = JobManifest['inputs'];

/** What is noted of the inputs. @param withEnds whether each is read at its ends, to be compared one by one. */
export function describeInputs(inputs: readonly JobInput[], withEnds: boolean): InputsOfManifest {
  const hash = createHash('sha256');
  const fingerprints: InputsOfManifest['fingerprints'][number][] = [];
  // One by one: of a hundred thousand inputs a second list would take much memory.
  for (const input of inputs) {
    const fingerprint = fingerprintOf(input);
    hash.update(JSON.stringify(fingerprint));
    if (withEnds) fingerprints.push({ ...fingerprint, ends: endsOf(fingerprint) });
  }
  return { count: inputs.length, digest: hash.digest('hex'), fingerprints };
}

export interface Fingerprint {
  readonly path: string;
  readonly byteLength: number;
  /** Nanoseconds since 1970. */
  readonly modified: string;
}

export function fingerprintOf(input: JobInput): Fingerprint {
  const path = input.path === STANDARD_INPUT ? STANDARD_INPUT : resolve(input.path);
  if (input.kind === 'stream') return { path, byteLength: 0, modified: '' };
  return { path, byteLength: input.version.byteLength, modified: `${input.version.modifiedNanoseconds}` };
}

export function endsOf({ path, byteLength }: Fingerprint): string {
  return hashFileEnds(path, byteLength, 'input');
}
