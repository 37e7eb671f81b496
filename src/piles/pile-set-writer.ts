/**
 * Writes one pile set. It takes full pile buffers in any order. Each goes to the memory pool while the pool has room,
 * and then, compressed if requested, to the end of the data file of its stripe and disk. The writer notes the place and
 * checksum of each. `commit` writes the index, which makes the pile set complete; a data file without an index is a
 * leftover.
 */
import { UsageError } from '../errors.js';
import type { JobControl } from '../floor/job-control.js';
import { inPhase } from '../floor/phase-clock.js';
import { createWhole } from '../io/atomic-files.js';
import { closeAll, createOwnFile, type OpenFile, syncData, writeAt } from '../io/files.js';
import {
  dataFilePath,
  diskAt,
  diskOfPile,
  indexFilePath,
  type PileSetLayout,
  roleOf,
  stripeOfPile,
} from './pile-layout.js';
import { type DataFileSize, encodePileSetIndex, type IndexSource, MOST_COMPRESSED_BYTES } from './pile-set-index.js';
import type { PileTotals } from './pile-totals.js';
import type { RamPool } from './ram-pool.js';
import { type SegmentCompressor, type SegmentHasher, SegmentLog } from './segments.js';

interface DataFile {
  readonly stripe: number;
  readonly disk: number;
  readonly file: OpenFile;
  byteLength: number;
  /** The bytes in the page cache of a rotating disk since the last sync. */
  unsyncedBytes: number;
}

/** About the bytes of one sync on a rotating disk: writing them takes much longer than moving the head. */
const SYNC_BYTES = 8 * 2 ** 20;

export interface PileSet {
  /** Name of its files, which no other attempt of the job has. */
  readonly name: string;
  readonly index: IndexSource;
  readonly diskBytes: number;
  readonly dataFiles: readonly DataFileSize[];
}

export type StoredPileSet = Pick<PileSet, 'name' | 'index'>;

interface PileSetParts {
  /** A name that no other attempt uses: letters a to z, digits, hyphens. */
  readonly name: string;
  readonly layout: PileSetLayout;
  /** Takes segments while it has room; undefined: all go to disk. */
  readonly ramPool: RamPool | undefined;
  /** True if the index is a file even when the pile set has no data file. */
  readonly indexInFile: boolean;
  readonly hasher: SegmentHasher;
  readonly compressor: SegmentCompressor | undefined;
  readonly control: JobControl;
}

const TOO_LARGE_TO_DRAW = '`repeat` draws from records in memory, which it holds twice, and these do not fit';

/**
 * Returns the error of a job whose piles must stay in memory: its layout has no disks. @param enough `memoryBytes` that
 * suffices.
 */
export function tooLargeToDrawError(enough = 'more'): UsageError {
  return new UsageError(
    `${TOO_LARGE_TO_DRAW}; give ${enough} with \`memoryBytes\`, or leave out \`repeat\`: then no record comes twice`,
    'ERR_MEMORY_BUDGET',
  );
}

/** Returns whether a task has thrown it, which does not know how much suffices. */
export function isTooLargeToDraw(error: unknown): boolean {
  return error instanceof UsageError && error.message.startsWith(TOO_LARGE_TO_DRAW);
}

export class PileSetWriter {
  readonly #parts: PileSetParts;
  readonly #log = new SegmentLog();
  readonly #openFiles = new Map<number, DataFile>();
  readonly #dataFiles: DataFile[] = [];
  /** Data files on rotating disks: those of one stripe disk by disk, then those of the next stripe. */
  readonly #rotatingFiles: DataFile[] = [];
  /** Bytes of all `#rotatingFiles` since their last sync, and the file that is synced next. */
  #unsyncedBytes = 0;
  #turn = 0;
  #diskBytes = 0;

  constructor(parts: PileSetParts) {
    this.#parts = parts;
  }

  /** Writes the next bytes of a pile, which lie in the hasher's memory; the caller may then overwrite them. */
  append(pile: number, bytes: Uint8Array, offset: number, byteLength: number): void {
    const { ramPool } = this.#parts;
    const inRam = ramPool === undefined ? 0 : this.#storeInRam(ramPool, pile, bytes, offset, byteLength);
    if (inRam < byteLength) this.#write(pile, bytes, offset + inRam, byteLength - inRam);
  }

  /** Notes the next bytes of a pile, which lie in a linear memory at `address`, and stay as they are. */
  keep(pile: number, address: number, byteLength: number): void {
    this.#log.add(pile, { place: address, byteLength, diskBytes: 0, checksum: 0n });
  }

