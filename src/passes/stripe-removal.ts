/**
 * Deletes the data files of a stripe as soon as nothing of it is needed any more.
 */
import { removeFile } from '../io/files.js';
import { dataFilePath, pilesOfStripe, stripeOfPile } from '../pile-sets/pile-layout.js';
import type { PileRange } from '../plan/pile-ranges.js';
import type { JobContext, ScatteredPiles } from './job-context.js';

export class StripeRemoval {
  readonly #job: JobContext;
  readonly #pileSets: ScatteredPiles['pileSets'];
  readonly #pilesLeft: number[];

  constructor(job: JobContext, scattered: ScatteredPiles) {
    const { layout } = job.share;
    this.#job = job;
    this.#pileSets = scattered.pileSets.filter((pileSet) => pileSet.diskBytes > 0);
    this.#pilesLeft = Array.from({ length: layout.stripeCount }, (_, stripe) => {
      const { first, end } = pilesOfStripe(layout, stripe);
      return end - first;
    });
  }

  /** The piles came out right, and what was made from them is as safe as the job promises. */
  pilesDone(range: Pick<PileRange, 'first' | 'end'>): void {
    const { layout } = this.#job.share;
    for (let pile = range.first; pile < range.end; pile++) {
      const stripe = stripeOfPile(layout, pile);
      const left = (this.#pilesLeft[stripe] ?? 0) - 1;
      this.#pilesLeft[stripe] = left;
      const { keepsPiles, kept } = this.#job;
      if (left === 0 && !keepsPiles && kept?.keepsStripes !== true) this.#remove(stripe);
    }
  }

  #remove(stripe: number): void {
    const { layout } = this.#job.share;
    for (const { name } of this.#pileSets) {
      for (let disk = 0; disk < layout.tempPlaces.length; disk++)
        removeFile(dataFilePath(layout, name, stripe, disk), 'temp');
    }
  }
}
