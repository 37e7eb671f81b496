/**
 * Makes the files of pile sets survive a power failure, whatever their names mean yet.
 */
import { syncDirectory, syncFile } from '../io/durable.js';
import type { JobControl } from '../job-control.js';
import { severalAtOnce } from '../several-at-once.js';
import { dataFilePath, diskAt, indexFilePath, type PileSetLayout, roleOf } from './pile-layout.js';
import type { PileSet } from './pile-set-writer.js';

/** Under way at one time; on many disks more, so that most of them have something to write. */
const FEWEST_SYNCS = 4;

/** Syncs data files, indexes, which must be files, and the directories of the data files. */
export async function syncPileSets(
  pileSets: readonly Pick<PileSet, 'name' | 'dataFiles'>[],
  layout: PileSetLayout,
  control: JobControl,
): Promise<void> {
  const role = roleOf(layout);
  const files = pileSets.flatMap(({ name, dataFiles }) =>
    dataFiles.map(({ stripe, disk }) => ({ path: dataFilePath(layout, name, stripe, disk), disk })),
  );
  const syncDataFile = async ({ path, disk }: { path: string; disk: number }) => {
    const { rotates, gate } = diskAt(layout, disk);
    if (rotates) await control.duringAsync(gate, () => syncFile(path, role));
    else await syncFile(path, role);
  };
  await severalAtOnce(files, syncDataFile, Math.max(FEWEST_SYNCS, 2 * layout.disks.length));
  await severalAtOnce(pileSets, ({ name }) => syncFile(indexFilePath(layout, name), role));
  for (const disk of new Set(files.map((file) => file.disk))) {
    await syncDirectory(diskAt(layout, disk).directory, role);
  }
}
