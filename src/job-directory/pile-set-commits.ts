/**
 * The pile sets of a job that are sure to be there after a power failure: `set-000012.index`, with the
 * number of the split. The name is given when data files and index are on their disks; data files that no
 * such index names are leftovers.
 */
import { join } from 'node:path';
import { linkToNewName, syncDirectory } from '../io/durable.js';
import { removeFile } from '../io/files.js';
import type { JobControl } from '../io/job-control.js';
import { listNames } from '../io/paths.js';
import type { PileSet } from '../pile-store/pile-set-writer.js';
import { indexFilePath, type StoreLayout } from '../pile-store/store-layout.js';
import { syncPileSets } from '../pile-store/sync-pile-sets.js';

const COMMITTED_INDEX = /^set-(\d{6,})\.index$/;

/** Begins the names of the files of a split's pile set. @param attempt unlike that of any other attempt. */
export function pileSetName(split: number, attempt: string): string {
  return `set-${digitsOf(split)}-${attempt}`;
}

/** The split whose pile set has this name; undefined for other pile sets. */
export function splitOfPileSet(name: string): number | undefined {
  const digits = /^set-(\d{6,})-/.exec(name)?.[1];
  return digits === undefined ? undefined : Number(digits);
}

export function committedIndexPath(jobDirectory: string, split: number): string {
  return join(jobDirectory, `set-${digitsOf(split)}.index`);
}

function digitsOf(split: number): string {
  return String(split).padStart(6, '0');
}

/** The splits whose pile sets are committed. */
export function listCommittedSplits(jobDirectory: string): number[] {
  return listNames(jobDirectory, 'temp')
    .flatMap((name) => {
      const digits = COMMITTED_INDEX.exec(name)?.[1];
      // The one name that a split's index has.
      return digits !== undefined && digitsOf(Number(digits)) === digits ? Number(digits) : [];
    })
    .sort((a, b) => a - b);
}

export interface PileSetOfSplit {
  readonly split: number;
  readonly pileSet: PileSet;
}

/** Commits pile sets, all together. Each must have its index in a file. */
export async function commitPileSets(
  pileSets: readonly PileSetOfSplit[],
  layout: StoreLayout,
  control: JobControl,
): Promise<void> {
  await syncPileSets(
    pileSets.map(({ pileSet }) => pileSet),
    layout,
    control,
  );
  for (const { split, pileSet } of pileSets) {
    linkToNewName(indexFilePath(layout, pileSet.name), committedIndexPath(layout.indexDirectory, split));
  }
  await syncDirectory(layout.indexDirectory, 'temp');
}

/** Takes back the commit of a split's pile set, which is damaged: the next run makes it again. */
export async function revokePileSet(jobDirectory: string, split: number): Promise<void> {
  removeFile(committedIndexPath(jobDirectory, split), 'temp');
  await syncDirectory(jobDirectory, 'temp');
}
