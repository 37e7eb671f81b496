/**
 * The merged pile j: its segments over all pile sets, in split order. Nothing was moved to merge
 * it; reading its segments one behind the other gives its stored records, and among records of equal
 * key the order of the inputs.
 */
import { VerificationError } from '../errors.js';
import { closeFile, type OpenFile, openForRead, readAt } from '../io/files.js';
import type { GateNumber, JobControl } from '../io/job-control.js';
import { type PileEntry, readPileEntries, type Segment } from './pile-set-index.js';
import type { PileSet } from './pile-set-writer.js';
import type { RamPool } from './ram-pool.js';
import { dataFilePath, diskOfPile, type StoreLayout, stripeOfPile, tempPlace } from './store-layout.js';

/** The parts of one merged pile, one a pile set that holds something of it. */
export interface MergedPile {
  readonly pile: number;
  readonly parts: readonly { readonly pileSetName: string; readonly segments: readonly Segment[] }[];
  readonly records: number;
  /** Bytes of all segments: what loading the pile takes. */
  readonly storedBytes: number;
}

/** Reads the indexes and merges piles [first, end). */
export function mergePiles(pileSets: readonly PileSet[], first: number, end: number): MergedPile[] {
  const entriesOfSet = pileSets.map((pileSet) => readPileEntries(pileSet.index, first, end));
  return Array.from({ length: end - first }, (_, i) =>
    mergeEntries(
      first + i,
      pileSets.map((pileSet, k) => ({ name: pileSet.name, entry: entriesOfSet[k]?.[i] })),
    ),
  );
}

function mergeEntries(pile: number, entries: readonly { name: string; entry: PileEntry | undefined }[]): MergedPile {
  const parts: { pileSetName: string; segments: readonly Segment[] }[] = [];
  let records = 0;
  let storedBytes = 0;
  for (const { name, entry } of entries) {
    if (entry === undefined || entry.segments.length === 0) continue;
    parts.push({ pileSetName: name, segments: entry.segments });
    records += entry.records;
    for (const segment of entry.segments) storedBytes += segment.byteLength;
  }
  return { pile, parts, records, storedBytes };
}

/** Where the next bytes of a pile go. */
export interface ReadTarget {
  readonly target: Uint8Array;
  readonly offset: number;
  /** How many are taken now; at most as many as were offered. */
  readonly byteLength: number;
}

/** Reads the bytes of merged piles. */
export class MergedPileReader {
  readonly #ramPool: RamPool | undefined;
  readonly #control: JobControl;

  constructor(ramPool: RamPool | undefined, control: JobControl) {
    this.#ramPool = ramPool;
    this.#control = control;
  }

  /**
   * Reads the pile from its first to its last byte. `place` is asked, before each piece, where up to
   * `byteLength` bytes may go; `taken` is told when they are there.
   */
  async read(
    pile: MergedPile,
    layout: StoreLayout,
    place: (byteLength: number) => ReadTarget,
    taken: (byteLength: number) => void,
  ): Promise<void> {
    for (const { pileSetName, segments } of pile.parts) {
      if (segments.every((segment) => segment.medium === 'ram')) {
        for (const segment of segments) this.#readFromPool(segment, place, taken);
        continue;
      }
      const disk = diskOfPile(layout, pile.pile);
      const file = openForRead(dataFilePath(layout, pileSetName, stripeOfPile(layout, pile.pile), disk), 'temp');
      try {
        for (const segment of segments) {
          if (segment.medium === 'ram') this.#readFromPool(segment, place, taken);
          else await this.#readFromDisk(segment, file, tempPlace(layout, disk).gate, place, taken);
        }
      } finally {
        closeFile(file);
      }
    }
  }

  #readFromPool(
    segment: Segment,
    place: (byteLength: number) => ReadTarget,
    taken: (byteLength: number) => void,
  ): void {
    for (let done = 0; done < segment.byteLength; ) {
      const { target, offset, byteLength } = place(segment.byteLength - done);
      if (this.#ramPool === undefined) throw new RangeError('a segment lies in a memory pool, and this job has none');
      this.#ramPool.load(segment.place + done, byteLength, target, offset);
      done += byteLength;
      taken(byteLength);
    }
  }

  async #readFromDisk(
    segment: Segment,
    file: OpenFile,
    gate: GateNumber,
    place: (byteLength: number) => ReadTarget,
    taken: (byteLength: number) => void,
  ): Promise<void> {
    for (let done = 0; done < segment.byteLength; ) {
      const { target, offset, byteLength } = place(segment.byteLength - done);
      const position = segment.place + done;
      const count = await this.#control.duringAsync(gate, () => readAt(file, target, offset, byteLength, position));
      if (count !== byteLength) {
        throw new VerificationError(`${file.path} ends at byte ${position + count}, expected ${position + byteLength}`);
      }
      done += byteLength;
      taken(byteLength);
    }
  }
}
