/**
 * The output between its first byte and its appearance: staged in a private directory on the file
 * system where it will appear, verified, made durable, and moved into place.
 */
import { join } from 'node:path';
import { setImmediate as eventLoopTurn } from 'node:timers/promises';
import { StagedOutputError, SystemError, VerificationError } from '../errors.js';
import { removeDirectory } from '../io/directories.js';
import { appearedDuringJob, byteLengthOf, ensureFile, syncPath } from '../io/durable.js';
import { openStagedOutput, shortenFile, withFile, writeAt } from '../io/files.js';
import { nameExists } from '../io/paths.js';
import { damagedFile } from '../io/sealed-file.js';
import type { GateNumber, JobControl } from '../job-control.js';
import { JOURNAL_NAME } from '../job-directory/job-paths.js';
import { severalAtOnce } from '../several-at-once.js';
import { type CommitJournal, readJournal, writeJournal } from './commit-journal.js';
import type { JobOutput, OutputLayout, OutputSummary } from './job-output.js';
import { asideDirectory, type MoveDirectories, moveOutputs, takeBack } from './output-moves.js';
import { type FilesPlace, outputIdentityOf } from './output-place.js';
import { type OutputTarget, recordBytesOf, stagedPath, type WrittenRegion } from './output-target.js';
import { findFormerFiles, shardName } from './shard-names.js';

/** Smaller outputs are written through the page cache, which costs less for a few pieces. */
const LEAST_DIRECT_BYTES = 16 * 2 ** 20;

/** What is on disk for a run that goes on. */
export interface OutputSafety {
  /** Whether all that the job keeps would survive a power failure. */
  readonly isResumable: boolean;
  /** Makes that so for what finishing the moves takes. */
  readonly beforeMoves: () => Promise<void>;
}

export class StagedOutput implements JobOutput {
  readonly #place: FilesPlace;
  readonly #directories: MoveDirectories;
  readonly #gate: GateNumber;
  readonly #safety: OutputSafety;

  /** @param directories private ones of this job; that for staging on the file system of the output. */
  constructor(place: FilesPlace, directories: MoveDirectories, gate: GateNumber, safety: OutputSafety) {
    this.#place = place;
    this.#directories = directories;
    this.#gate = gate;
    this.#safety = safety;
  }

