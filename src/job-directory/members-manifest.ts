/**
 * What a job of aligned files writes down about itself: the manifest, which says what the job is, and a note of each member
 * whose shuffle is done. A member without a note is shuffled by a later attempt.
 */
import { join } from 'node:path';
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
} from '../io/json-shape.js';
import { SealedFormat } from '../io/sealed-format.js';
import type { ShuffleSpec } from '../spec.js';
import { MANIFEST_NAME, splitSummary, writeManifest } from './job-manifest.js';
import { NoteKind } from './notes.js';

const manifestShape = object({
  /** Whether a later attempt may use the members that are done. */
  isResumable: flag,
  /** What all members have in common. */
  spec: asSealed<ShuffleSpec>(),
  output: text,
  names: list(text),
  framings: list(text),
  compressions: list(nullable(text)),
  /** All files, member by member; as in the manifest of a shuffle. */
  inputs: object({ count: wholeNumber(), digest: text, fingerprints: text }),
});

export type MembersManifest = ValueOf<typeof manifestShape>;

const manifestFormat = new SealedFormat({
  kind: 'members',
  version: 2,
  mostBytes: 2 ** 29 - 2 ** 24,
  role: 'temp',
  shape: manifestShape,
});

const noteShape = object({
  /** The outputs, in order: where they lie in the staging directory, and the names that they get. */
  files: list(object({ staged: text, name: fileName, byteLength: wholeNumber() })),
  recordCounts: list(wholeNumber()),
  /** The sum of the names in each of its files. Absent: its records have no names. */
  nameSums: optional(list(checksumText)),
  records: wholeNumber(),
  bytes: wholeNumber(),
  checksum: checksumText,
  /** What each split has of it. Absent: the order is not split. */
  splits: optional(list(splitSummary)),
});

export type MemberNote = ValueOf<typeof noteShape>;

const MEMBER = new NoteKind({ kind: 'member', version: 1, mostBytes: 2 ** 28, shape: noteShape });

export async function writeMembersManifest(jobDirectory: string, manifest: MembersManifest): Promise<void> {
  await writeManifest(jobDirectory, manifest.isResumable, manifestFormat.seal(manifest));
}

export function readMembersManifest(jobDirectory: string): MembersManifest | undefined {
  return manifestFormat.read(join(jobDirectory, MANIFEST_NAME));
}

export async function writeMemberNote(jobDirectory: string, member: number, note: MemberNote): Promise<void> {
  await MEMBER.write(jobDirectory, memberName(member), note, memberName(member));
}

export function readMemberNote(jobDirectory: string, member: number): MemberNote | undefined {
  return MEMBER.read(jobDirectory, memberName(member));
}

/** The name of the member's note in the job directory, and of the directory in which its output is staged. */
export function memberName(member: number): string {
  return `member-${member}`;
}
