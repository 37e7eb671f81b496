/**
 * The output between its first byte and its appearance: staged in a private directory on the file
 * system where it will appear, verified, made durable, and moved into place by rename or link.
 */
import { dirname, join } from 'node:path';
import { VerificationError } from '../errors.js';
import {
  appearedDuringJob,
  byteLengthOf,
  createEmpty,
  moveDirectoryIntoPlace,
  moveIntoPlace,
  syncParent,
  syncPath,
} from '../io/durable.js';
import { removeFile } from '../io/files.js';
import type { GateNumber } from '../io/job-control.js';
import { makePrivateDirectory, removeDirectory } from '../io/private-directory.js';
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

  /** Makes all durable, then visible. @returns the final paths of the shards; none for one file. */
  async commit(shardCount: number): Promise<string[]> {
    const staged = Array.from({ length: shardCount }, (_, shard) => stagedPath(this.#stagingDirectory, shard));
    for (let first = 0; first < shardCount; first += SYNCS_AT_ONCE) {
      await Promise.all(staged.slice(first, first + SYNCS_AT_ONCE).map(syncPath));
    }
    const place = this.#place;
    if (place.kind === 'file') {
      moveIntoPlace(stagedPath(this.#stagingDirectory, 0), place.path, place.mayReplace);
      await syncParent(place.path);
      return [];
    }
    const names = staged.map((_, shard) => shardName(place.naming, shard, shardCount));
    const directory = place.exists ? place.path : this.#stagingDirectory;
    const existing = place.exists ? findShards(place.path, place.naming.prefix) : [];
    const [appeared] = existing;
    if (appeared !== undefined && !place.mayReplace) throw appearedDuringJob(join(place.path, appeared));
    const moved: string[] = [];
    try {
      for (const [shard, name] of names.entries()) {
        const path = join(directory, name);
        moveIntoPlace(stagedPath(this.#stagingDirectory, shard), path, place.mayReplace);
        moved.push(path);
      }
    } catch (error) {
      // Without --force each of them is new, and part of an output is no output.
      if (!place.mayReplace) for (const path of moved) removeFile(path);
      throw error;
    }
    const current = new Set(names);
    for (const name of existing) if (!current.has(name)) removeFile(join(directory, name));
    await syncPath(directory);
    if (!place.exists) {
      moveDirectoryIntoPlace(this.#stagingDirectory, place.path);
      await syncParent(place.path);
    }
    return names.map((name) => join(place.path, name));
  }

  /** Removes what is still staged. */
  release(): void {
    removeDirectory(this.#stagingDirectory);
  }
}
