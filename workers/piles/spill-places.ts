/** The places in temp directories where pieces of members wait until their member is complete. */
import { join } from 'node:path';
import type { SpillPlace } from '../../src/formats/rows/finished-pages.js';
import type { ShuffleSettings } from '../settings.js';

/**
 * @param beginning of the names of the files.
 * @param turn of the task: those of several tasks begin with different disks.
 */
export function spillPlaces(job: ShuffleSettings, beginning: string, turn: number): () => SpillPlace {
  const { disks } = job.rescatterTo;
  let files = 0;
  return () => {
    const disk = disks[(turn + files) % disks.length];
    if (disk === undefined) throw new RangeError('this job has no temp disk');
    files += 1;
    return { path: join(disk.directory, `${beginning}${files}`), gate: disk.gate };
  };
}
