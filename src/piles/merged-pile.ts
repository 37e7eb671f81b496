/**
 * The merged pile j: its segments over all pile sets, in slice order. Merging moves no bytes: reading one segment after
 * the other gives the stored records of the pile, and records of equal key come in the order of the inputs.
 */

import { PileshufError, VerificationError } from '../errors.js';
import type { GateNumber, JobControl } from '../floor/job-control.js';
import { inPhase } from '../floor/phase-clock.js';
import { type OpenFile, type OwnRole, readAt, withFileAsync } from '../io/files.js';
import { dataFilePath, diskAt, diskOfPile, type PileSetLayout, roleOf, stripeOfPile } from './pile-layout.js';
import { damagedPileSetError, openPileSetFile, readingPileSet } from './pile-set-file.js';
import { type PileEntry, readPileEntries } from './pile-set-index.js';
import type { StoredPileSet } from './pile-set-writer.js';
import type { RamPool } from './ram-pool.js';
import type { Segment, SegmentExpander, SegmentHasher } from './segments.js';

/** One part for each pile set that holds records of the pile. */
export interface MergedPile {
  readonly pile: number;
  readonly parts: readonly { readonly pileSetName: string; readonly segments: readonly Segment[] }[];
  readonly records: number;
  /** Bytes of all segments, once loaded. */
  readonly storedBytes: number;
}

export function mergePiles(pileSets: readonly StoredPileSet[], first: number, end: number): MergedPile[] {
  const sets = pileSets.map(({ name, index }) => ({ name, entries: readPileEntries(index, first, end, name) }));
  return Array.from({ length: end - first }, (_, i) => mergeEntries(first + i, sets, i));
}

/** The most segments of merged piles in memory at one time, unless one pile has more: some 5 MB. */
const SEGMENTS_TOGETHER = 2 ** 15;

/**
 * Merges as `mergePiles`, one pile after the other, reading a few at a time: with many terabytes, the segments of all
 * piles of a task do not fit in memory. The first read takes one pile; the segments found so far decide how many the
 * next read takes.
 */
export function* eachMergedPile(
  pileSets: readonly StoredPileSet[],
  first: number,
  end: number,
): Generator<MergedPile, void> {
  let count = 1;
  for (let pile = first; pile < end; ) {
    const next = Math.min(end, pile + Math.max(1, Math.floor(count)));
    const merged = mergePiles(pileSets, pile, next);
    yield* merged;
    const segmentCount = merged.flatMap(({ parts }) => parts).reduce((sum, { segments }) => sum + segments.length, 0);
    count = (SEGMENTS_TOGETHER * (next - pile)) / Math.max(1, segmentCount);
    pile = next;
  }
}

/** @param sets the pile sets, whose entry `at` is that of the pile. */
export function mergeEntries(
  pile: number,
  sets: readonly { readonly name: string; readonly entries: readonly PileEntry[] }[],
  at: number,
): MergedPile {
  const parts: { pileSetName: string; segments: readonly Segment[] }[] = [];
  let records = 0;
  let storedBytes = 0;
  for (const { name, entries } of sets) {
    const entry = entries[at];
    if (entry === undefined || entry.segments.length === 0) continue;
    parts.push({ pileSetName: name, segments: entry.segments });
    records += entry.records;
    for (const segment of entry.segments) storedBytes += segment.byteLength;
  }
  return { pile, parts, records, storedBytes };
}

interface ReadTarget {
  /** The hasher's memory. */
  readonly target: Uint8Array;
  readonly offset: number;
  /** How many bytes the receiver takes now, at most as many as it was offered. */
  readonly byteLength: number;
}

/** Receives the bytes of a pile, in pieces that it chooses. */
export interface PileReceiver {
  /** Chooses the place of the next piece; the segment has `byteLength` more bytes. */
  place(byteLength: number): ReadTarget;
  /** The piece has been read. With the last piece of a segment, the whole segment has been verified. */
  receive(byteLength: number): void;
}

/** A source of segments: a data file or the memory pool. */
interface SegmentStore {
  /** Names the source in errors. */
  readonly name: string;
  readonly hasChecksums: boolean;
  load(place: number, room: ReadTarget): Promise<void> | void;
  damaged(what: string): VerificationError;
}

export class MergedPileReader {
  readonly #ramPool: RamPool | undefined;
  readonly #hasher: SegmentHasher;
  readonly #expander: SegmentExpander;
  readonly #control: JobControl;
  /** Compressed bytes of a segment. */
  #compressed = new Uint8Array();
  /** An expanded segment that the receiver takes in several parts. */
  #expanded = new Uint8Array();

  constructor(ramPool: RamPool | undefined, hasher: SegmentHasher, expander: SegmentExpander, control: JobControl) {
    this.#ramPool = ramPool;
    this.#hasher = hasher;
    this.#expander = expander;
    this.#control = control;
  }

