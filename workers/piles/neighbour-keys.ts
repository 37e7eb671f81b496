/** Compares the keys of neighbours in the output, for framings whose readers join two samples of one key. */
import type { SampleKeys } from '../../src/formats/framing.js';
import type { KeyedSample, RangeEnds } from '../../src/job-directory/notes.js';
import { checksumTextOf } from '../../src/piles/pile-totals.js';
import type { PileOrderer } from './pile-orderer.js';

interface SeenSample {
  readonly sampleKey: string;
  readonly key: bigint;
}

export class NeighbourKeys {
  readonly #keyOf: SampleKeys['keyOf'];
  #first: SeenSample | undefined;
  #last: SeenSample | undefined;
  #ofOneKey: readonly [KeyedSample, KeyedSample] | undefined;

  constructor({ keyOf }: SampleKeys) {
    this.#keyOf = keyOf;
  }

  get ends(): RangeEnds | null {
    const [first, last] = [this.#first, this.#last];
    return first === undefined || last === undefined ? null : { first: asText(first), last: asText(last) };
  }

  get ofOneKey(): readonly [KeyedSample, KeyedSample] | undefined {
    return this.#ofOneKey;
  }

  take(order: PileOrderer, count: number): void {
    let last = this.#last;
    for (let index = 0; index < count; index++) {
      const sampleKey = this.#keyOf(order.recordAt(index));
      // Readers see nothing of it: the samples around it are neighbours.
      if (sampleKey === undefined) continue;
      const sample = { sampleKey, key: order.keyAt(index) };
      if (last?.sampleKey === sampleKey) this.#ofOneKey ??= [asText(last), asText(sample)];
      this.#first ??= sample;
      last = sample;
    }
    this.#last = last;
  }
}

function asText({ sampleKey, key }: SeenSample): KeyedSample {
  return { sampleKey, key: checksumTextOf(key) };
}
