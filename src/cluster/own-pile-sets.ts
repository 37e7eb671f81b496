/**
 * The pile sets that a task between the passes leaves in the job directory, beside those of the scatter tasks: of copies of
 * drawn records, or of lines of dropped ones. They have names of the attempt that made them. Of a task, those count that its
 * first record names.
 */
import { join } from 'node:path';
import { syncDirectory } from '../io/durable.js';
import { removeFile } from '../io/files.js';
import { checksumText, fileName, list, object, type ValueOf, wholeNumber } from '../io/json-shape.js';
import { listNames } from '../io/paths.js';
import type { JobScope } from '../jobs/job.js';
import { readPileSet } from '../passes/committed-slices.js';
import type { Threads } from '../passes/threads.js';
import { indexFilePath, type PileSetLayout } from '../pile-sets/pile-layout.js';
import { syncPileSets } from '../pile-sets/pile-set-file.js';
import type { PileSet } from '../pile-sets/pile-set-writer.js';
import { addTotals, checksumTextOf, emptyTotals, type PileTotals, sumTotals } from '../pile-sets/pile-totals.js';
import type { ClusterJob } from './open-job.js';

/** What the record of a task says of its pile sets. */
export const namedPileSets = object({
  pileSets: list(fileName),
  records: wholeNumber(),
  bytes: wholeNumber(),
  checksum: checksumText,
  longestRecordBytes: wholeNumber(),
});

export type NamedPileSets = ValueOf<typeof namedPileSets>;

/** What tasks put on piles. */
export interface MadePiles {
  readonly pileSets: readonly PileSet[];
  readonly totals: PileTotals;
  readonly longestRecordBytes: number;
}

/** Waits until pile sets would survive a power failure. @returns what a record says of them. */
export async function keepPileSets(
  { directory, control }: Pick<ClusterJob, 'directory' | 'control'>,
  layout: PileSetLayout,
  { pileSets, totals, longestRecordBytes }: MadePiles,
): Promise<NamedPileSets> {
  const stored = pileSets.filter(({ dataFiles }) => dataFiles.length > 0);
  await syncPileSets(stored, layout, control);
  await syncDirectory(directory, 'temp');
  const { checksum, ...sum } = sumTotals(totals);
  const names = stored.map(({ name }) => name);
  return { pileSets: names, ...sum, checksum: checksumTextOf(checksum), longestRecordBytes };
}

/** What the records of several tasks name. @throws VerificationError if a pile set is damaged, or not visible in time. */
export async function readNamed(
  { directory, patience }: Pick<ClusterJob, 'directory' | 'patience'>,
  layout: PileSetLayout,
  named: readonly NamedPileSets[],
): Promise<MadePiles> {
  const pileSets: PileSet[] = [];
  const totals = emptyTotals(layout.pileCount);
  let longestRecordBytes = 0;
  for (const record of named) {
    longestRecordBytes = Math.max(longestRecordBytes, record.longestRecordBytes);
    for (const name of record.pileSets) {
      const found = await patience.untilWhole(directory, () => readPileSet(layout, indexFilePath(layout, name)));
      pileSets.push(found.pileSet);
      addTotals(totals, found.totals);
    }
  }
  return { pileSets, totals, longestRecordBytes };
}

/** Whether two attempts found the same records. */
export function isSameContent(a: NamedPileSets | undefined, b: NamedPileSets | undefined): boolean {
  return a?.records === b?.records && a?.bytes === b?.bytes && a?.checksum === b?.checksum;
}

/**
 * Makes the pile sets of an attempt and notes them. Removes them if another attempt was first, or if they cannot be noted.
 * @param note returns whether the attempt was the first, or may have been.
 */
export async function makeOwn<Made>(
  attempt: { readonly name: string; readonly layout: PileSetLayout; readonly threads: Threads },
  make: () => Promise<Made>,
  note: (made: Made) => Promise<boolean>,
  { warn }: JobScope,
): Promise<void> {
  const { name, layout, threads } = attempt;
  let mayBeNoted = false;
  try {
    const made = await make();
    mayBeNoted = true;
    if (!(await note(made))) removeOwn(layout, name);
  } catch (error) {
    // No thread may make a file of this attempt behind the removal.
    await threads.pool.destroy();
    // A link that fails may have been made all the same: then later tasks read these files.
    if (!mayBeNoted) {
      try {
        removeOwn(layout, name);
      } catch (failure) {
        warn(failure);
      }
    }
    throw error;
  }
}

function removeOwn({ disks, indexDirectory }: PileSetLayout, attempt: string): void {
  for (const directory of [indexDirectory, ...disks.map((disk) => disk.directory)]) {
    for (const name of listNames(directory, 'temp'))
      if (name.startsWith('set-') && name.includes(attempt)) removeFile(join(directory, name), 'temp');
  }
}
