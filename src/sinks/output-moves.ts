/**
 * Gives outputs their final names, step by step. A killed attempt may have done any of the steps already. No file loses a
 * name before its next name is durable: outputs keep their staged names until the staging directory goes.
 *
 *     one file        one link, or one rename in place of the former file
 *     new directory   shards and their marker get their names in a directory beside it, which appears by one rename
 *     existing one    former shards are moved aside, then the new ones get their names, then the marker
 *                     appears that says that they are complete; the journal says which of these steps is next
 *
 * A file that replaces one of its name first gets the permissions of that one.
 */
import { dirname, join } from 'node:path';
import { counted, SystemError, VerificationError } from '../errors.js';
import { makeOwnDirectory, removeDirectory } from '../io/directories.js';
import {
  addName,
  keepPermissions,
  moveDirectoryIntoPlace,
  moveIntoPlace,
  openToOthers,
  syncPath,
} from '../io/durable.js';
import { openStagedOutput, removeFile, withFile, writeAt } from '../io/files.js';
import {
  checksumText,
  fileName,
  flag,
  list,
  object,
  oneOf,
  optional,
  text,
  type ValueOf,
  wholeNumber,
} from '../io/json-shape.js';
import { isSameEntry, nameExists, statPath } from '../io/paths.js';
import { damagedFile } from '../io/sealed-file.js';
import { SealedFormat } from '../io/sealed-format.js';
import { replaceDurably } from '../io/small-file.js';
import { splitSummary } from '../job-directory/job-manifest.js';
import { ASIDE_NAME, JOURNAL_NAME } from '../job-directory/job-paths.js';
import { MOST_SHARDS } from '../plan/shard-cuts.js';
import { severalAtOnce } from '../several-at-once.js';
import { type FilesPlace, outputIdentityOf, type ShardsPlace } from './output-place.js';
import { stagedPath } from './output-target.js';
import { completionMarkerName, isMadeWayFor, isNameOfShard, type ShardGroup } from './shard-names.js';

export interface MoveDirectories {
  readonly stagingDirectory: string;
  readonly jobDirectory: string;
}

/** Makes all moves that are not made yet. */
export async function moveOutputs(
  place: FilesPlace,
  directories: MoveDirectories,
  journal: CommitJournal,
): Promise<void> {
  const { stagingDirectory } = directories;
  requireJournalOf(place, journal);
  if (place.kind === 'file') {
    const staged = stagedPath(stagingDirectory, 0);
    const give = place.mayReplace ? moveIntoPlace : addName;
    if (place.mayReplace && isWithoutName(staged, place.path)) await keepPermissions(staged, place.path);
    nameOnce(staged, place.path, journal.byteLengths[0] ?? 0, give);
    await syncPath(dirname(place.path));
  } else if (journal.intoExisting) {
    await moveIntoExisting(place, directories, journal);
  } else {
    await moveAsDirectory(place, stagingDirectory, journal);
  }
}

async function moveAsDirectory(place: ShardsPlace, stagingDirectory: string, journal: CommitJournal): Promise<void> {
  const gathered = join(stagingDirectory, 'shards');
  const shards = shardsOf(journal, stagingDirectory);
  const isMoved = hasMovedAsDirectory(place, stagingDirectory, journal);
  const directory = isMoved ? place.path : gathered;
  if (!isMoved) makeOwnDirectory(gathered, 'output');
  for (const { staged, name, byteLength } of shards) nameOnce(staged, join(directory, name), byteLength, addName);
  if (!isMoved) {
    await writeCompletionMarkers(place, gathered, stagingDirectory, journal);
    openToOthers(gathered);
    await syncPath(gathered);
    moveDirectoryIntoPlace(gathered, place.path);
  }
  await syncPath(dirname(place.path));
}

