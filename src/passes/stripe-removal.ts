/**
 * Deletes the data files of a stripe as soon as the output has all of its piles.
 */
import { removeFile } from '../io/files.js';
import { dataFilePath, type PileSetLayout, pilesOfStripe, stripeOfPile } from '../pile-sets/pile-layout.js';
import type { PileRange } from '../plan/pile-ranges.js';
import type { ScatteredPileSet } from './scattered-piles.js';

export class StripeRemoval {
  readonly #layout: PileSetLayout;
  readonly #pileSets: readonly ScatteredPileSet[];
  readonly #isOn: boolean;
  readonly #pilesLeft: number[];

  /** @param isOn false: deletes no files, because a pile store keeps its piles. */
  constructor(layout: PileSetLayout, pileSets: readonly ScatteredPileSet[], isOn: boolean) {
    this.#layout = layout;
    this.#pileSets = pileSets.filter((pileSet) => pileSet.diskBytes > 0);
    this.#isOn = isOn;
    this.#pilesLeft = Array.from({ length: layout.stripeCount }, (_, stripe) => {
      const { first, end } = pilesOfStripe(layout, stripe);
      return end - first;
    });
  }

  /** Call this when the piles are verified, and their output is as durable as the job promises. */
  pilesDone({ first, end }: Pick<PileRange, 'first' | 'end'>): void {
    for (let pile = first; pile < end; pile++) {
      const stripe = stripeOfPile(this.#layout, pile);
      const left = (this.#pilesLeft[stripe] ?? 0) - 1;
      this.#pilesLeft[stripe] = left;
      if (left === 0 && this.#isOn) this.#remove(stripe);
    }
  }

  #remove(stripe: number): void {
    for (const { name } of this.#pileSets) {
      for (let disk = 0; disk < this.#layout.disks.length; disk++)
        removeFile(dataFilePath(this.#layout, name, stripe, disk), 'temp');
    }
  }
}
