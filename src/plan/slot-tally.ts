/**
 * The tally of a set of records, by which two sets are compared: how many records each of 65,536 slots has, and the sum of
 * their keyed hashes. The hash of a record chooses its slot, so where records differ their slots do. Pure.
 */
const SLOT_COUNT = 2 ** 16;
const WORDS_OF_SLOT = 4;
/** Two u64 a slot: see workers/kernel/assembly/tally-sets.ts. */
export const SLOTS_BYTES = SLOT_COUNT * WORDS_OF_SLOT * 4;
export const MAX_SHOWN_PLACES = 10;
export const SLOT_BITMAP_BYTES = SLOT_COUNT / 8;

export class SlotTally {
  records = 0;
  bytes = 0;
  readonly #words = new Uint32Array(SLOT_COUNT * WORDS_OF_SLOT);
  #checksum = 0n;

  add({ records, bytes, checksum, slots }: SlotTallyPart): void {
    this.records += records;
    this.bytes += bytes;
    this.#checksum = BigInt.asUintN(64, this.#checksum + checksum);
    for (let at = 0; at < slots.length; at += 2) {
      const low = wordAt(this.#words, at) + wordAt(slots, at);
      this.#words[at] = low;
      this.#words[at + 1] = wordAt(this.#words, at + 1) + wordAt(slots, at + 1) + (low >= 2 ** 32 ? 1 : 0);
    }
  }

  /** The multiset checksum of all records, as 16 hex digits. */
  get checksum(): string {
    return this.#checksum.toString(16).padStart(16, '0');
  }

  recordsIn(slot: number): number {
    const at = slot * WORDS_OF_SLOT;
    return wordAt(this.#words, at) + wordAt(this.#words, at + 1) * 2 ** 32;
  }

  slotsThatDiffer(other: SlotTally): number[] {
    const differing: number[] = [];
    for (let slot = 0; slot < SLOT_COUNT; slot++) {
      const at = slot * WORDS_OF_SLOT;
      for (let word = at; word < at + WORDS_OF_SLOT; word++) {
        if (this.#words[word] === other.#words[word]) continue;
        differing.push(slot);
        break;
      }
    }
    return differing;
  }
}

interface SlotTallyPart {
  readonly records: number;
  readonly bytes: number;
  readonly checksum: bigint;
  readonly slots: Uint32Array;
}

function wordAt(words: Uint32Array, index: number): number {
  return words[index] ?? 0;
}

/**
 * Chooses slots whose records are compared one by one: as many as have at most `mostRecords` in both sets, and at least
 * one. The differing slots are a random choice already: the hash that chooses them has random keys.
 */
export function slotsToExamine(
  differing: readonly number[],
  sets: readonly SlotTally[],
  mostRecords: number,
): number[] {
  const recordsIn = (slot: number) => sets.reduce((sum, set) => sum + set.recordsIn(slot), 0);
  const chosen: number[] = [];
  const large: number[] = [];
  let records = 0;
  for (const slot of differing) {
    if (records + recordsIn(slot) > mostRecords) {
      large.push(slot);
      continue;
    }
    records += recordsIn(slot);
    chosen.push(slot);
  }
  // A record that comes very often may fill a slot.
  const [smallest] = large.sort((a, b) => recordsIn(a) - recordsIn(b));
  return chosen.length > 0 || smallest === undefined ? chosen : [smallest];
}

export function bitmapOfSlots(slots: readonly number[]): Uint8Array {
  const bits = new Uint8Array(SLOT_BITMAP_BYTES);
  for (const slot of slots) bits[slot >> 3] = (bits[slot >> 3] ?? 0) | (1 << (slot & 7));
  return bits;
}
