/**
 * Reads and writes what a job notes about itself. In its job directory, the manifest: the options and inputs that
 * decide which temp data exists and which bytes come out, and how the work was divided. It is written once, before the
 * first byte of temp data. In the staging directory, the note of the owner: jobs of one output meet there, wherever
 * their job directories are, and the note says which job directory belongs to the staged output.
 */
import { hash } from 'node:crypto';
import { join } from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import { VerificationError } from '../errors.js';
import { attemptName, createDurablyFrom, createWhole, replaceDurably } from '../io/atomic-files.js';
import { removeFile } from '../io/files.js';
import {
  asSealed,
  checksumText,
  fileName,
  flag,
  list,
  nullable,
  object,
  optional,
  text,
  type ValueOf,
  wholeNumber,
  wholeOfAnySize,
} from '../io/json-shape.js';
import { moveIntoPlace } from '../io/rename-and-sync.js';
import { damagedFileError } from '../io/sealed-file.js';
import { SealedFormat } from '../io/sealed-format.js';
import { MOST_PILES, MOST_STRIPES } from '../piles/pile-layout.js';
import type { OutputSpec, ShuffleSpec } from '../spec.js';
import { NoteKind } from './notes.js';

export const MANIFEST_NAME = 'manifest';
export const FINGERPRINT_BYTES = 32;
/** A million inputs take 32 MB. */
export const MOST_MANIFEST_BYTES = 2 ** 29 - 2 ** 24;
/** More than are planned for any inputs, few enough to be listed. */
const MOST_SLICES = 2 ** 20;

/** The totals of a split of a finished output. */
export const splitSummary = object({
  name: fileName,
  shardCount: wholeNumber(1),
  records: wholeNumber(),
  bytes: wholeNumber(),
  checksum: checksumText,
  /** How many of its shards have no record. Absent: none. */
  emptyShards: optional(wholeNumber()),
});

const manifestInputs = object({
  count: wholeNumber(),
  /** SHA-256 over path, size and time of all inputs. */
  digest: text,
  /** SHA-256 of the fingerprints, whose bytes follow the sealed part of the file. */
  fingerprintsDigest: text,
});

export interface ManifestInputs extends Pick<ValueOf<typeof manifestInputs>, 'count' | 'digest'> {
  /** The fingerprints of all inputs; empty in a job that is not resumable. */
  readonly fingerprints: Uint8Array;
}

const shape = object({
  /** True if the temp data and output of an attempt are durable when the manifest says so. */
  isResumable: flag,
  /**
   * The spec that decides the bytes. A job that reads a store or makes its records has only the part about its output.
   */
  spec: asSealed<ShuffleSpec | OutputSpec>(),
  /** SHA-256 of the ids of the inputs; null: the ids are the ordinals. */
  inputIds: nullable(text),
  /** The counts of each group that has a share: its weight, and how much it has in the unit of the shares. */
  shareWeights: optional(
    list(
      object({
        weight: object({ copies: wholeNumber(), chance: wholeOfAnySize }),
        amount: optional(object({ numerator: wholeOfAnySize, denominator: wholeOfAnySize })),
      }),
    ),
  ),
  output: text,
  /** True if the job removes the job directory at its end: false for a directory that the user had made. */
  removesJobDirectory: flag,
  tempDirs: list(text),
  inputs: manifestInputs,
  /** Null when the piles between the passes are not on disk. */
  layout: nullable(
    object({
      pileCount: wholeNumber(1, MOST_PILES),
      stripeCount: wholeNumber(1, MOST_STRIPES),
      sliceBytes: wholeNumber(1),
      sliceCount: wholeNumber(0, MOST_SLICES),
      /** SHA-256 of the slices: a program that cuts otherwise cannot resume the job. */
      slicesDigest: text,
    }),
  ),
});

export type JobManifest = Omit<ValueOf<typeof shape>, 'inputs'> & { readonly inputs: ManifestInputs };

const format = new SealedFormat({
  kind: 'job',
  version: 10,
  mostBytes: MOST_MANIFEST_BYTES,
  role: 'temp',
  shape,
});

export async function writeJobManifest(jobDirectory: string, manifest: JobManifest): Promise<void> {
  await writeManifest(jobDirectory, manifest.isResumable, bytesOf(manifest));
}

function bytesOf(manifest: JobManifest): [Uint8Array, Uint8Array] {
  return [format.seal({ ...manifest, inputs: sealedInputs(manifest.inputs) }), manifest.inputs.fingerprints];
}

function sealedInputs({ count, digest, fingerprints }: ManifestInputs): ValueOf<typeof manifestInputs> {
  return { count, digest, fingerprintsDigest: hash('sha256', fingerprints) };
}

/** The manifest of a resumable job survives a power failure. */
async function writeManifest(jobDirectory: string, isResumable: boolean, pieces: readonly Uint8Array[]): Promise<void> {
  if (isResumable) await createDurablyFrom(jobDirectory, MANIFEST_NAME, pieces);
  else createWhole(join(jobDirectory, MANIFEST_NAME), Buffer.concat(pieces), 'temp');
}

/** Makes the manifest survive a power failure, also that of a job that is not resumable. */
export async function replaceJobManifest(jobDirectory: string, manifest: JobManifest): Promise<void> {
  await replaceDurably(jobDirectory, MANIFEST_NAME, ...bytesOf(manifest));
}

/** @throws VerificationError when it is damaged, UsageError ERR_JOB_VERSION when another version wrote it. */
export function readJobManifest(jobDirectory: string): JobManifest | undefined {
  const path = join(jobDirectory, MANIFEST_NAME);
  const found = format.readWithRest(path);
  if (found === undefined) return undefined;
  const manifest = { ...found.value, inputs: withFingerprints(found.value.inputs, found.rest, path) };
  requireConsistent(manifest, path);
  return manifest;
}

