/**
 * The manifest of a job: what was asked for, as far as it decides what the job has on disk and which
 * bytes come out, and how the work was laid out. Written once, before the first byte of temp data.
 */
import { join } from 'node:path';
import { createTempFile, withFile, writeAt } from '../io/files.js';
import { flag, list, nullable, object, oneOf, readShape, text, type ValueOf, wholeNumber } from '../io/json-shape.js';
import { damagedFile, seal, unseal } from '../io/sealed-file.js';
import { createDurably, readSmallFile, replaceDurably } from '../io/small-file.js';
import { MOST_PILES, MOST_STRIPES } from '../pile-sets/pile-layout.js';

export const MANIFEST_NAME = 'manifest';
const KIND = 'job';
const VERSION = 5;
/** A million inputs take some 43 MB. */
const MOST_BYTES = 2 ** 29 - 2 ** 24;
/** Of each input. */
export const FINGERPRINT_BYTES = 32;
/** More than are planned of any inputs, few enough to be listed. */
const MOST_SLICES = 2 ** 20;

const shape = object({
  /** Whether what the job did before it ended is on disk for sure. */
  isResumable: flag,
  seed: text,
  /** SHA-256 of the ids of the inputs; null: they are their ordinals. */
  inputIds: nullable(text),
  /** What a record is. */
  framing: text,
  /** What all inputs go through; null: nothing, or what they begin with says it. */
  decompressProgram: nullable(list(text)),
  /** Null: one output. */
  shards: nullable(object({ by: oneOf('count', 'records', 'bytes'), amount: wholeNumber(1) })),
  shardPrefix: text,
  /** Null: the output is not compressed. */
  compression: nullable(text),
  output: text,
  /** Whether the job directory is removed in the end: not one that was there before the job. */
  removesJobDirectory: flag,
  tempDirs: list(text),
  inputs: object({
    count: wholeNumber(),
    /** SHA-256 over path, size and time of all inputs. */
    digest: text,
    /** Of each input, in base64; empty in a job that is not resumable. */
    fingerprints: text,
  }),
  /** Null when nothing lies on disk between the passes. */
  layout: nullable(
    object({
      pileCount: wholeNumber(1, MOST_PILES),
      stripeCount: wholeNumber(1, MOST_STRIPES),
      sliceBytes: wholeNumber(1),
      sliceCount: wholeNumber(0, MOST_SLICES),
      /** SHA-256 of the slices: a program that cuts otherwise cannot go on. */
      slicesDigest: text,
    }),
  ),
});

export type JobManifest = ValueOf<typeof shape>;

/** Writes a manifest where there is none; that of a resumable job survives a power failure. */
export async function writeManifest(jobDirectory: string, manifest: JobManifest): Promise<void> {
  const bytes = seal(KIND, VERSION, manifest);
  if (manifest.isResumable) await createDurably(jobDirectory, MANIFEST_NAME, bytes);
  else {
    withFile(createTempFile(join(jobDirectory, MANIFEST_NAME)), (file) => writeAt(file, bytes, 0, bytes.byteLength, 0));
  }
}

/** Makes sure that the manifest would survive a power failure, whatever it was written for. */
export async function replaceManifest(jobDirectory: string, manifest: JobManifest): Promise<void> {
  await replaceDurably(jobDirectory, MANIFEST_NAME, seal(KIND, VERSION, manifest));
}

/**
 * @returns undefined when there is none.
 * @throws VerificationError when it is damaged, UsageError ERR_JOB_VERSION when its format is another.
 */
export function readManifest(jobDirectory: string): JobManifest | undefined {
  const path = join(jobDirectory, MANIFEST_NAME);
  const bytes = readSmallFile(path, 'temp', MOST_BYTES);
  if (bytes === undefined) return undefined;
  const manifest = readShape(shape, unseal(bytes, KIND, VERSION, path), path);
  requireConsistent(manifest, path);
  return manifest;
}

/** What would be taken apart wrongly, piece by piece, when one number of it is not what the others say. */
function requireConsistent({ isResumable, inputs, layout }: JobManifest, path: string): void {
  if (layout !== null && layout.stripeCount > layout.pileCount) {
    throw damagedFile(path, `expected at most ${layout.pileCount} stripes, one a pile, got ${layout.stripeCount}`);
  }
  const expectedBytes = isResumable ? inputs.count * FINGERPRINT_BYTES : 0;
  const foundBytes = Buffer.from(inputs.fingerprints, 'base64').byteLength;
  if (foundBytes === expectedBytes) return;
  throw damagedFile(
    path,
    `expected ${expectedBytes} bytes of fingerprints for its ${inputs.count} inputs, got ${foundBytes}`,
  );
}
