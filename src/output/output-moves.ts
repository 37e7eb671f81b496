/**
 * Giving outputs their final names, step by step. Each step may have been done already by a run that was
 * killed there. Nothing loses a name before the name that it gets instead is durable: outputs keep their
 * staged names until the staging directory goes.
 *
 *     one file        one link, or one rename in place of the former file
 *     new directory   shards are gathered under their names in a directory, which appears by one rename
 *     existing one    former shards are moved aside, then the new ones get their names, then the marker
 *                     appears that says that they are complete; the journal tells how far it came
 */
import { join } from 'node:path';
import { SystemError, VerificationError } from '../errors.js';
import { addName, moveDirectoryIntoPlace, moveIntoPlace, openToOthers, syncParent, syncPath } from '../io/durable.js';
import { removeFile } from '../io/files.js';
import { isSameEntry, nameExists, statPath } from '../io/paths.js';
import { makeOwnDirectory, removeDirectory } from '../io/private-directory.js';
import { ASIDE_NAME } from '../job-directory/job-paths.js';
import { type CommitJournal, removeJournal, writeJournal } from './commit-journal.js';
import { writeCompletionMarker } from './completion-marker.js';
import { type FilesPlace, outputIdentityOf, type ShardsPlace } from './output-place.js';
import { stagedPath } from './output-target.js';
import { completionMarkerName } from './shard-names.js';

/** Where things lie while outputs get their names. */
export interface MoveDirectories {
  readonly stagingDirectory: string;
  /** Holds the journal. */
  readonly jobDirectory: string;
}

/** Does what is left to do; done twice, the second does nothing. */
export async function moveOutputs(
  place: FilesPlace,
  directories: MoveDirectories,
  journal: CommitJournal,
): Promise<void> {
  const { stagingDirectory } = directories;
  requireJournalOf(place, journal);
  if (place.kind === 'file') {
    const give = place.mayReplace ? moveIntoPlace : addName;
    nameOnce(stagedPath(stagingDirectory, 0), place.path, journal.byteLengths[0] ?? 0, give);
    await syncParent(place.path);
  } else if (journal.intoExisting) {
    await moveIntoExisting(place, directories, journal);
  } else {
    await moveAsDirectory(place, stagingDirectory, journal);
  }
}

async function moveAsDirectory(place: ShardsPlace, stagingDirectory: string, journal: CommitJournal): Promise<void> {
  const gathered = join(stagingDirectory, 'shards');
  const shards = shardsOf(journal, stagingDirectory);
  const isMoved =
    !nameExists(gathered, 'output') && shards.some(({ staged, name }) => isNamed(staged, join(place.path, name)));
  const directory = isMoved ? place.path : gathered;
  if (!isMoved) makeOwnDirectory(gathered, 'output');
  for (const { staged, name, byteLength } of shards) nameOnce(staged, join(directory, name), byteLength, addName);
  if (!isMoved) {
    openToOthers(gathered);
    await syncPath(gathered);
    moveDirectoryIntoPlace(gathered, place.path);
  }
  await syncParent(place.path);
}

async function moveIntoExisting(
  place: ShardsPlace,
  { stagingDirectory, jobDirectory }: MoveDirectories,
  journal: CommitJournal,
): Promise<void> {
  if (journal.phase === 'move-aside') {
    const aside = asideDirectory(stagingDirectory);
    makeOwnDirectory(aside, 'output');
    await syncPath(stagingDirectory);
    for (const name of journal.replaced) {
      const [from, to] = [join(place.path, name), join(aside, name)];
      // Both: a run was killed while it put it back.
      if (isSameEntry(from, to, 'output')) removeFile(from, 'output');
      else if (nameExists(from, 'output') && !nameExists(to, 'output')) moveIntoPlace(from, to);
    }
    await syncPath(aside);
    await syncPath(place.path);
    await writeJournal(jobDirectory, { ...journal, phase: 'move-in' });
  }
  for (const { staged, name, byteLength } of shardsOf(journal, stagingDirectory)) {
    nameOnce(staged, join(place.path, name), byteLength, addName);
  }
  await syncPath(place.path);
  if (journal.phase === 'moved') return;
  await writeCompletionMarker(place, stagingDirectory, journal);
  await writeJournal(jobDirectory, { ...journal, phase: 'moved' });
}

/**
 * Takes back what was done in an existing directory: afterwards it holds what it held before, the outputs
 * are staged, and there is no journal. But outputs that all have their names keep them.
 * @param journal as it is on disk.
 */
export async function takeBack(
  place: FilesPlace,
  { stagingDirectory, jobDirectory }: MoveDirectories,
  journal: CommitJournal,
): Promise<void> {
  requireJournalOf(place, journal);
  if (place.kind === 'shards' && journal.intoExisting) {
    if (journal.phase === 'move-in') {
      removeFile(join(place.path, completionMarkerName(place.naming)), 'output');
      for (const { staged, name } of shardsOf(journal, stagingDirectory)) {
        const final = join(place.path, name);
        if (isSameEntry(staged, final, 'output')) removeFile(final, 'output');
        else if (isNamed(staged, final)) moveIntoPlace(final, staged);
      }
      await syncPath(stagingDirectory);
      await syncPath(place.path);
      await writeJournal(jobDirectory, { ...journal, phase: 'move-aside' });
    }
    const aside = asideDirectory(stagingDirectory);
    for (const name of journal.phase === 'moved' ? [] : journal.replaced) {
      const [from, to] = [join(aside, name), join(place.path, name)];
      if (nameExists(from, 'output') && !isSameEntry(from, to, 'output')) addName(from, to);
    }
    await syncPath(place.path);
    removeDirectory(aside);
  }
  await removeJournal(jobDirectory);
}

/**
 * What the journal tells of belongs to this output, and can be where it was.
 * @throws VerificationError, SystemError
 */
function requireJournalOf(place: FilesPlace, { outputIdentity, intoExisting }: CommitJournal): void {
  if (outputIdentity !== outputIdentityOf(place)) {
    throw new VerificationError(`the journal of the job is of another output, ${outputIdentity}`);
  }
  if (place.kind !== 'shards' || !intoExisting || nameExists(place.path, 'output')) return;
  throw new SystemError(
    'ERR_IO',
    `the output directory ${place.path}, into which shards had begun to move, is gone; make it again (mkdir) and run the same command`,
  );
}

/** Holds former files while they make way. */
export function asideDirectory(stagingDirectory: string): string {
  return join(stagingDirectory, ASIDE_NAME);
}

function shardsOf({ names, byteLengths }: CommitJournal, stagingDirectory: string) {
  return names.map((name, shard) => ({
    staged: stagedPath(stagingDirectory, shard),
    name,
    byteLength: byteLengths[shard] ?? 0,
  }));
}

/** Whether what was staged has its final name already: beside the staged one, or instead of it. */
function isNamed(staged: string, final: string): boolean {
  return nameExists(staged, 'output') ? isSameEntry(staged, final, 'output') : nameExists(final, 'output');
}

/** @param byteLength that `final` must have when it has its name already. */
function nameOnce(staged: string, final: string, byteLength: number, give: (from: string, to: string) => void): void {
  if (nameExists(staged, 'output') && !isSameEntry(staged, final, 'output')) {
    give(staged, final);
    return;
  }
  const stat = statPath(final, 'output');
  if (stat?.isFile() === true && Number(stat.size) === byteLength) return;
  throw new VerificationError(
    `the output ${final} was given its name before and is not there any more as it was, with ${byteLength} bytes; make it anew with \`force\``,
  );
}