function hasMovedAsDirectory(place: ShardsPlace, stagingDirectory: string, journal: CommitJournal): boolean {
  if (nameExists(join(stagingDirectory, 'shards'), 'output')) return false;
  return shardsOf(journal, stagingDirectory).some(({ staged, name }) => isNamed(staged, join(place.path, name)));
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
      // Both names exist: an attempt was killed while it put the file back.
      if (isSameEntry(from, to, 'output')) removeFile(from, 'output');
      else if (nameExists(from, 'output') && !nameExists(to, 'output')) moveIntoPlace(from, to);
    }
    await syncPath(aside);
    await syncPath(place.path);
    await writeJournal(jobDirectory, { ...journal, phase: 'move-in' });
  }
  const shards = shardsOf(journal, stagingDirectory);
  const aside = asideDirectory(stagingDirectory);
  const former = new Set(journal.replaced);
  const replacing = shards.filter(
    ({ staged, name }) => former.has(name) && isWithoutName(staged, join(place.path, name)),
  );
  await severalAtOnce(replacing, ({ staged, name }) => keepPermissions(staged, join(aside, name)));
  for (const { staged, name, byteLength } of shards) nameOnce(staged, join(place.path, name), byteLength, addName);
  await syncPath(place.path);
  if (journal.phase !== 'moved') {
    await writeCompletionMarkers(place, place.path, stagingDirectory, journal);
    await syncPath(place.path);
    await writeJournal(jobDirectory, { ...journal, phase: 'moved' });
  }
}

export type FilledGroup = ShardGroup & Omit<Totals, 'splits'>;

/** The shards that get a marker of their own: those of each split, or all. */
export function groupsOf(
  { naming }: ShardsPlace,
  { splits, records, bytes, checksum }: Totals,
  shardCount: number,
): readonly FilledGroup[] {
  if (splits !== undefined) return splits.map(({ name, ...rest }) => ({ prefix: name, ...rest }));
  return naming.prefixes.map((prefix) => ({ prefix, shardCount, records, bytes, checksum }));
}

export function textOfMarker({ shardCount, records, bytes, checksum }: FilledGroup): string {
  return `${JSON.stringify({ shards: shardCount, records, bytes, checksum })}\n`;
}

/**
 * Writes `.PREFIX.complete.json`. In a directory that existed before its shards, it is the last file to appear: while it is
 * missing, the shards of this prefix are not complete, or not all of one job. Each split has its own.
 * @param directory that holds the shards; the caller makes the names in it durable.
 */
export async function writeCompletionMarkers(
  place: ShardsPlace,
  directory: string,
  stagingDirectory: string,
  journal: CommitJournal,
): Promise<void> {
  for (const group of groupsOf(place, journal, journal.names.length)) {
    const name = completionMarkerName(group.prefix);
    const staged = join(stagingDirectory, 'marker');
    removeFile(staged, 'output');
    const text = Buffer.from(textOfMarker(group));
    withFile(openStagedOutput(staged), (file) => writeAt(file, text, 0, text.byteLength, 0));
    await syncPath(staged);
    await keepPermissions(staged, join(asideDirectory(stagingDirectory), name));
    // The former marker was moved aside: an existing one is this one, from a killed attempt.
    moveIntoPlace(staged, join(directory, name));
  }
}

/**
 * Takes back the moves into an existing directory: it holds the former files again, the outputs are staged, and there is no
 * journal. But if all outputs have their final names, they keep them.
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
      for (const { prefix } of groupsOf(place, journal, journal.names.length))
        removeFile(join(place.path, completionMarkerName(prefix)), 'output');
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

export function requireIdentity(place: FilesPlace, { outputIdentity }: CommitJournal): void {
  if (outputIdentity === outputIdentityOf(place)) return;
  throw new VerificationError(`the journal of the job is of another output, ${outputIdentity}`);
}

function requireJournalOf(place: FilesPlace, journal: CommitJournal): void {
  requireIdentity(place, journal);
  const { intoExisting } = journal;
  if (place.kind !== 'shards' || !intoExisting || nameExists(place.path, 'output')) return;
  throw new SystemError(
    'ERR_IO',
    `the output directory ${place.path} is gone, and shards had begun to move into it; make it again (mkdir) and run the same command`,
  );
}

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

/** Whether a staged file has its final name already, beside its staged name or in place of it. */
function isNamed(staged: string, final: string): boolean {
  return nameExists(staged, 'output') ? isSameEntry(staged, final, 'output') : nameExists(final, 'output');
}

function isWithoutName(staged: string, final: string): boolean {
  return nameExists(staged, 'output') && !isSameEntry(staged, final, 'output');
}

