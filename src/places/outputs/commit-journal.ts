/** The journal of a commit: what gets which final name, written down before the first step. */
import { join } from 'node:path';
import { VerificationError } from '../../errors.js';
import { replaceDurably } from '../../io/atomic-files.js';
import { removeFile } from '../../io/files.js';
import {
  checksumText,
  fileName,
  flag,
  list,
  object,
  oneOf,
  optional,
  placeBelow,
  text,
  type ValueOf,
  wholeNumber,
} from '../../io/json-shape.js';
import { syncPath } from '../../io/rename-and-sync.js';
import { damagedFileError } from '../../io/sealed-file.js';
import { SealedFormat } from '../../io/sealed-format.js';
import { splitSummary } from '../../job-directory/job-manifest.js';
import { JOURNAL_NAME } from '../../job-directory/job-paths.js';
import { valueOfDirectory } from '../../keep/sections.js';
import { MOST_SHARDS } from '../../plan/shard-cuts.js';
import { type Destination, outputIdentityOf, shardsAt } from './destination.js';
import { completionMarkerName, isReplaceableName, isShardName, type ShardGroup, shardNames } from './shard-names.js';

export interface CommitDirectories {
  readonly stagingDirectory: string;
  readonly jobDirectory: string;
}

/**
 * The plan for giving outputs their final names: which shards there are, and which former files they replace. It is
 * written durably before the first move, so that a later attempt can finish or roll back the moves of a killed one.
 */
const shape = object({
  /** See `outputIdentityOf`. */
  outputIdentity: text,
  /**
   * `move-aside`: some former files may have been moved aside. `move-in`: all are aside, and some outputs may have their
   * final names. `moved`: all outputs have their final names, and former files may have been removed.
   */
  phase: oneOf('move-aside', 'move-in', 'moved'),
  /** True if shards get their names in a directory that existed before the job. */
  intoExisting: flag,
  /** The names in the order of the shards; empty for one output. */
  names: list(placeBelow),
  byteLengths: list(wholeNumber()),
  replaced: list(fileName),
  records: wholeNumber(),
  bytes: wholeNumber(),
  checksum: checksumText,
  /** The splits or sections in order. Absent: the output is one. */
  splits: optional(list(splitSummary)),
  /** The sums of a number in each record: of all, and of each split. Absent: nothing is added up. */
  sums: optional(object({ of: text, total: text, splits: list(text) })),
  /** How many shards have no record, of an output without splits. Absent: none. */
  emptyShards: optional(wholeNumber()),
  /** Other files that appear with the shards, or beside one file. Absent: none. */
  beside: optional(list(object({ name: fileName, text }))),
});

export type SplitSummary = ValueOf<typeof splitSummary>;

export type CommitJournal = ValueOf<typeof shape>;

/** The totals of the output. Shards may have headers besides. */
export type OutputTotals = Pick<CommitJournal, 'records' | 'bytes' | 'checksum' | 'splits'>;

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

/** Reads the journal. Undefined when no output has begun to move. @throws VerificationError when the journal is damaged. */
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
    throw damagedFileError(
      path,
      `expected as many lengths as outputs, got ${byteLengths.length} and ${shardCount} names`,
    );
  }
  if ((shardCount === 0 && intoExisting) || (replaced.length > 0 && !intoExisting)) {
    throw damagedFileError(path, 'expected replaced files only in a directory of shards that existed before');
  }
  const counts = journal.splits?.map((split) => split.shardCount) ?? [shardCount];
  const places = counts.flatMap((count) => Array.from({ length: count }, (_, shard) => ({ shard, count })));
  if (places.length !== shardCount)
    throw damagedFileError(
      path,
      `expected as many names as the splits have shards, got ${shardCount} of ${places.length}`,
    );
  for (const [i, { shard, count }] of places.entries()) {
    if (isShardName(names[i] ?? '', shard, count)) continue;
    throw damagedFileError(path, `names[${i}]: expected the name of shard ${shard} of ${count}`);
  }
  const stranger = replaced.findIndex((name) => !isReplaceableName(name));
  if (stranger !== -1) throw damagedFileError(path, `replaced[${stranger}]: expected the name of a former shard`);
  for (const list of [names, replaced]) {
    if (new Set(list).size !== list.length) throw damagedFileError(path, 'it has a name twice');
  }
}

type ShardGroupTotals = ShardGroup & Omit<OutputTotals, 'splits'>;

/** The shards that get a marker of their own: those of each split, or all. One file has none. */
export function shardGroupsOf(
  to: Destination,
  { splits, records, bytes, checksum }: OutputTotals,
  shardCount: number,
): readonly ShardGroupTotals[] {
  const { sections, prefixes } = shardsAt(to).naming;
  const within = sections === undefined ? '' : `/${prefixes[0]}`;
  if (splits !== undefined) return splits.map(({ name, ...rest }) => ({ prefix: `${name}${within}`, ...rest }));
  return prefixes.map((prefix) => ({ prefix, shardCount, records, bytes, checksum }));
}

/** Returns the final names of the shards, in their order; none for one file. */
export function finalNames(to: Destination, totals: OutputTotals, shardCount: number): readonly string[] {
  return shardNames(shardsAt(to).naming, shardGroupsOf(to, totals, shardCount));
}

/**
 * Returns what lies beside shards: the files that the journal names, and last the markers, of each split or of the output. That
 * of sections has what each value has, too.
 */
export function filesBeside(to: Destination, journal: CommitJournal): readonly { name: string; text: string }[] {
  const { sections } = shardsAt(to).naming;
  const shardCount = journal.names.length;
  const { beside = [] } = journal;
  if (sections !== undefined)
    return [...beside, { name: completionMarkerName(sections), text: sectionsText(journal, shardCount) }];
  const groups = shardGroupsOf(to, journal, shardCount);
  const markers = groups.map(({ prefix, shardCount: shards, records, bytes, checksum }) => ({
    name: completionMarkerName(prefix),
    text: `${JSON.stringify({ shards, records, bytes, checksum })}\n`,
  }));
  return [...beside, ...markers];
}

function sectionsText({ splits = [], records, bytes, checksum }: OutputTotals, shardCount: number): string {
  const values = splits
    .map(({ name: directory, shardCount: shards, ...totals }) => {
      return { value: valueOfDirectory(directory), directory, shards, ...totals };
    })
    .sort((a, b) => (a.directory < b.directory ? -1 : 1));
  return `${JSON.stringify({ shards: shardCount, records, bytes, checksum, values })}\n`;
}

export function requireSameOutput(to: Destination, { outputIdentity }: CommitJournal): void {
  if (outputIdentity === outputIdentityOf(to)) return;
  throw new VerificationError(`the journal of the job is of another output, ${outputIdentity}`);
}
