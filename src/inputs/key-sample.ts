/**
 * A sample of the keys of all samples, by which a job finds keys that come twice before it writes its output. It has the
 * keys whose hashes are smallest, so it is the same however the inputs were cut into slices, and a key of the sample is
 * there with all of its inputs. Jobs of few samples have all keys in it. Whole keys are compared, never hashes.
 */
import { repeatedKey, type SamplePlace } from './repeated-keys.js';

/** Enough to find keys that come twice when one in a hundred does. */
const KEPT_KEYS = 1024;
/** The paths of files are shorter; longer keys are not kept. */
const MOST_KEY_CHARACTERS = 4096;

/** Plain data, which crosses threads and is written down. */
export interface SampledKey {
  readonly key: string;
  /** The input that has it; the first two, if several samples have it, which may be one input twice. */
  readonly inputOrdinals: readonly number[];
}

export class KeySample {
  readonly #sampled = new Map<string, SampledKey & { readonly hash: number }>();
  /** Keys of larger hashes are not in the sample. */
  #largestHash = 2 ** 32;

  add(key: string, inputOrdinal: number): void {
    if (key.length <= MOST_KEY_CHARACTERS) this.#add(key, [inputOrdinal]);
  }

  /** Adds the keys of another sample. */
  addAll(keys: readonly SampledKey[]): void {
    for (const { key, inputOrdinals } of keys) this.#add(key, inputOrdinals);
  }

  #add(key: string, inputOrdinals: readonly number[]): void {
    const hash = hashOf(key);
    if (hash > this.#largestHash) return;
    const known = this.#sampled.get(key)?.inputOrdinals ?? [];
    const firstTwo = [...known, ...inputOrdinals].sort((a, b) => a - b).slice(0, 2);
    this.#sampled.set(key, { key, hash, inputOrdinals: firstTwo });
    if (this.#sampled.size >= 2 * KEPT_KEYS) this.#leaveRestOut();
  }

  #leaveRestOut(): void {
    const all = [...this.#sampled.values()].sort((a, b) => a.hash - b.hash || (a.key < b.key ? -1 : 1));
    for (const { key } of all.slice(KEPT_KEYS)) this.#sampled.delete(key);
    this.#largestHash = all[KEPT_KEYS - 1]?.hash ?? this.#largestHash;
  }

  /** In any order. */
  keys(): SampledKey[] {
    this.#leaveRestOut();
    return [...this.#sampled.values()].map(({ key, inputOrdinals }) => ({ key, inputOrdinals }));
  }

  /**
   * @param pathOf the path of an input.
   * @throws InputError ERR_SAMPLE_KEY_REPEATED if a key of the sample comes twice.
   */
  requireEachOnce(pathOf: (inputOrdinal: number) => string): void {
    const all = this.keys();
    const twice = all.filter(({ inputOrdinals }) => inputOrdinals.length > 1).sort((a, b) => (a.key < b.key ? -1 : 1));
    const [first] = twice;
    if (first === undefined) return;
    const [one = 0, other = 0] = first.inputOrdinals;
    const placeIn = (inputOrdinal: number): SamplePlace => ({ inputOrdinal, path: pathOf(inputOrdinal) });
    const share = ` (${twice.length} of the ${all.length} keys that were compared come more than once)`;
    throw repeatedKey(first.key, [placeIn(one), placeIn(other)], share);
  }
}

/** FNV-1a, then the last step of MurmurHash3, so that similar keys have hashes far apart. */
function hashOf(key: string): number {
  let hash = 0x811c9dc5;
  for (let i = 0; i < key.length; i++) hash = Math.imul(hash ^ key.charCodeAt(i), 0x01000193);
  hash = Math.imul(hash ^ (hash >>> 16), 0x85ebca6b);
  hash = Math.imul(hash ^ (hash >>> 13), 0xc2b2ae35);
  return (hash ^ (hash >>> 16)) >>> 0;
}
