/**
 * `PREFIX.complete.json`, which appears last in a directory that existed before its shards: while it is
 * missing the shards of this prefix are not complete, or not all of one job.
 */
import { join } from 'node:path';
import { moveIntoPlace, syncPath } from '../io/durable.js';
import { openStagedOutput, removeFile, withFile, writeAt } from '../io/files.js';
import type { CommitJournal } from './commit-journal.js';
import type { ShardsPlace } from './output-place.js';
import { completionMarkerName } from './shard-names.js';

export async function writeCompletionMarker(
  place: ShardsPlace,
  stagingDirectory: string,
  { names, records, bytes, checksum }: CommitJournal,
): Promise<void> {
  const staged = join(stagingDirectory, 'marker');
  const marker = { shards: names.length, records, bytes, checksum };
  removeFile(staged, 'output');
  const text = Buffer.from(`${JSON.stringify(marker)}\n`);
  withFile(openStagedOutput(staged), (file) => writeAt(file, text, 0, text.byteLength, 0));
  await syncPath(staged);
  // The former one was moved aside: what is there is this one, from a run that was killed.
  moveIntoPlace(staged, join(place.path, completionMarkerName(place.naming)));
  await syncPath(place.path);
}
