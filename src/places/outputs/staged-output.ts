/**
 * The output from its first byte until it appears: staged in a private directory on the file system where it will appear,
 * verified, made durable, and moved into place. A commit has three steps, which the job calls in this order:
 *
 *     prepareCommit   bytes are durable, moves are planned        until here the job can be stopped
 *     journalMoves    moves are in the journal                    if the job is resumable, or the moves are several
 *     commitMoves     outputs have their final names              or a failure rolled all of it back
 *
 * Between the first and the second the job makes its directory durable, if it is not resumable: a later attempt needs it to
 * read the journal.
 */
import { join } from 'node:path';
import { setImmediate as eventLoopTurn } from 'node:timers/promises';
import { counted, StagedOutputError, VerificationError } from '../../errors.js';
import { forEachConcurrently } from '../../floor/for-each-concurrently.js';
import { type GateNumber, type JobControl, UNGATED } from '../../floor/job-control.js';
import { type FileContent, finalEnds } from '../../formats/stored-ends.js';
import { removeDirectory } from '../../io/directories.js';
import { openForRead, openStagedOutput, withFile, writeAt } from '../../io/files.js';
import { CARD_NAME, isBesideShards } from '../../io/own-files.js';
import { nameExists } from '../../io/paths.js';
import { byteLengthOf, ensureFile, outputAppearedError, syncPath } from '../../io/rename-and-sync.js';
import { damagedFileError } from '../../io/sealed-file.js';
import { JOURNAL_NAME } from '../../job-directory/job-paths.js';
import type { WrittenRegion } from '../../job-directory/notes.js';
import { cutAt, type PartCuts } from '../../plan/shard-cuts.js';
import { shortenStaged } from '../../sinks/appended-shards.js';
import { type OutputLayout, trailerBytesOf } from '../../sinks/output-layout.js';
import { type OutputTarget, recordBytesOf, stagedPath } from '../../sinks/output-target.js';
import type { ShuffleSpec } from '../../spec.js';
import {
  type CommitDirectories,
  type CommitJournal,
  finalNames,
  type OutputTotals,
  writeJournal,
} from './commit-journal.js';
import { cardText } from './dataset-card.js';
import { outputIdentityOf, shardsAt } from './destination.js';
import { asideDirectory, stageBeside } from './file-moves.js';
import type { OutputPlace } from './output-place.js';
import { isShard } from './shard-names.js';
import { sumsFile } from './sums-file.js';

/**
 * Smaller outputs are written through the page cache, which costs less for a few pieces. So are outputs on a device without
 * a limit, which copies in memory.
 */
const LEAST_DIRECT_BYTES = 2 ** 20;

export interface OutputSummary extends OutputTotals, Partial<Pick<CommitJournal, 'sums' | 'emptyShards'>> {
  readonly shardCount: number;
  /** The spec, if the job may have a dataset card. */
  readonly spec?: ShuffleSpec | undefined;
  /** Returns the SHA-256 of files, in hex. Absent: the output has none beside it. */
  readonly digest?: ((paths: readonly string[], gate: GateNumber) => Promise<readonly string[]>) | undefined;
}

export class StagedOutput {
  readonly #place: OutputPlace;
  readonly #directories: CommitDirectories;
  readonly #gate: GateNumber;
  readonly #isResumable: boolean;

  /**
   * @param directories private to this job; the staging directory is where the place wants it.
   * @param isResumable whether a later process may need what is staged.
   */
  constructor(place: OutputPlace, directories: CommitDirectories, gate: GateNumber, isResumable = true) {
    this.#place = place;
    this.#directories = directories;
    this.#gate = gate;
    this.#isResumable = isResumable;
  }

