/**
 * The contract of output places. A place takes staged shards, and publishes the output when it is complete, or rolls it
 * back. Passes and jobs ask it, and know neither disks nor services. `output-kinds.ts` has the kinds of places.
 */

import { dirname, join } from 'node:path';
import { UsageError } from '../../errors.js';
import type { List } from '../../floor/paged-list.js';
import { globOfShards } from '../../io/own-files.js';
import type { WrittenRegion } from '../../job-directory/notes.js';
import type { TransferRequest } from '../../remote/transfer-client.js';
import type { OutputLayout } from '../../sinks/output-layout.js';
import type { ShardTransfers } from '../../sinks/output-target.js';
import type { CommitDirectories, CommitJournal } from './commit-journal.js';
import { type Destination, shardsAt } from './destination.js';
import { type ShardNaming, shardName } from './shard-names.js';

/** An output that is written in place, and cannot be taken back. */
export interface StreamPlace {
  readonly kind: 'stream';
  readonly path: string;
}

/** The facts of a job that places need when they are opened. */
export interface PlacesRequest extends Pick<TransferRequest, 'memoryBytes' | 'workers' | 'service' | 'onRetry'> {
  /** The least size of the parts in which shards leave. */
  readonly partBytes?: number | undefined;
}

/** The places of one kind, as this process reaches them. */
export interface OutputPlaces {
  /** The part of the memory budget that they take. */
  readonly poolBytes: number;
  /**
   * Finds out what `output` names now, and refuses what can be no output.
   * @param naming undefined for one output.
   * @param hasSums whether the SHA-256 of one output lies beside it.
   */
  resolve(
    output: string | undefined,
    naming: ShardNaming | undefined,
    mayReplace: boolean,
    hasSums?: boolean,
  ): OutputPlace | StreamPlace;
  /** Opens a place that was resolved before, perhaps by another process. */
  reopen(to: Destination): OutputPlace;
  /** Lists the uploads that killed jobs have left at an address or below it. */
  findStrayUploads(address: string, signal: AbortSignal | undefined): Promise<readonly StrayUpload[]>;
}

export interface StrayUpload {
  readonly address: string;
  readonly begunAt: Date;
  remove(): Promise<void>;
}

/** The place of an output that appears only when it is complete. An absent method has nothing to do there. */
export interface OutputPlace {
  readonly kind: 'staged';
  readonly to: Destination;
  /**
   * True if staged files become the output: then tasks may write one file together, and what they wrote can be read
   * back.
   */
  readonly isOnDisk: boolean;
  /** True if one step publishes the output. If it takes several, a later attempt must finish them or roll them back. */
  readonly isPublishedAtOnce: boolean;
  /** The warning for a user who interrupts while the output is published. */
  readonly interruptWarning?: string;
  /** True if `publish` found an output of somebody else and removed all of its own: nothing is left to resume. */
  readonly wasRolledBack?: boolean;
  /** Returns the part of the memory budget that it takes in another process. */
  poolBytesOf?(machine: Pick<PlacesRequest, 'memoryBytes' | 'workers'>): number;
  /** Returns the directory in which the output must be staged. */
  stagingParent?(): string;
  /** @param name of a file in the directory of shards. */
  pathOf(name: string): string;

  /**
   * Fails if the job may not replace what is there, or cannot make the output.
   * @param output as the user named it.
   * @param inputs the regular files that the job reads; an output that is one of them gets its own message.
   * @param isDryRun then nothing is tried.
   */
  requireReplaceable(output: string, inputs: List<{ readonly path: string }>, isDryRun: boolean): Promise<void>;
  /** Returns names of what the output replaces: former shards, then markers. */
  replacedNames(): Promise<readonly string[]>;
  /** Returns names of shards in the directory that this output does not replace. */
  otherShards?(): readonly string[];
  /** Returns a line for each file of the output that is there, in which every change of the file shows. */
  describeFiles(): Promise<readonly string[]>;

  /**
   * Says how tasks upload the shards, part by part.
   * @param finished what an earlier attempt wrote: fails if that is not there any more.
   * @param isResumable whether a later process may need what is staged.
   */
  planTransfers?(
    stagingDirectory: string,
    layout: OutputLayout,
    finished: readonly WrittenRegion[],
    isResumable: boolean,
  ): Promise<ShardTransfers>;
  /** Uploads what no task has uploaded of the staged files, which are complete. */
  finishTransfers?(
    stagingDirectory: string,
    layout: OutputLayout,
    regionsOf: ReadonlyMap<number, readonly WrittenRegion[]>,
  ): Promise<void>;
  /** The note about a shard that the place has beside its staged file. */
  notePath?(stagingDirectory: string, shard: number): string;

  /**
   * Gives the outputs their final names, durably. A killed attempt may have done any of the steps already.
   * @param rollsBack whether what was done is undone if a step fails and can be undone.
   */
  publish(directories: CommitDirectories, journal: CommitJournal, rollsBack: boolean): Promise<void>;
  /** Undoes what a killed attempt did of `publish`. */
  rollBack?(directories: CommitDirectories, journal: CommitJournal): Promise<void>;

  /** Aborts the uploads that a killed attempt had begun and not noted. */
  discardStray?(stagingDirectory: string, onWarning: (line: string) => void): Promise<void>;
  /** Aborts the uploads that the notes in a staging directory name, before the notes are removed. */
  discardStaged?(stagingDirectory: string): Promise<void>;
}

export function sumsPlaceError(path: string): UsageError {
  return outputPlaceError(
    `\`sums\` reads the output back when it is complete, and ${path} cannot be read back; expected a file or a directory on a disk as \`output\``,
  );
}

export function outputPlaceError(text: string): UsageError {
  return new UsageError(text, 'ERR_OUTPUT_PLACE');
}

export function notEmptyError(output: string): UsageError {
  return new UsageError(
    `the output directory ${output} is not empty; \`each\` needs a new or empty one, also with \`force\``,
    'ERR_OUTPUT_EXISTS',
  );
}

/**
 * Fails if the next job of the same inputs would read the output.
 * @param what how messages call the output: `the output out`.
 * @param placeOf where that job would read a file; undefined: it would not.
 */
export function requireUnread(
  what: string,
  output: OutputPlace,
  placeOf: (path: string) => { readonly directory: string; readonly place: string } | undefined,
): void {
  const { to } = output;
  const { exists, naming } = shardsAt(to);
  const isFile = to.kind === 'file';
  const shards = naming.prefixes.map((prefix) => output.pathOf(shardName({ ...naming, prefix }, 0, 1)));
  const files = isFile ? [to.path] : shards;
  const found = files.map(placeOf).find((place) => place !== undefined);
  if (found === undefined) return;
  const { directory, place } = found;
  const below = isFile ? place : dirname(place);
  const glob = exists ? join(below, globOfShards(naming.prefixes)) : below;
  throw outputPlaceError(
    `${what} lies in the input directory ${directory}, where the next job would read it; name a place elsewhere, or give \`exclude\` '/${glob}' to leave it out`,
  );
}