  /** @returns the number of bytes that the pool took. */
  #storeInRam(ramPool: RamPool, pile: number, bytes: Uint8Array, offset: number, byteLength: number): number {
    let storedBytes = 0;
    while (storedBytes < byteLength) {
      const pieceBytes = Math.min(byteLength - storedBytes, ramPool.roomBytes());
      if (pieceBytes === 0) break;
      const place = inPhase('write', () => ramPool.store(bytes, offset + storedBytes, pieceBytes));
      const hash = () => this.#parts.hasher.hash(bytes, offset + storedBytes, pieceBytes);
      const checksum = ramPool.isLinear ? 0n : hash();
      this.#log.add(pile, { place, byteLength: pieceBytes, diskBytes: 0, checksum });
      storedBytes += pieceBytes;
    }
    return storedBytes;
  }

  #write(pile: number, bytes: Uint8Array, offset: number, byteLength: number): void {
    const { layout, control, hasher, compressor } = this.#parts;
    if (layout.disks.length === 0) throw tooLargeToDrawError();
    const disk = diskOfPile(layout, pile);
    const { gate, rotates } = diskAt(layout, disk);
    const data = this.#dataFile(stripeOfPile(layout, pile), disk);
    const checksum = hasher.hash(bytes, offset, byteLength);
    const compressed =
      compressor === undefined || byteLength > MOST_COMPRESSED_BYTES
        ? undefined
        : inPhase('compress', () => compressor.compress(bytes.subarray(offset, offset + byteLength)));
    const diskBytes = compressed?.byteLength ?? byteLength;
    const write = () =>
      inPhase('write', () =>
        compressed === undefined
          ? writeAt(data.file, bytes, offset, byteLength, data.byteLength)
          : writeAt(data.file, compressed, 0, diskBytes, data.byteLength),
      );
    if (rotates) {
      // A write only copies into the page cache. Only the syncs must not meet on the disk, and they have the gate.
      write();
      data.unsyncedBytes += diskBytes;
      this.#unsyncedBytes += diskBytes;
      this.#syncInTurn();
    } else {
      control.during(gate, write);
    }
    control.countMoved(gate, 'written', diskBytes);
    this.#log.add(pile, { place: data.byteLength, byteLength, diskBytes, checksum });
    data.byteLength += diskBytes;
    this.#diskBytes += diskBytes;
  }

  /**
   * Makes the disks write one file after the other. The files grow at the same rate: when they hold half of SYNC_BYTES
   * on average, the one that waited longest holds all of it. Syncing each file when it is full would sync all at the
   * same time, in a different order on each thread. In turn, the threads follow one another from disk to disk, and all
   * disks are busy.
   */
  #syncInTurn(): void {
    const { layout, control } = this.#parts;
    const files = this.#rotatingFiles;
    while (this.#unsyncedBytes >= (SYNC_BYTES * (files.length + 1)) / 2) {
      const data = files[this.#turn % files.length];
      this.#turn += 1;
      if (data === undefined || data.unsyncedBytes === 0) continue;
      control.during(diskAt(layout, data.disk).gate, () => inPhase('sync', () => syncData(data.file)));
      this.#unsyncedBytes -= data.unsyncedBytes;
      data.unsyncedBytes = 0;
    }
  }

  /** @param report any JSON value, which the index stores for the job. */
  commit(totals: PileTotals, report: unknown): PileSet {
    this.close();
    const { name, layout, indexInFile } = this.#parts;
    const diskBytes = this.#diskBytes;
    const dataFiles = this.#dataFiles.map(({ stripe, disk, byteLength }) => ({ stripe, disk, byteLength }));
    const bytes = encodePileSetIndex(totals, this.#log, {
      name,
      stripeCount: layout.stripeCount,
      diskCount: layout.disks.length,
      dataFiles,
      report,
    });
    if (diskBytes === 0 && !indexInFile) return { name, index: { bytes }, diskBytes, dataFiles };
    const path = indexFilePath(layout, name);
    const { role } = layout;
    createWhole(path, bytes, roleOf(layout));
    return { name, index: role === undefined ? { path } : { path, role }, diskBytes, dataFiles };
  }

  /** Closes the data files. Without a `commit` they stay as leftovers. */
  close(): void {
    const files = [...this.#openFiles.values()];
    this.#openFiles.clear();
    closeAll(files.map(({ file }) => file));
  }

  #dataFile(stripe: number, disk: number): DataFile {
    const { name, layout } = this.#parts;
    const key = stripe * layout.disks.length + disk;
    let data = this.#openFiles.get(key);
    if (data === undefined) {
      const file = createOwnFile(dataFilePath(layout, name, stripe, disk), roleOf(layout));
      data = { stripe, disk, file, byteLength: 0, unsyncedBytes: 0 };
      this.#openFiles.set(key, data);
      this.#dataFiles.push(data);
      if (diskAt(layout, disk).rotates) {
        this.#rotatingFiles.push(data);
        this.#rotatingFiles.sort((a, b) => a.stripe - b.stripe || a.disk - b.disk);
      }
    }
    return data;
  }
}