/** @param byteLength of `final`, checked when it has its name already. */
function nameOnce(staged: string, final: string, byteLength: number, give: (from: string, to: string) => void): void {
  if (isWithoutName(staged, final)) {
    give(staged, final);
    return;
  }
  const stat = statPath(final, 'output');
  if (stat?.isFile() === true && Number(stat.size) === byteLength) return;
  throw new VerificationError(
    `the output ${final} had its final name already, and is gone or no longer has ${counted(byteLength, 'byte')}; make it again with \`force\``,
  );
}

/**
 * The plan for giving outputs their final names: which shards there are, and which former files they replace. It is
 * written durably before the first move, so that a later attempt can finish or take back the moves of a killed one.
 */
const shape = object({
  /** See `outputIdentityOf`. */
  outputIdentity: text,
  /**
   * `move-aside`: some former files may have been moved aside. `move-in`: all are aside, and some outputs may have their
   * final names. `moved`: all outputs have their final names, and former files may have been removed.
   */
  phase: oneOf('move-aside', 'move-in', 'moved'),
  /** Whether shards get their names in a directory that existed before the job. */
  intoExisting: flag,
  /** In the order of the shards; empty for one output. */
  names: list(fileName),
  byteLengths: list(wholeNumber()),
  replaced: list(fileName),
  records: wholeNumber(),
  bytes: wholeNumber(),
  checksum: checksumText,
  /** In order. Absent: the output is not split. */
  splits: optional(list(splitSummary)),
});

export type SplitSummary = ValueOf<typeof splitSummary>;

export type CommitJournal = ValueOf<typeof shape>;

/** What the output has. Shards may have headers besides. */
export type Totals = Pick<CommitJournal, 'records' | 'bytes' | 'checksum' | 'splits'>;

/** A hundred thousand shards take some 20 MB. */
const format = new SealedFormat({
  kind: 'commit',
  version: 3,
  mostBytes: 2 ** 28,
  role: 'temp',
  shape,
});

export async function writeJournal(jobDirectory: string, journal: CommitJournal): Promise<void> {
  await replaceDurably(jobDirectory, JOURNAL_NAME, format.seal(journal));
}

export async function removeJournal(jobDirectory: string): Promise<void> {
  removeFile(join(jobDirectory, JOURNAL_NAME), 'temp');
  await syncPath(jobDirectory, 'temp');
}

/** Undefined when no output has begun to move. @throws VerificationError when the journal is damaged. */
export function readJournal(jobDirectory: string): CommitJournal | undefined {
  const path = join(jobDirectory, JOURNAL_NAME);
  const journal = format.read(path);
  if (journal !== undefined) requireConsistent(journal, path);
  return journal;
}

/** A journal names no shard (one file) or all of them, and replaces only files with the names of former shards. */
function requireConsistent(journal: CommitJournal, path: string): void {
  const { names, byteLengths, replaced, intoExisting } = journal;
  const shardCount = names.length;
  if (byteLengths.length !== Math.max(1, shardCount) || shardCount > MOST_SHARDS) {
    throw damagedFile(path, `expected as many lengths as outputs, got ${byteLengths.length} and ${shardCount} names`);
  }
  if ((shardCount === 0 && intoExisting) || (replaced.length > 0 && !intoExisting)) {
    throw damagedFile(path, 'expected replaced files only in a directory of shards that existed before');
  }
  const counts = journal.splits?.map((split) => split.shardCount) ?? [shardCount];
  const places = counts.flatMap((count) => Array.from({ length: count }, (_, shard) => ({ shard, count })));
  if (places.length !== shardCount)
    throw damagedFile(path, `expected as many names as the splits have shards, got ${shardCount} of ${places.length}`);
  for (const [i, { shard, count }] of places.entries()) {
    if (isNameOfShard(names[i] ?? '', shard, count)) continue;
    throw damagedFile(path, `names[${i}]: expected the name of shard ${shard} of ${count}`);
  }
  const stranger = replaced.findIndex((name) => !isMadeWayFor(name));
  if (stranger !== -1) throw damagedFile(path, `replaced[${stranger}]: expected the name of a former shard`);
  for (const list of [names, replaced]) {
    if (new Set(list).size !== list.length) throw damagedFile(path, 'it has a name twice');
  }
}
