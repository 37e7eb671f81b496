/**
 * Makes an output in object storage appear, step by step. A killed attempt may have done any of the steps already.
 *
 *     one object     its upload is completed
 *     shards         former markers go; the uploads are completed; former shards that no new one has replaced go; the
 *                    markers are written that say that the shards are complete
 *
 * What is completed cannot be taken back, because the parts are gone then: a later attempt goes on.
 */

import {
  type CommitJournal,
  groupsOf,
  type MoveDirectories,
  requireIdentity,
  textOfMarker,
  writeJournal,
} from './output-moves.js';
import type { FilesPlace } from './output-place.js';
import { completionMarkerName, isShard } from './shard-names.js';
import type { ShardUploads } from './shard-uploads.js';

export async function makeObjects(
  place: FilesPlace,
  uploads: ShardUploads,
  { stagingDirectory, jobDirectory }: MoveDirectories,
  journal: CommitJournal,
): Promise<void> {
  requireIdentity(place, journal);
  if (journal.phase === 'moved') return;
  const { names, replaced, byteLengths } = journal;
  await uploads.remove(replaced.filter((name) => !isShard(name)));
  await uploads.complete(stagingDirectory, byteLengths);
  if (place.kind === 'file') return;
  const now = new Set(names);
  await uploads.remove(replaced.filter((name) => isShard(name) && !now.has(name)));
  for (const group of groupsOf(place, journal, names.length))
    await uploads.putText(completionMarkerName(group.prefix), textOfMarker(group));
  await writeJournal(jobDirectory, { ...journal, phase: 'moved' });
}