  get #stagingDirectory(): string {
    return this.#directories.stagingDirectory;
  }

  /** @param finished the durable regions that an earlier attempt wrote. */
  async begin(layout: OutputLayout, finished: readonly WrittenRegion[]): Promise<OutputTarget> {
    const { kind, cuts, ends, recordBytes, compression, rows, units } = layout;
    const { headerBytes } = ends;
    const staged = { stagingDirectory: this.#stagingDirectory, cuts, headerBytes, gate: this.#gate };
    const sent = await this.#place.planTransfers?.(this.#stagingDirectory, layout, finished, this.#isResumable);
    if (kind === 'appended' || sent !== undefined) {
      this.truncate(finished, layout);
      const gate = sent === undefined ? this.#gate : UNGATED;
      return { kind: 'appended', ...staged, gate, compression, rows, units, transfers: sent };
    }
    const direct = this.#gate !== UNGATED && recordBytes / cuts.shardCount >= LEAST_DIRECT_BYTES;
    return { kind, ...staged, direct };
  }

  /**
   * Cuts off the bytes after the regions: of an earlier attempt it is not known how many of them are whole, and a task makes
   * a file longer than it becomes. Opens each file, so that this machine asks for its size.
   * @param areAll whether these are all regions, so that the end of the file follows them.
   */
  truncate(regions: readonly WrittenRegion[], layout: OutputLayout, areAll = false): void {
    const regionsOf = regionsByShard(regions);
    const contents = this.#contentsOf(layout, regionsOf);
    const ends = areAll ? finalEnds(layout.ends, contents) : layout.ends;
    for (const [shard, content] of contents.entries()) {
      const { path } = content;
      if (!nameExists(path, 'output')) continue;
      const isEmpty = !areAll && !regionsOf.has(shard);
      const byteLength = isEmpty ? 0 : content.byteLength + (areAll ? trailerBytesOf(ends, content) : 0);
      shortenStaged(path, byteLength);
    }
  }

  /** The length of headers is not known yet. If less than a header is missing, reading back finds it. */
  requireStaged(regions: readonly WrittenRegion[]): void {
    for (const [shard, end] of endsOfShards(regions)) {
      const path = stagedPath(this.#stagingDirectory, shard);
      const byteLength = nameExists(path, 'output') ? byteLengthOf(path) : 0;
      if (byteLength >= end) continue;
      throw new StagedOutputError(
        `the staged output ${path} has ${counted(byteLength, 'byte')}, expected at least the ${end} that the unfinished job wrote`,
      );
    }
  }

  /** Returns the content that the regions make of each shard. */
  #contentsOf({ cuts, ends }: OutputLayout, regionsOf: ReadonlyMap<number, readonly WrittenRegion[]>): FileContent[] {
    return Array.from({ length: cuts.shardCount }, (_, shard) => {
      const path = stagedPath(this.#stagingDirectory, shard);
      const regions = regionsOf.get(shard) ?? [];
      const end = regions.reduce((most, region) => Math.max(most, region.end), 0);
      const open = () => openForRead(path, 'output');
      return { path, byteLength: ends.headerBytes + end, recordBytes: recordBytesOf(regions), open };
    });
  }

  /** Waits until the regions would survive a power failure. */
  async makeDurable(regions: readonly Pick<WrittenRegion, 'shard'>[]): Promise<void> {
    await this.#syncShards(new Set(regions.map((region) => region.shard)), () => {});
    await syncPath(this.#stagingDirectory);
  }

  /** Writes headers and trailers, when all regions are written, and makes the shards without a record. May be repeated. */
  async complete(layout: OutputLayout, regions: readonly WrittenRegion[], control: JobControl): Promise<void> {
    const regionsOf = regionsByShard(regions);
    const contents = this.#contentsOf(layout, regionsOf);
    const ends = finalEnds(layout.ends, contents);
    for (const [shard, content] of contents.entries()) {
      const { path } = content;
      const header = ends.headerOf(content.recordBytes, content);
      const trailer = ends.trailerOf(content);
      if (!regionsOf.has(shard)) ensureFile(path, 'output');
      if (header.byteLength === 0 && isNothing(trailer)) continue;
      await control.duringAsync(this.#gate, () =>
        withFile(openStagedOutput(path), (file) => {
          writeAt(file, header, 0, header.byteLength, 0);
          let end = content.byteLength;
          for (const piece of trailer) {
            writeAt(file, piece, 0, piece.byteLength, end);
            end += piece.byteLength;
          }
        }),
      );
    }
    await this.#place.finishTransfers?.(this.#stagingDirectory, layout, regionsOf);
  }

  /**
   * Checks that the regions tile the records of each shard and together hold all records, that fitted cuts and splits
   * lie between records, and that the sizes of the files agree.
   */
  verify(layout: OutputLayout, regions: readonly WrittenRegion[]): void {
    const { cuts, recordBytes } = layout;
    const regionsOf = regionsByShard(regions);
    const contents = this.#contentsOf(layout, regionsOf);
    const ends = finalEnds(layout.ends, contents);
    for (const [shard, content] of contents.entries()) {
      const { path } = content;
      let end = 0;
      const ofShard = regionsOf.get(shard) ?? [];
      for (const region of ofShard.sort((a, b) => a.start - b.start)) {
        if (region.start !== end) {
          throw new VerificationError(
            `the records of the staged output ${path} were written up to byte ${end} and from byte ${region.start} on, expected no gap and no overlap`,
          );
        }
        end = region.end;
      }
      const shardBytes = content.recordBytes;
      const cutBytes =
        'starts' in cuts ? Math.min(cutAt(cuts, shard + 1), recordBytes) - cutAt(cuts, shard) : shardBytes;
      if (shardBytes !== cutBytes) {
        throw new VerificationError(
          `the staged output ${path} has ${counted(shardBytes, 'byte')} of records, expected ${cutBytes}: its cuts do not lie between records`,
        );
      }
      const byteLength = byteLengthOf(path);
      const expectedBytes = content.byteLength + trailerBytesOf(ends, content);
      if (byteLength !== expectedBytes) {
        throw new VerificationError(
          `the staged output ${path} has ${counted(byteLength, 'byte')} on disk, expected ${expectedBytes}`,
        );
      }
    }
    if ('parts' in cuts) requireBytesOfParts(cuts, regionsOf);
    const written = recordBytesOf(regions);
    if (written !== recordBytes)
      throw new VerificationError(`${counted(written, 'byte')} were written, expected ${recordBytes}`);
  }

  /**
   * The first step of a commit: waits until the bytes of all shards are durable, and plans their moves. The job can be
   * stopped until this ends, and no longer.
   */
  async prepareCommit(summary: OutputSummary, control: JobControl): Promise<CommitJournal> {
    const shards = Array.from({ length: summary.shardCount }, (_, shard) => shard);
    const paths = shards.map((shard) => stagedPath(this.#stagingDirectory, shard));
    const digests = await summary.digest?.(paths, this.#gate);
    await this.#syncShards(shards, () => control.throwIfAborted());
    // The event loop delivers a signal that came meanwhile.
    await eventLoopTurn();
    control.throwIfAborted();
    const journal = await this.#describeMoves(summary, shards, digests);
    const [besideFile] = this.#place.to.kind === 'file' ? (journal.beside ?? []) : [];
    if (besideFile !== undefined) await stageBeside(this.#stagingDirectory, besideFile.text);
    return journal;
  }

  /**
   * The second step, of a job that is resumable or whose moves are several: writes down the moves, durably, for a later
   * attempt. The job directory and the names in it must be durable before (JobDirectory.syncNames).
   */
  async journalMoves(journal: CommitJournal): Promise<void> {
    await syncPath(this.#stagingDirectory);
    await writeJournal(this.#directories.jobDirectory, journal);
  }

  /**
   * The last step: gives the outputs their final names, durably. If one of several moves fails, the earlier ones are taken
   * back where that can be.
   * @returns the final paths of the shards; none for one output.
   */
  async commitMoves(journal: CommitJournal): Promise<readonly string[]> {
    await this.#place.publish(this.#directories, journal, !this.#place.isPublishedAtOnce);
    return this.#afterMoves(journal);
  }

  /** Finishes the moves that a killed attempt had begun. */
  async finishMoves(journal: CommitJournal): Promise<readonly string[]> {
    this.#requireOwn(journal);
    await this.#place.publish(this.#directories, journal, false);
    return this.#afterMoves(journal);
  }

  async #describeMoves(
    { records, bytes, checksum, splits, sums, emptyShards, spec }: OutputSummary,
    shards: readonly number[],
    digests: readonly string[] | undefined,
  ): Promise<CommitJournal> {
    const { to } = this.#place;
    const byteLengths = shards.map((shard) => byteLengthOf(stagedPath(this.#stagingDirectory, shard)));
    const outputIdentity = outputIdentityOf(to);
    const totals = { records, bytes, checksum, splits };
    const names = finalNames(to, totals, shards.length);
    const replaced = await this.#place.replacedNames();
    const appeared = replaced.find((name) => isShard(name) || isBesideShards(name));
    if (appeared !== undefined && !to.mayReplace) throw outputAppearedError(this.#place.pathOf(appeared));
    const intoExisting = shardsAt(to).exists;
    const card = spec && cardText(to, spec, totals, shards.length);
    const beside = [
      ...(card === undefined ? [] : [{ name: CARD_NAME, text: card }]),
      ...(digests === undefined ? [] : [sumsFile(to, names, digests)]),
    ];
    const described = { ...totals, sums, emptyShards, beside: beside.length === 0 ? undefined : beside };
    return { outputIdentity, phase: 'move-aside', byteLengths, ...described, intoExisting, names, replaced };
  }

  /** An undamaged journal may be of other outputs. */
  #requireOwn(journal: CommitJournal): void {
    const { to } = this.#place;
    const { names, byteLengths } = journal;
    const expected = finalNames(to, journal, byteLengths.length);
    if (names.length === expected.length && names.every((name, shard) => name === expected[shard])) return;
    const path = join(this.#directories.jobDirectory, JOURNAL_NAME);
    throw damagedFileError(path, `expected the outputs of ${to.path}, got others`);
  }

  #afterMoves({ names }: CommitJournal): readonly string[] {
    try {
      removeDirectory(asideDirectory(this.#stagingDirectory));
    } catch {
      // The output is complete without that. If the former files still cannot be removed, the end of the job reports it.
    }
    return names.map((name) => this.#place.pathOf(name));
  }

  async #syncShards(shards: Iterable<number>, beforeEach: () => void): Promise<void> {
    await forEachConcurrently(shards, async (shard) => {
      beforeEach();
      await syncPath(stagedPath(this.#stagingDirectory, shard));
      const note = this.#place.notePath?.(this.#stagingDirectory, shard);
      if (note !== undefined) await syncPath(note);
    });
  }
}

function requireBytesOfParts({ parts }: PartCuts, regionsOf: ReadonlyMap<number, WrittenRegion[]>): void {
  for (const [i, { firstShard, bytes, cuts }] of parts.entries()) {
    let written = 0;
    for (let shard = firstShard; shard < firstShard + cuts.shardCount; shard++)
      written += recordBytesOf(regionsOf.get(shard) ?? []);
    if (written === bytes) continue;
    throw new VerificationError(
      `part ${i} of the output has ${counted(written, 'byte')} in the shards from ${firstShard} on, expected ${bytes}: it does not begin between records`,
    );
  }
}

function regionsByShard(regions: readonly WrittenRegion[]): Map<number, WrittenRegion[]> {
  const regionsOf = new Map<number, WrittenRegion[]>();
  for (const region of regions) {
    const others = regionsOf.get(region.shard);
    if (others === undefined) regionsOf.set(region.shard, [region]);
    else others.push(region);
  }
  return regionsOf;
}

function isNothing(pieces: Iterable<Uint8Array>): boolean {
  return Array.isArray(pieces) && pieces.length === 0;
}

/** Returns where the last region of each shard ends. */
function endsOfShards(regions: readonly WrittenRegion[]): Map<number, number> {
  const endOf = new Map<number, number>();
  for (const { shard, end } of regions) endOf.set(shard, Math.max(end, endOf.get(shard) ?? 0));
  return endOf;
}
