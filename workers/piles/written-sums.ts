/** Adds up the numbers of the records that a task of pass 2 writes, for each shard. */
import { VerificationError } from '../../src/errors.js';
import type { WrittenRegion } from '../../src/job-directory/notes.js';
import type { OutputSink } from '../../src/sinks/output-target.js';
import { readSums } from '../read/weighed-sum.js';
import type { PileOrderer } from './pile-orderer.js';

export class WrittenSums {
  readonly #ofShards = new Map<number, bigint>();

  /** Adds the records from `index` to `endIndex`, which lie one after the other at `address`, if the sink writes them. */
  add({ kernel }: PileOrderer, { ownShard }: OutputSink, index: number, endIndex: number, address: number): void {
    if (ownShard === undefined) return;
    kernel.wasm.clearSums();
    if (!kernel.wasm.sumGathered(index, endIndex, address))
      throw new VerificationError(
        'a record came out of pass 2 without the number that pass 1 found in it; check the memory of this machine',
      );
    this.#ofShards.set(ownShard, (this.#ofShards.get(ownShard) ?? 0n) + readSums(kernel).read);
  }

  /** Returns the regions with their sums: a task writes one region of a shard. */
  of(regions: readonly WrittenRegion[]): readonly WrittenRegion[] {
    return regions.map((region) => ({ ...region, sum: `${this.#ofShards.get(region.shard) ?? 0n}` }));
  }
}
