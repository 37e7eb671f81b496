/**
 * The committed pile sets of a job, which survive a power failure: each has an index `set-000012.index`, with the number
 * of its slice. The index gets this name when the data files and the index itself are durable; data files that no such
 * index names are leftovers.
 */
import { join } from 'node:path';
import type { JobControl } from '../floor/job-control.js';
import { removeFile } from '../io/files.js';
import { listNames } from '../io/paths.js';
import { linkToNewName, syncPath } from '../io/rename-and-sync.js';
import { indexFilePath, type PileSetLayout } from '../piles/pile-layout.js';
import { syncPileSets } from '../piles/pile-set-file.js';
import type { PileSet } from '../piles/pile-set-writer.js';

const COMMITTED_INDEX = /^set-(\d{6,})\.index$/;

/** The start of the names of the files of a slice's pile set. @param attempt differs from that of any other attempt. */
export function pileSetName(slice: number, attempt: string): string {
  return `set-${digitsOf(slice)}-${attempt}`;
}

export function sliceOfPileSet(name: string): number | undefined {
  const digits = /^set-(\d{6,})-/.exec(name)?.[1];
  return digits === undefined ? undefined : Number(digits);
}

export function committedIndexPath(jobDirectory: string, slice: number): string {
  return join(jobDirectory, `set-${digitsOf(slice)}.index`);
}

function digitsOf(slice: number): string {
  return String(slice).padStart(6, '0');
}

export function listCommittedSlices(jobDirectory: string): number[] {
  return listNames(jobDirectory, 'temp')
    .flatMap((name) => {
      const digits = COMMITTED_INDEX.exec(name)?.[1];
      // A slice's index has exactly one name.
      return digits !== undefined && digitsOf(Number(digits)) === digits ? Number(digits) : [];
    })
    .sort((a, b) => a - b);
}

export interface PileSetOfSlice {
  readonly slice: number;
  readonly pileSet: PileSet;
}

/**
 * Commits pile sets, the index of each of which must be a file.
 * @param giveName called for each when all are durable. Default: `nameIndex`, for a job that meets no other attempt.
 */
export async function commitPileSets<Done extends PileSetOfSlice>(
  pileSets: readonly Done[],
  layout: PileSetLayout,
  control: JobControl,
  giveName: (done: Done) => void | Promise<void> = (done) => commitIndex(layout, done),
): Promise<void> {
  await syncPileSets(
    pileSets.map(({ pileSet }) => pileSet),
    layout,
    control,
  );
  for (const done of pileSets) await giveName(done);
  await syncPath(layout.indexDirectory, 'temp');
}

/** @throws NameTakenError if the slice is committed. */
export function commitIndex(layout: PileSetLayout, { slice, pileSet }: PileSetOfSlice): void {
  linkToNewName(indexFilePath(layout, pileSet.name), committedIndexPath(layout.indexDirectory, slice));
}

/** Takes back the commit of a damaged pile set: the next attempt makes it again. */
export async function revokePileSet(jobDirectory: string, slice: number): Promise<void> {
  removeFile(committedIndexPath(jobDirectory, slice), 'temp');
  await syncPath(jobDirectory, 'temp');
}