  /**
   * @throws VerificationError when a segment differs from the bytes written, even if the receiver accepted its pieces.
   */
  async read({ pile, parts }: MergedPile, layout: PileSetLayout, receiver: PileReceiver): Promise<void> {
    for (const { pileSetName, segments } of parts) {
      const ram = this.#ramStore(pileSetName);
      if (segments.every(liesInMemory)) {
        for (const segment of segments) await this.#readSegment(pile, segment, ram, receiver);
        continue;
      }
      const disk = diskOfPile(layout, pile);
      const path = dataFilePath(layout, pileSetName, stripeOfPile(layout, pile), disk);
      const role = roleOf(layout);
      const file = openPileSetFile(path, pileSetName, role);
      const dataFile = this.#dataFileStore(file, pileSetName, role, diskAt(layout, disk).gate);
      await withFileAsync(file, async () => {
        for (const segment of segments) {
          await this.#readSegment(pile, segment, liesInMemory(segment) ? ram : dataFile, receiver);
        }
      });
    }
  }

  /** Returns whether all segments lie in `memory`. */
  isInPlace({ parts }: MergedPile, memory: Uint8Array): boolean {
    return this.#ramPool?.liesIn(memory) === true && parts.every(({ segments }) => segments.every(liesInMemory));
  }

  async #readSegment(pile: number, segment: Segment, store: SegmentStore, receiver: PileReceiver): Promise<void> {
    this.#hasher.begin();
    let room: ReadTarget | undefined;
    let done = 0;
    const damaged = () => {
      const byteLength = segment.diskBytes || segment.byteLength;
      const what = `${byteLength} bytes at byte ${segment.place} of ${store.name} (pile ${pile})`;
      return store.damaged(`${what} are not what was written there`);
    };
    const loadPart = isCompressed(segment) ? await this.#expand(segment, store, damaged) : store.load;
    const load = async (next: ReadTarget) => {
      await loadPart(segment.place + done, next);
      this.#hasher.add(next.target, next.offset, next.byteLength);
      done += next.byteLength;
      if (!store.hasChecksums || done < segment.byteLength || this.#hasher.checksum() === segment.checksum) return;
      throw damaged();
    };
    try {
      while (done < segment.byteLength) {
        room = receiver.place(segment.byteLength - done);
        await load(room);
        receiver.receive(room.byteLength);
      }
    } catch (error) {
      // The receiver may have met damage. If so, the checksum of the whole segment finds it too, and its error says where.
      if (room !== undefined && error instanceof VerificationError && error.pileSetName === undefined) {
        while (done < segment.byteLength) {
          await load({ ...room, byteLength: Math.min(room.byteLength, segment.byteLength - done) });
        }
      }
      throw error;
    }
  }

  /** Returns a function that loads parts of the expanded segment, as `SegmentStore.load` does. */
  async #expand(
    { place, diskBytes, byteLength }: Segment,
    store: SegmentStore,
    damaged: () => VerificationError,
  ): Promise<SegmentStore['load']> {
    if (this.#compressed.byteLength < diskBytes) this.#compressed = new Uint8Array(diskBytes);
    const compressed = this.#compressed.subarray(0, diskBytes);
    await store.load(place, { target: compressed, offset: 0, byteLength: diskBytes });
    const expandTo = (target: Uint8Array) => {
      try {
        inPhase('decompress', () => this.#expander.expand(compressed, target));
      } catch (error) {
        throw error instanceof PileshufError ? error : damaged();
      }
    };
    let expanded: Uint8Array | undefined;
    return (at, room) => {
      const target = room.target.subarray(room.offset, room.offset + room.byteLength);
      if (target.byteLength === byteLength) return expandTo(target);
      if (expanded === undefined) {
        if (this.#expanded.byteLength < byteLength) this.#expanded = new Uint8Array(byteLength);
        expanded = this.#expanded.subarray(0, byteLength);
        expandTo(expanded);
      }
      target.set(expanded.subarray(at - place, at - place + target.byteLength));
    };
  }

  #ramStore(pileSetName: string): SegmentStore {
    return {
      name: 'the memory pool',
      hasChecksums: this.#ramPool?.isLinear !== true,
      load: (place, { target, offset, byteLength }) => {
        if (this.#ramPool === undefined) throw new RangeError('a segment lies in a memory pool, and this job has none');
        const pool = this.#ramPool;
        inPhase('load', () => pool.load(place, byteLength, target, offset));
      },
      damaged: (what) => new VerificationError(`${what}; check the memory of this machine`, { pileSetName }),
    };
  }

  #dataFileStore(file: OpenFile, pileSetName: string, role: OwnRole, gate: GateNumber): SegmentStore {
    const damaged = (what: string) => damagedPileSetError(what, pileSetName, role);
    return {
      name: file.path,
      hasChecksums: true,
      load: async (place, { target, offset, byteLength }) => {
        const count = await this.#control.duringAsync(gate, () =>
          inPhase('load', () =>
            readingPileSet(file.path, pileSetName, role, () => readAt(file, target, offset, byteLength, place)),
          ),
        );
        this.#control.countMoved(gate, 'read', count);
        if (count !== byteLength) {
          throw damaged(`${file.path} ends at byte ${place + count}, expected ${place + byteLength}`);
        }
      },
      damaged,
    };
  }
}

function liesInMemory({ diskBytes }: Segment): boolean {
  return diskBytes === 0;
}

function isCompressed({ diskBytes, byteLength }: Segment): boolean {
  return diskBytes > 0 && diskBytes < byteLength;
}