/** @param rest of the file, after what is sealed. */
function withFingerprints(
  { count, digest, fingerprintsDigest }: ValueOf<typeof manifestInputs>,
  rest: Uint8Array,
  path: string,
): ManifestInputs {
  if (hash('sha256', rest) === fingerprintsDigest) return { count, digest, fingerprints: rest };
  throw damagedFileError(path, 'its fingerprints of inputs do not match their checksum');
}

/** Refuses numbers that contradict each other: piece by piece, they would cut the manifest wrongly. */
function requireConsistent({ isResumable, inputs, layout }: JobManifest, path: string): void {
  if (layout !== null && layout.stripeCount > layout.pileCount) {
    throw damagedFileError(path, `expected at most ${layout.pileCount} stripes, one a pile, got ${layout.stripeCount}`);
  }
  const expectedBytes = isResumable ? inputs.count * FINGERPRINT_BYTES : 0;
  const foundBytes = inputs.fingerprints.byteLength;
  if (foundBytes === expectedBytes) return;
  throw damagedFileError(
    path,
    `expected ${expectedBytes} bytes of fingerprints for its ${inputs.count} inputs, got ${foundBytes}`,
  );
}

export const STAGING_OWNER_NAME = 'owner';

const ownerShape = object({
  jobDirectory: text,
  /** True if a later attempt may use the staged output. */
  isResumable: flag,
  /** True if the job made a job directory that the user named. The manifest says so, too, but may be missing. */
  removesJobDirectory: optional(flag),
});

export type StagingOwner = ValueOf<typeof ownerShape>;

const ownerFormat = new SealedFormat({
  kind: 'owner',
  version: 1,
  mostBytes: 2 ** 17,
  role: 'output',
  shape: ownerShape,
});

export function writeStagingOwner(stagingDirectory: string, owner: StagingOwner): void {
  const noted = readStagingOwner(stagingDirectory);
  if (isDeepStrictEqual(noted, owner)) return;
  const path = join(stagingDirectory, STAGING_OWNER_NAME);
  const attempt = attemptName(path);
  createWhole(attempt, ownerFormat.seal(owner), 'temp');
  moveIntoPlace(attempt, path);
}

/** @returns undefined when there is no note, or an attempt ended before it had written all of the note. */
export function readStagingOwner(stagingDirectory: string): StagingOwner | undefined {
  try {
    return ownerFormat.read(join(stagingDirectory, STAGING_OWNER_NAME));
  } catch (error) {
    if (error instanceof VerificationError) return undefined;
    throw error;
  }
}

/** The manifest of a job of aligned files. */
const membersShape = object({
  /** True if a later attempt may use the members that are done. */
  isResumable: flag,
  /** The spec that all members have in common. */
  spec: asSealed<ShuffleSpec>(),
  output: text,
  names: list(text),
  framings: list(text),
  compressions: list(nullable(text)),
  /** All files, member by member. */
  inputs: manifestInputs,
});

export type MembersManifest = Omit<ValueOf<typeof membersShape>, 'inputs'> & { readonly inputs: ManifestInputs };

const membersFormat = new SealedFormat({
  kind: 'members',
  version: 3,
  mostBytes: MOST_MANIFEST_BYTES,
  role: 'temp',
  shape: membersShape,
});

/** The note of a member whose shuffle is done. One without a note is shuffled by a later attempt. */
const memberShape = object({
  /** The outputs, in order: where they lie in the staging directory, and the names that they get. */
  files: list(object({ staged: text, name: fileName, byteLength: wholeNumber() })),
  recordCounts: list(wholeNumber()),
  /** The sum of the names in each of its files. Absent: its records have no names. */
  nameSums: optional(list(checksumText)),
  records: wholeNumber(),
  bytes: wholeNumber(),
  checksum: checksumText,
  /** The part of each split. Absent: the order is not split. */
  splits: optional(list(splitSummary)),
  /** How many of its shards have no record. Absent: none. */
  emptyShards: optional(wholeNumber()),
});

export type MemberNote = ValueOf<typeof memberShape>;

const MEMBER = new NoteKind({ kind: 'member', version: 1, mostBytes: 2 ** 28, shape: memberShape });

export async function writeMembersManifest(jobDirectory: string, manifest: MembersManifest): Promise<void> {
  const sealed = membersFormat.seal({ ...manifest, inputs: sealedInputs(manifest.inputs) });
  await writeManifest(jobDirectory, manifest.isResumable, [sealed, manifest.inputs.fingerprints]);
}

export function readMembersManifest(jobDirectory: string): MembersManifest | undefined {
  const path = join(jobDirectory, MANIFEST_NAME);
  const found = membersFormat.readWithRest(path);
  return found && { ...found.value, inputs: withFingerprints(found.value.inputs, found.rest, path) };
}

export async function writeMemberNote(jobDirectory: string, member: number, note: MemberNote): Promise<void> {
  await MEMBER.write(jobDirectory, memberName(member), note, memberName(member));
}

export function readMemberNote(jobDirectory: string, member: number): MemberNote | undefined {
  return MEMBER.read(jobDirectory, memberName(member));
}

/** @returns whether there was a note. */
export function removeMemberNote(jobDirectory: string, member: number): boolean {
  return removeFile(join(jobDirectory, memberName(member)), 'temp');
}

/** The name of the member's note in the job directory, and of the directory in which its output is staged. */
export function memberName(member: number): string {
  return `member-${member}`;
}
