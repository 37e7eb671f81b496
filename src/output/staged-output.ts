/**
 * The output between its first byte and its appearance: staged in a private directory on the file
 * system where it will appear, verified, made durable, and moved into place by rename or link.
 */
import { dirname, join } from 'node:path';
import { SystemError, VerificationError } from '../errors.js';
import {
  appearedDuringJob,
  byteLengthOf,
  createEmpty,
  moveDirectoryIntoPlace,
  moveIntoPlace,
  syncParent,
  syncPath,
} from '../io/durable.js';
import type { GateNumber, JobControl } from '../io/job-control.js';
import { makeDirectory, makePrivateDirectory, removeDirectory } from '../io/private-directory.js';
import type { ShardCuts } from '../plan/shard-cuts.js';
import type { OutputPlace } from './output-place.js';
import { type OutputTarget, stagedPath, type WrittenRegion } from './output-target.js';
import { findShards, shardName } from './shard-names.js';

/** fsync calls under way at one time. */
const SYNCS_AT_ONCE = 4;
/** Smaller outputs are written through the page cache, which costs less for a few pieces. */
const LEAST_DIRECT_BYTES = 16 * 2 ** 20;

type FilesPlace = OutputPlace & { kind: 'file' | 'shards' };

export class StagedOutput {
  readonly #place: FilesPlace;
  readonly #stagingDirectory: string;
  readonly #gate: GateNumber;
  /** Whether what is staged must not be removed. */
  #keepsStaging = false;

  constructor(place: FilesPlace, gate: GateNumber) {
    this.#place = place;
    this.#gate = gate;
    const parent = place.kind === 'shards' && place.exists ? place.path : dirname(place.path);
    this.#stagingDirectory = makePrivateDirectory(parent, '.pileshuf-', 'output');
  }

  target(cuts: ShardCuts, totalBytes: number): OutputTarget {
    const direct = totalBytes / cuts.shardCount >= LEAST_DIRECT_BYTES;
    return { kind: 'files', stagingDirectory: this.#stagingDirectory, cuts, gate: this.#gate, direct };
  }

  /**
   * Checks that the regions tile each shard and all shards together `totalBytes`, and that the file
   * system agrees about their sizes. Shards without a byte are made here.
   * @throws VerificationError
   */
  verify(regions: readonly WrittenRegion[], shardCount: number, totalBytes: number): void {
    const regionsOfShard = new Map<number, WrittenRegion[]>();
    for (const region of regions) {
      const others = regionsOfShard.get(region.shard);
      if (others === undefined) regionsOfShard.set(region.shard, [region]);
      else others.push(region);
    }
    let written = 0;
    for (let shard = 0; shard < shardCount; shard++) {
      const path = stagedPath(this.#stagingDirectory, shard);
      const shardRegions = regionsOfShard.get(shard);
      if (shardRegions === undefined) {
        createEmpty(path);
        continue;
      }
      let end = 0;
      for (const region of shardRegions.sort((a, b) => a.start - b.start)) {
        if (region.start !== end) {
          throw new VerificationError(
            `output ${shard} was written up to byte ${end} and from byte ${region.start} on, expected no gap and no overlap`,
          );
        }
        end = region.end;
      }
      const byteLength = byteLengthOf(path);
      if (byteLength !== end)
        throw new VerificationError(`output ${shard} has ${byteLength} bytes on disk, expected ${end}`);
      written += end;
    }
    if (written !== totalBytes) throw new VerificationError(`${written} bytes were written, expected ${totalBytes}`);
  }

  /**
   * Makes all durable, then visible. @returns the final paths of the shards; none for one file.
   * @param control looked at until the first of them becomes visible; from then on it is finished.
   */
  async commit(shardCount: number, control: JobControl): Promise<string[]> {
    const place = this.#place;
    const staged = Array.from({ length: shardCount }, (_, shard) => stagedPath(this.#stagingDirectory, shard));
    for (let first = 0; first < shardCount; first += SYNCS_AT_ONCE) {
      control.throwIfAborted();
      await Promise.all(staged.slice(first, first + SYNCS_AT_ONCE).map(syncPath));
    }
    control.throwIfAborted();
    if (place.kind === 'file') {
      moveIntoPlace(stagedPath(this.#stagingDirectory, 0), place.path, place.mayReplace);
      await syncParent(place.path);
      return [];
    }
    const names = staged.map((_, shard) => shardName(place.naming, shard, shardCount));
    if (place.exists) {
      this.#moveShards(place, staged, names);
      await syncPath(place.path);
    } else {
      for (const [shard, path] of staged.entries()) {
        moveIntoPlace(path, join(this.#stagingDirectory, names[shard] ?? ''), false);
      }
      await syncPath(this.#stagingDirectory);
      moveDirectoryIntoPlace(this.#stagingDirectory, place.path);
      await syncParent(place.path);
    }
    return names.map((name) => join(place.path, name));
  }

  /** Puts the shards into a directory that exists, in place of those that it holds: all of them, or none. */
  #moveShards(place: FilesPlace & { kind: 'shards' }, staged: readonly string[], names: readonly string[]): void {
    const existing = findShards(place.path, place.naming.prefix);
    const [appeared] = existing;
    if (appeared !== undefined && !place.mayReplace) throw appearedDuringJob(join(place.path, appeared));
    const aside = join(this.#stagingDirectory, 'replaced');
    const undo: (() => void)[] = [];
    const move = (from: string, to: string) => {
      moveIntoPlace(from, to, false);
      undo.push(() => moveIntoPlace(to, from, false));
    };
    try {
      if (existing.length > 0) makeDirectory(aside);
      for (const name of existing) move(join(place.path, name), join(aside, name));
      for (const [shard, path] of staged.entries()) move(path, join(place.path, names[shard] ?? ''));
    } catch (error) {
      // From here on the staging directory holds files that were there before this job.
      this.#keepsStaging = true;
      try {
        for (const step of undo.reverse()) step();
      } catch {
        throw new SystemError(
          'ERR_IO',
          `${error instanceof Error ? error.message : error}; the former shards could not all be put back: see ${aside}`,
          { cause: error },
        );
      }
      this.#keepsStaging = false;
      throw error;
    }
  }

  /** Removes what is still staged. */
  release(): void {
    if (!this.#keepsStaging) removeDirectory(this.#stagingDirectory);
  }
}