  get #stagingDirectory(): string {
    return this.#directories.stagingDirectory;
  }

  async begin(layout: OutputLayout, finished: readonly WrittenRegion[]): Promise<OutputTarget> {
    const { cuts, ends, recordBytes, compression } = layout;
    const { headerBytes } = ends;
    const staged = { stagingDirectory: this.#stagingDirectory, cuts, headerBytes, gate: this.#gate };
    if (compression === undefined) {
      return { kind: 'placed', ...staged, direct: recordBytes / cuts.shardCount >= LEAST_DIRECT_BYTES };
    }
    this.#shortenTo(finished, layout);
    return { kind: 'appended', ...staged, compression };
  }

  /** Drops what lies behind the regions that an earlier run has finished: nobody knows how much of it is there. */
  #shortenTo(finished: readonly WrittenRegion[], { cuts, ends }: OutputLayout): void {
    const endOf = endsOfShards(finished);
    for (let shard = 0; shard < cuts.shardCount; shard++) {
      const path = stagedPath(this.#stagingDirectory, shard);
      if (!nameExists(path, 'output')) continue;
      const end = endOf.get(shard);
      const byteLength = end === undefined ? 0 : ends.headerBytes + end;
      if (byteLengthOf(path) > byteLength) withFile(openStagedOutput(path), (file) => shortenFile(file, byteLength));
    }
  }

  /**
   * Asked before the length of headers is known: what is missing of less than one is found when it is read back.
   * @throws StagedOutputError when what an earlier run wrote there is there no more.
   */
  requireStaged(regions: readonly WrittenRegion[]): void {
    for (const [shard, end] of endsOfShards(regions)) {
      const path = stagedPath(this.#stagingDirectory, shard);
      const byteLength = nameExists(path, 'output') ? byteLengthOf(path) : 0;
      if (byteLength >= end) continue;
      throw new StagedOutputError(
        `the staged output ${path} has ${byteLength} bytes, expected at least the ${end} that the unfinished job wrote`,
      );
    }
  }

  async makeDurable(regions: readonly WrittenRegion[]): Promise<void> {
    await this.#syncShards(new Set(regions.map((region) => region.shard)), () => {});
    await syncPath(this.#stagingDirectory);
  }

  /** Also makes the shards that no record went into. */
  async complete({ cuts, ends }: OutputLayout, regions: readonly WrittenRegion[], control: JobControl): Promise<void> {
    const regionsOf = regionsOfShards(regions);
    const endOf = endsOfShards(regions);
    for (let shard = 0; shard < cuts.shardCount; shard++) {
      const ofShard = regionsOf.get(shard) ?? [];
      const recordBytes = recordBytesOf(ofShard);
      const header = ends.headerOf(recordBytes);
      const trailer = ends.trailerOf(recordBytes);
      const path = stagedPath(this.#stagingDirectory, shard);
      if (ofShard.length === 0) ensureFile(path);
      if (header.byteLength + trailer.byteLength === 0) continue;
      const end = header.byteLength + (endOf.get(shard) ?? 0);
      await control.duringAsync(this.#gate, () =>
        withFile(openStagedOutput(path), (file) => {
          writeAt(file, header, 0, header.byteLength, 0);
          writeAt(file, trailer, 0, trailer.byteLength, end);
        }),
      );
    }
  }

  /**
   * Checks that the regions tile the records of each shard and hold all records together, and that the file
   * system agrees about the sizes of the shards.
   * @throws VerificationError
   */
  verify({ cuts, ends, recordBytes }: OutputLayout, regions: readonly WrittenRegion[]): void {
    const regionsOf = regionsOfShards(regions);
    for (let shard = 0; shard < cuts.shardCount; shard++) {
      const path = stagedPath(this.#stagingDirectory, shard);
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
      const byteLength = byteLengthOf(path);
      const expectedBytes = ends.headerBytes + end + ends.trailerOf(recordBytesOf(ofShard)).byteLength;
      if (byteLength !== expectedBytes) {
        throw new VerificationError(
          `the staged output ${path} has ${byteLength} bytes on disk, expected ${expectedBytes}`,
        );
      }
    }
    const written = recordBytesOf(regions);
    if (written !== recordBytes) throw new VerificationError(`${written} bytes were written, expected ${recordBytes}`);
  }

  async commit(summary: OutputSummary, control: JobControl): Promise<readonly string[]> {
    const shards = Array.from({ length: summary.shardCount }, (_, shard) => shard);
    await this.#syncShards(shards, () => control.throwIfAborted());
    // A signal that came meanwhile is heard only now, behind what else came with it.
    await eventLoopTurn();
    control.throwIfAborted();
    const journal = this.#describeMoves(summary, shards);
    const isOneMove = this.#place.kind === 'file' || !this.#place.exists;
    // What takes several moves must be finished, or taken back, by whoever comes next.
    const { isResumable, beforeMoves } = this.#safety;
    if (isResumable || !isOneMove) {
      if (!isResumable) await beforeMoves();
      await syncPath(this.#stagingDirectory);
      await writeJournal(this.#directories.jobDirectory, journal);
    }
    if (isOneMove) await moveOutputs(this.#place, this.#directories, journal);
    else await this.#moveOrTakeBack(this.#place, journal);
    this.#dropFormerFiles();
    return this.#pathsOf(journal);
  }

  /**
   * Goes on with what a run that was killed had begun to move. @returns as `commit`.
   * @throws VerificationError when something that it had moved is not there any more.
   */
  async finish(journal: CommitJournal): Promise<readonly string[]> {
    this.#requireOwn(journal);
    await moveOutputs(this.#place, this.#directories, journal);
    this.#dropFormerFiles();
    return this.#pathsOf(journal);
  }

  #describeMoves({ records, bytes, checksum }: OutputSummary, shards: readonly number[]): CommitJournal {
    const place = this.#place;
    const byteLengths = shards.map((shard) => byteLengthOf(stagedPath(this.#stagingDirectory, shard)));
    const outputIdentity = outputIdentityOf(place);
    const common = { outputIdentity, phase: 'move-aside', byteLengths, records, bytes, checksum } as const;
    if (place.kind === 'file') return { ...common, intoExisting: false, names: [], replaced: [] };
    const names = shards.map((shard) => shardName(place.naming, shard, shards.length));
    const replaced = place.exists ? findFormerFiles(place) : [];
    const [appeared] = replaced;
    if (appeared !== undefined && !place.mayReplace) throw appearedDuringJob(join(place.path, appeared));
    return { ...common, intoExisting: place.exists, names, replaced };
  }

  /** @throws VerificationError when the journal is whole and tells of other outputs than these. */
  #requireOwn({ names }: CommitJournal): void {
    const place = this.#place;
    const isOwn =
      place.kind === 'file'
        ? names.length === 0
        : names.length > 0 && names.every((name, shard) => name === shardName(place.naming, shard, names.length));
    if (isOwn) return;
    const path = join(this.#directories.jobDirectory, JOURNAL_NAME);
    throw damagedFile(path, `expected the outputs of ${place.path}, got others`);
  }

  /** When a step fails, all are undone: the output is there as a whole, or what was there before is. */
  async #moveOrTakeBack(place: FilesPlace, journal: CommitJournal): Promise<void> {
    const { stagingDirectory, jobDirectory } = this.#directories;
    try {
      await moveOutputs(place, this.#directories, journal);
    } catch (error) {
      try {
        const soFar = readJournal(jobDirectory) ?? journal;
        // Else all of the output is there, and a run that goes on finds that.
        if (soFar.phase !== 'moved') await takeBack(place, this.#directories, soFar);
      } catch (failure) {
        throw new SystemError(
          'ERR_IO',
          `${messageOf(error)}; the former shards could not all be put back (${messageOf(failure)}): they are in ${asideDirectory(stagingDirectory)}`,
          { cause: error },
        );
      }
      throw error;
    }
  }

  #pathsOf(journal: CommitJournal): readonly string[] {
    return journal.names.map((name) => join(this.#place.path, name));
  }

  async #syncShards(shards: Iterable<number>, beforeEach: () => void): Promise<void> {
    await severalAtOnce(shards, async (shard) => {
      beforeEach();
      await syncPath(stagedPath(this.#stagingDirectory, shard));
    });
  }

  /** What cannot be removed is told when the directory is. */
  #dropFormerFiles(): void {
    try {
      removeDirectory(asideDirectory(this.#stagingDirectory));
    } catch {
      // The output is complete, whatever is left of the former one.
    }
  }
}

function regionsOfShards(regions: readonly WrittenRegion[]): Map<number, WrittenRegion[]> {
  const regionsOf = new Map<number, WrittenRegion[]>();
  for (const region of regions) {
    const others = regionsOf.get(region.shard);
    if (others === undefined) regionsOf.set(region.shard, [region]);
    else others.push(region);
  }
  return regionsOf;
}

/** Where the last region of each shard ends. */
function endsOfShards(regions: readonly WrittenRegion[]): Map<number, number> {
  const endOf = new Map<number, number>();
  for (const { shard, end } of regions) endOf.set(shard, Math.max(end, endOf.get(shard) ?? 0));
  return endOf;
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
