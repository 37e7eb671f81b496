/**
 * The manifest of a job: what was asked for, as far as it decides what the job has on disk and which
 * bytes come out, and how the work was laid out. Written once, before the first byte of temp data.
 */
import { join } from 'node:path';
import { createDurably, readSmallFile } from '../io/small-file.js';
import { createTempFile, withFile, writeAt } from '../io/files.js';
import {
  array,
  boolean,
  nullable,
  object,
  oneOf,
  type ShapeOf,
  text,
  union,
  wholeNumber,
} from './json-shape.js';
import { readSealed, seal } from './sealed-file.js';

export const MANIFEST_NAME = 'manifest';
const SEAL = { kind: 'job', version: 1 } as const;
/** A million inputs take some 200 MB. */
const MOST_BYTES = 2 ** 29 - 2 ** 24;

const shape = object({
  /** Unlike that of any other job: binds the files of a job to it. */
  jobId: text(),
  /** Whether what the job did before it ended is on disk for sure. */
  isResumable: boolean(),
  seed: text(),
  /** The byte that ends a record. */
  delimiter: wholeNumber(0, 255),
  shards: nullable(
    union(
      object({ by: oneOf('count'), shardCount: wholeNumber(1) }),
      object({ by: oneOf('records'), recordsPerShard: wholeNumber(1) }),
      object({ by: oneOf('bytes'), maxShardBytes: wholeNumber(1) }),
    ),
  ),
  shardPrefix: text(),
  output: text(),
  tempDirs: array(text()),
  inputs: object({
    count: wholeNumber(),
    /** SHA-256 over the fingerprints of all inputs. */
    digest: text(),
    /** In a job that is not resumable there is none: nothing but the digest is ever looked at. */
    fingerprints: array(
      object({ path: text(), byteLength: wholeNumber(), modified: text(), ends: text() }),
    ),
  }),
  /** Null when nothing lies on disk between the passes. */
  layout: nullable(
    object({
      pileCount: wholeNumber(1, 65536),
      stripeCount: wholeNumber(1, 65536),
      splitBytes: wholeNumber(1),
      splitCount: wholeNumber(),
      /** SHA-256 of the splits: a planner that cuts otherwise cannot go on. */
      splitsDigest: text(),
    }),
  ),
});

export type JobManifest = ShapeOf<typeof shape>;

/** Writes a manifest where there is none; that of a resumable job survives a power failure. */
export async function writeManifest(jobDirectory: string, manifest: JobManifest): Promise<void> {
  const bytes = seal(SEAL, manifest);
  if (manifest.isResumable) await createDurably(jobDirectory, MANIFEST_NAME, bytes);
  else withFile(createTempFile(join(jobDirectory, MANIFEST_NAME)), (file) => writeAt(file, bytes, 0, bytes.byteLength, 0));
}

/** @returns undefined when there is none. @throws VerificationError when it is damaged, UsageError for another version. */
export function readManifest(jobDirectory: string): JobManifest | undefined {
  const path = join(jobDirectory, MANIFEST_NAME);
  const bytes = readSmallFile(path, 'temp', MOST_BYTES);
  return bytes === undefined ? undefined : shape(readSealed(bytes, SEAL, path), path);
}
