/**
 * Writes one pile set: takes the full buffers of the piles in whatever order they come, puts each in
 * the memory pool while that has room and else at the end of the data file of its stripe and disk,
 * and remembers where. `commit` writes the index, which makes the pile set complete; a data file
 * without an index is a leftover.
 */
import { closeFile, createTempFile, type OpenFile, syncData, writeAt } from '../io/files.js';
import type { JobControl } from '../io/job-control.js';
import {
  encodePileSetIndex,
  type IndexSource,
  type PileTally,
  SegmentLog,
  writePileSetIndex,
} from './pile-set-index.js';
import type { RamPool } from './ram-pool.js';
import { dataFilePath, diskOfPile, indexFilePath, type StoreLayout, stripeOfPile, tempPlace } from './store-layout.js';

interface DataFile {
  readonly file: OpenFile;
  byteLength: number;
  /** Bytes that the page cache took and the disk was not made to write yet. */
  unsyncedBytes: number;
}

/** What a rotating disk is made to write at one time: much longer than its head takes to get there. */
const SYNC_BYTES = 8 * 2 ** 20;

/** A complete pile set, as the coordinator keeps it and pass 2 reads it. */
export interface PileSet {
  /** Name of its files, unique among all attempts of the job. */
  readonly name: string;
  readonly index: IndexSource;
  /** Bytes that went to disk. */
  readonly diskBytes: number;
}

export class PileSetWriter {
  readonly #name: string;
  readonly #layout: StoreLayout;
  readonly #ramPool: RamPool | undefined;
  readonly #control: JobControl;
  readonly #log = new SegmentLog();
  readonly #dataFiles = new Map<number, DataFile>();
  #diskBytes = 0;

  /** @param name must be one that no other attempt of the job uses. */
  constructor(name: string, layout: StoreLayout, ramPool: RamPool | undefined, control: JobControl) {
    this.#name = name;
    this.#layout = layout;
    this.#ramPool = ramPool;
    this.#control = control;
  }

  /** Takes over the next bytes of a pile; they may be overwritten afterwards. */
  append(pile: number, bytes: Uint8Array, offset: number, byteLength: number): void {
    const inRam = this.#ramPool === undefined ? 0 : this.#keepInRam(this.#ramPool, pile, bytes, offset, byteLength);
    if (inRam < byteLength) this.#write(pile, bytes, offset + inRam, byteLength - inRam);
  }

  /** @returns how many of the bytes the pool took. */
  #keepInRam(ramPool: RamPool, pile: number, bytes: Uint8Array, offset: number, byteLength: number): number {
    let kept = 0;
    while (kept < byteLength) {
      const pieceBytes = Math.min(byteLength - kept, ramPool.roomBytes());
      if (pieceBytes === 0) break;
      const place = ramPool.store(bytes, offset + kept, pieceBytes);
      if (place === undefined) break;
      this.#log.add(pile, place, pieceBytes, true);
      kept += pieceBytes;
    }
    return kept;
  }

  #write(pile: number, bytes: Uint8Array, offset: number, byteLength: number): void {
    const disk = diskOfPile(this.#layout, pile);
    const { gate, rotates } = tempPlace(this.#layout, disk);
    const data = this.#dataFile(stripeOfPile(this.#layout, pile), disk);
    const write = () => writeAt(data.file, bytes, offset, byteLength, data.byteLength);
    if (rotates) {
      // Writing only copies into the page cache: what must not meet on the disk is what leaves it.
      write();
      data.unsyncedBytes += byteLength;
      if (data.unsyncedBytes >= SYNC_BYTES) {
        this.#control.during(gate, () => syncData(data.file));
        data.unsyncedBytes = 0;
      }
    } else {
      this.#control.during(gate, write);
    }
    this.#log.add(pile, data.byteLength, byteLength, false);
    data.byteLength += byteLength;
    this.#diskBytes += byteLength;
  }

  /** @param tallies one a pile. */
  commit(tallies: readonly PileTally[]): PileSet {
    this.close();
    const bytes = encodePileSetIndex(tallies, this.#log);
    const name = this.#name;
    if (this.#diskBytes === 0) return { name, index: { bytes }, diskBytes: 0 };
    const path = indexFilePath(this.#layout, name);
    writePileSetIndex(path, bytes);
    return { name, index: { path }, diskBytes: this.#diskBytes };
  }

  /** Closes the data files; they stay as leftovers when `commit` was not reached. */
  close(): void {
    for (const [key, data] of this.#dataFiles) {
      this.#dataFiles.delete(key);
      closeFile(data.file);
    }
  }

  #dataFile(stripe: number, disk: number): DataFile {
    const key = stripe * this.#layout.tempPlaces.length + disk;
    let data = this.#dataFiles.get(key);
    if (data === undefined) {
      data = {
        file: createTempFile(dataFilePath(this.#layout, this.#name, stripe, disk)),
        byteLength: 0,
        unsyncedBytes: 0,
      };
      this.#dataFiles.set(key, data);
    }
    return data;
  }
}
