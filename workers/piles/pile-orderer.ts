/**
 * Loads one merged pile and sorts its records by key.
 *
 * If the pile does not fit the arena, its records are scattered again, on sub-piles by the next part of their keys, and
 * the sub-piles are sorted one after the other; and so on. A sub-pile is a range of keys inside the pile, so the order
 * is the same. Where one of equal records is distinctRecords, the pile is first reduced while it is read (load-distinct.ts), because
 * equal records stay together however often they are scattered. Where records have second keys, many may have one key: a
 * sub-pile that got most records of its pile is read once more, to find the window of keys that divides it.
 * A pile that is one bundle of records is put in order piece by piece (bundle-pieces.ts).
 *
 *     arena    output buffers | stored records | slack | counts u32 | arrived u64 | sorted u64
 *
 * Segments in the memory that the arena is a part of stay where they are. Only the records that straddle two of them are
 * joined in the arena:
 *
 *     arena    output buffers | slack | counts u32 | arrived u64 | sorted u64 | joined records
 */

import { InputError, VerificationError } from '../../src/errors.js';
import { thenAlwaysAsync } from '../../src/floor/cleanup.js';
import type { JobControl } from '../../src/floor/job-control.js';
import { inPhase } from '../../src/floor/phase-clock.js';
import type { KernelFunctions } from '../../src/formats/framing.js';
import { removeFile } from '../../src/io/files.js';
import { eachMergedPile, type MergedPile, type MergedPileReader } from '../../src/piles/merged-pile.js';
import { type PileSetLayout, pileSetFiles } from '../../src/piles/pile-layout.js';
import { PileSetWriter, type StoredPileSet } from '../../src/piles/pile-set-writer.js';
import {
  addRecordTotals,
  NO_TOTALS,
  type PileTotals,
  type RecordTotals,
  requireSameKeys,
  subtractRecordTotals,
} from '../../src/piles/pile-totals.js';
import type { SegmentCompressor, SegmentHasher } from '../../src/piles/segments.js';
import {
  ENTRY_BYTES,
  MOST_SUB_PILES,
  OUTPUT_BUFFER_COUNT,
  SLACK_BYTES,
  SUB_PILE_FILL,
  storedHeaderBytes,
  TALLY_BYTES,
} from '../../src/plan/arena-sizes.js';
import type { SinkBuffer } from '../../src/sinks/output-target.js';
import { type Arena, ArenaLayout } from '../arena.js';
import type { Kernel } from '../kernel/kernel.js';
import { ReadWindow } from '../read/read-window.js';
import type { ShuffleSettings } from '../settings.js';
import { bundlePieces, isOneBundle } from './bundle-pieces.js';
import { loadDistinct } from './load-distinct.js';
import { foreignRecordError, type OrderTables, orderTables } from './order-tables.js';
import { RecordJoiner } from './record-joiner.js';
import { prepareStoredValues } from './record-values.js';
import { ScatterArena } from './scatter-arena.js';

/** The limit for records that may begin anywhere. */
export const NO_LIMIT = (1n << 63n) - 1n;

/** The numbers by which the kernel knows them. */
const LIMIT_KINDS = { rank: 0, byte: 1, key: 2 } as const;

export type LimitKind = keyof typeof LIMIT_KINDS;

/** A call with the number of ordered records, and with what was dropped of the same stored records. */
type Emit = (recordCount: number, dropped: RecordTotals) => Promise<void>;

interface OrderablePile {
  readonly pile: number;
  /**
   * Calls `emit` once for each part of the pile that is ordered alone.
   * @returns what it dropped of the pile, because it keeps one of equal records.
   */
  order(emit: Emit): Promise<RecordTotals>;
}

interface LevelPile {
  readonly merged: MergedPile;
  readonly layout: PileSetLayout;
  /** The product of the key scale and the pile counts of the levels above this one. The kernel takes it modulo 2^64. */
  readonly parentScale: bigint;
  readonly window: KeyWindow;
  /** True if the level above has hardly divided its pile. */
  readonly isRest: boolean;
}

/** A window of keys and second keys, as the kernel's `useWindow` has it. */
interface KeyWindow {
  readonly key: bigint;
  readonly second: bigint;
  readonly shift: number;
}

const ALL_KEYS: KeyWindow = { key: 0n, second: 0n, shift: 0 };
/** The shift of a window of records that all have the same keys. */
const ONE_PAIR = 128;
/** A sub-pile with more than this part of the records of its pile is hardly smaller. */
const REST_SHARE = 3 / 4;

/** A pile of pass 1, which no level has scattered again. @param keyScale that of pass 1. */
function wholePile(merged: MergedPile, layout: PileSetLayout, keyScale = 1n): LevelPile {
  return { merged, layout, parentScale: keyScale, window: ALL_KEYS, isRest: false };
}

interface OrdererParts {
  readonly arena: Arena;
  readonly control: JobControl;
  readonly reader: MergedPileReader;
  readonly hasher: SegmentHasher;
  readonly compressor: SegmentCompressor | undefined;
  readonly job: Pick<
    ShuffleSettings,
    'layout' | 'keyScale' | 'bufferBytes' | 'readBytes' | 'outputBytes' | 'tiesByBytes' | 'rescatterTo' | 'content'
  >;
  readonly longestRecordBytes: number;
  readonly pileSets: readonly StoredPileSet[];
  readonly attemptName: string;
  readonly waitForWrites: () => Promise<void>;
  /** The address from which the arena is free. Absent: all of it is. */
  readonly startAddress?: number | undefined;
}

interface SubPiles {
  readonly count: number;
  readonly bufferBytes: number;
  /** True if the arena has no room besides the buffers and the window. */
  readonly isTight: boolean;
}

/** The buffers for scattering a pile again may shrink to this, so that a long record still fits beside them. */
const SMALLEST_SUB_BUFFER_BYTES = 4096;

/** The methods from `gather` on are about the records that are in order now. */
export class PileOrderer {
  /** The same region for all piles. */
  readonly sinkBuffer: SinkBuffer;
  readonly #parts: OrdererParts;
  readonly #storedAddress: number;
  readonly #headerBytes: number;
  /** The bytes of the arena that piles cannot have. */
  readonly #besideBytes: number;
  #rescatters = 0;
  /** The sum of the keys of all records put in order so far. */
  #keySum = 0n;

  constructor(parts: OrdererParts) {
    this.#parts = parts;
    const { arena, startAddress = arena.start } = parts;
    const layout = new ArenaLayout(startAddress);
    this.#besideBytes = startAddress - arena.start + OUTPUT_BUFFER_COUNT * parts.job.outputBytes;
    this.sinkBuffer = outputBuffers(layout, arena, parts.job.outputBytes);
    this.#storedAddress = layout.take(0, 4096);
    this.#headerBytes = storedHeaderBytes(parts.job.layout);
    this.#wasm.useSecondKeys(parts.job.layout.hasSecondKeys === true, parts.job.content?.isBundled === true);
    prepareStoredValues(this.kernel, parts.job.content);
  }

  get #wasm(): KernelFunctions {
    return this.#parts.arena.kernel.wasm;
  }

  /** Returns the address of room where the records of a pile will be loaded. */
  roomBeforeLoad(byteLength: number): number {
    const fits = this.#parts.arena.reserve(this.#storedAddress + byteLength);
    if (!fits) throw new RangeError(`${byteLength} bytes after the output buffers do not fit the arena`);
    return this.#storedAddress;
  }

  /** @param expected the totals of the piles, the first of which is `first`. Absent: the caller does not know them. */
  *piles(first: number, end: number, expected?: PileTotals): Generator<OrderablePile, void> {
    const { pileSets, job } = this.#parts;
    for (const merged of eachMergedPile(pileSets, first, end)) {
      const { pile } = merged;
      const order = async (emit: Emit) => {
        const before = this.#keySum;
        const dropped = await this.order(wholePile(merged, job.layout, job.keyScale), emit);
        const keySum = BigInt.asUintN(64, this.#keySum - before);
        requireSameKeys(pile, keySum, expected?.keySums?.[pile - first] ?? keySum);
        return dropped;
      };
      yield { pile, order };
    }
  }

  /** Copies records as the kernel's `gather` does. Returns the index where it stopped. */
  gather(index: number, endIndex: number, address: number, capacityBytes: number, startLimit: bigint): number {
    return index + (this.#wasm.gather(index, 1, endIndex - index, address, capacityBytes, startLimit, 0, 0) >>> 0);
  }

  get gatheredBytes(): number {
    return this.#wasm.gatheredByteLength.value >>> 0;
  }

  /** Returns the address of a record that is too long to be gathered. */
  addressOf(index: number): number {
    return this.#wasm.recordAddress(index) >>> 0;
  }

  byteLengthOf(index: number): number {
    return this.#wasm.recordByteLength(index) >>> 0;
  }

  /** Adds records to the checksum that are read where they lie. */
  hashInPlace(index: number, endIndex: number): void {
    this.#wasm.hashInPlace(index, endIndex);
  }

  /** Sums the records that were gathered or hashed since they were put in order. */
  get checksum(): bigint {
    return this.#wasm.orderChecksum.value;
  }

  /** True if records of one key and one value are a bundle, which comes in several parts if it is large. */
  get isBundled(): boolean {
    return this.#parts.job.content?.isBundled === true;
  }

  /** Measures as the kernel's `measureUnits`. Returns the index, and the bytes of all units, the last and the longest one. */
  measureUnits(index: number, limit: number | bigint, by: LimitKind, areBundles = this.isBundled) {
    const next = this.#wasm.measureUnits(index, BigInt(limit), LIMIT_KINDS[by], areBundles) >>> 0;
    const { measuredByteLength: all, lastUnitBytes: last, longestUnitBytes: longest } = this.#wasm;
    return { next, byteLength: Number(all.value), lastBytes: Number(last.value), longestBytes: Number(longest.value) };
  }

  get kernel(): Kernel {
    return this.#parts.arena.kernel;
  }

  get bytes(): Uint8Array {
    return this.#parts.arena.kernel.bytes;
  }

  recordAt(index: number): Uint8Array {
    const address = this.addressOf(index);
    return this.bytes.subarray(address, address + this.byteLengthOf(index));
  }

  keyAt(index: number): bigint {
    return this.kernel.view.getBigUint64(this.addressOf(index) - this.#headerBytes, true);
  }

  /** Puts a pile in order as `OrderablePile.order`. */
  async order(pile: LevelPile, emit: Emit): Promise<RecordTotals> {
    const { control, job } = this.#parts;
    control.throwIfAborted();
    const { records } = pile.merged;
    if (records === 0) return NO_TOTALS;
    if (job.content?.isDistinct === true) return this.#orderDistinct(pile, emit);
    if (!this.#walkInPlace(pile) && !(await this.#load(pile)))
      return (await this.#orderBundle(pile, emit)) ? NO_TOTALS : this.#rescatter(pile, emit);
    // Only now: records that found no room were walked in vain.
    this.#keySum += this.#wasm.walkedKeySum.value;
    inPhase('sort', () => this.#wasm.orderWalked());
    await emit(records, NO_TOTALS);
    return NO_TOTALS;
  }

  /** Returns false if the pile is not one bundle. */
  async #orderBundle({ merged, layout, parentScale }: LevelPile, emit: Emit): Promise<boolean> {
    const { arena, job, reader, waitForWrites } = this.#parts;
    if (job.content?.isBundled !== true) return false;
    await waitForWrites();
    const room = { start: this.#storedAddress, end: arena.start + arena.allowanceBytes };
    const load = { merged, reader, level: { layout, parentScale }, room };
    if (!arena.reserve(room.end) || !(await isOneBundle(this.kernel, load))) return false;
    let ordered = 0;
    for await (const records of bundlePieces(this.kernel, load)) {
      this.#keySum += this.#wasm.walkedKeySum.value;
      ordered += records;
      await emit(records, NO_TOTALS);
    }
    requireRecords(merged, ordered, 0);
    return true;
  }

  async #orderDistinct(pile: LevelPile, emit: Emit): Promise<RecordTotals> {
    const before = this.kernel.dropped;
    const distinctRecords = (await this.#load(pile))
      ? inPhase('sort', () => this.#wasm.orderDistinct()) >>> 0
      : await this.#loadDistinct(pile);
    if (distinctRecords === undefined) return this.#rescatter(pile, emit);
    const dropped = subtractRecordTotals(this.kernel.dropped, before);
    requireRecords(pile.merged, distinctRecords + dropped.records, 0);
    await emit(distinctRecords, dropped);
    return dropped;
  }

  /** Returns the number of records that stay, in order; undefined: they are too many. */
  async #loadDistinct({ merged, layout, parentScale }: LevelPile): Promise<number | undefined> {
    const { arena, reader, waitForWrites, longestRecordBytes } = this.#parts;
    // Growing replaces the memory, and a write may still be reading from it.
    await waitForWrites();
    const room = { start: this.#storedAddress, end: arena.start + arena.allowanceBytes };
    if (!arena.reserve(room.end)) return undefined;
    const level = { layout, parentScale };
    return loadDistinct(this.kernel, { merged, reader, level, room, longestRecordBytes });
  }

  /** False if the pile must be loaded, because some of it lies elsewhere or joined records find no room. */
  #walkInPlace(pile: LevelPile): boolean {
    const { arena, reader } = this.#parts;
    const { merged } = pile;
    const tables = orderTables(this.#storedAddress, merged.records);
    if (!reader.isInPlace(merged, this.bytes) || !arena.reserve(tables.end)) return false;
    this.#prepareOrder(pile, tables);
    const walk = (start: number, end: number) => {
      const walked = inPhase('sort', () => this.#wasm.walkStored(start, end)) >>> 0;
      if (walked === 0) throw foreignRecordError(merged);
      return walked;
    };
    const joiner = new RecordJoiner(arena, tables.end, this.#headerBytes, walk);
    for (const { segments } of merged.parts) {
      for (const { place, byteLength } of segments) joiner.take(place, place + byteLength);
    }
    if (joiner.isFull) return false;
    requireRecords(merged, this.#wasm.walkedCount.value >>> 0, joiner.pendingBytes);
    return true;
  }

  #prepareOrder(
    { merged, layout, parentScale, window }: LevelPile,
    { bits, counts, arrived, sorted }: OrderTables,
  ): void {
    const { pile, records } = merged;
    const { tiesByBytes } = this.#parts.job;
    this.#useWindow(window);
    this.#wasm.prepareOrder(counts, bits, arrived, sorted, records, pile, layout.pileCount, parentScale, tiesByBytes);
  }

  /** False, without any work, when the pile does not fit. */
  async #load(pile: LevelPile): Promise<boolean> {
    const { arena, reader, waitForWrites } = this.#parts;
    const { merged, layout } = pile;
    const tables = orderTables(this.#storedAddress + merged.storedBytes, merged.records);
    // Growing replaces the memory, and a write may still be reading from it.
    if (!arena.holds(tables.end)) await waitForWrites();
    if (!arena.reserve(tables.end)) return false;
    this.#prepareOrder(pile, tables);
    const wasm = this.#wasm;
    let filled = this.#storedAddress;
    let walked = this.#storedAddress;
    await reader.read(merged, layout, {
      place: (byteLength) => ({ target: this.bytes, offset: filled, byteLength }),
      receive: (byteLength) => {
        filled += byteLength;
        walked = inPhase('sort', () => wasm.walkStored(walked, filled)) >>> 0;
        if (walked === 0) throw foreignRecordError(merged);
      },
    });
    requireRecords(merged, wasm.walkedCount.value >>> 0, filled - walked);
    return true;
  }

  async #rescatter(pile: LevelPile, emit: Emit): Promise<RecordTotals> {
    const { arena, control, hasher, compressor, job, waitForWrites, attemptName, longestRecordBytes } = this.#parts;
    const { merged, layout } = pile;
    // The plan of pass 2 has room for every record.
    if (merged.records === 1) throw new RangeError(`pile ${merged.pile} is one record and does not fit`);
    // Flushing buffers is synchronous and takes a gate: this thread must hold no other permit meanwhile.
    await waitForWrites();
    const windowBytes = job.readBytes + longestRecordBytes + this.#headerBytes;
    const { keyScale, window } = await this.#levelBelow(pile, windowBytes);
    // As many piles as keys: all different records of this one have the same key.
    if (job.content?.isDistinct === true && keyScale >= 2n ** 64n) throw inseparableRecordsError(merged);
    const subPiles = this.#planSubPiles(merged, windowBytes);
    const { disks, indexDirectory } = job.rescatterTo;
    const { hasSecondKeys } = layout;
    const subLayout: PileSetLayout = {
      pileCount: subPiles.count,
      stripeCount: 1,
      disks,
      indexDirectory,
      hasSecondKeys,
    };
    this.#rescatters += 1;
    const name = `${attemptName}-pile${merged.pile}-rescatter${this.#rescatters}`;
    const parts = { name, layout: subLayout, ramPool: undefined, indexInFile: false };
    const writer = new PileSetWriter({ ...parts, hasher, compressor, control });
    const orderParts = async (): Promise<RecordTotals> => {
      const scatterArena = new ScatterArena(arena, writer, {
        startAddress: this.#storedAddress,
        pileCount: subPiles.count,
        bufferBytes: subPiles.bufferBytes,
        windowBytes,
        keyScale,
        content: job.content,
        hasSecondKeys,
        dropsEqual: job.content?.isDistinct === true && !subPiles.isTight,
      });
      this.#useWindow(window);
      await this.#readAgain(pile, scatterArena.window, windowBytes, (from, to) => this.#wasm.rescatterStored(from, to));
      const { pileSet } = scatterArena.commit(null);
      let { dropped } = scatterArena;
      control.count('rescatteredBytes', pileSet.diskBytes);
      for (const sub of eachMergedPile([pileSet], 0, subPiles.count)) {
        const isRest = sub.records > REST_SHARE * merged.records;
        const subPile = { merged: sub, layout: subLayout, parentScale: keyScale, window, isRest };
        dropped = addRecordTotals(dropped, await this.order(subPile, emit));
      }
      return dropped;
    };
    return thenAlwaysAsync(orderParts, () => {
      writer.close();
      for (const path of pileSetFiles(subLayout, name)) removeFile(path, 'temp');
    });
  }

  /** Returns what divides the records of a pile. */
  async #levelBelow(pile: LevelPile, windowBytes: number): Promise<{ keyScale: bigint; window: KeyWindow }> {
    const { merged, layout, parentScale, window, isRest } = pile;
    const { arena, job } = this.#parts;
    // Records that must stay together may have different second keys.
    const { isDistinct = false, isBundled = false } = job.content ?? {};
    const mayDivideKey = layout.hasSecondKeys === true && !isDistinct && !isBundled;
    if (!isRest || !mayDivideKey) return { keyScale: parentScale * BigInt(layout.pileCount), window };
    const wasm = this.#wasm;
    wasm.beginSpan();
    const span = (from: number, to: number) => wasm.spanStored(from, to);
    await this.#readAgain(pile, new ReadWindow(arena, this.#storedAddress, windowBytes), windowBytes, span);
    const shift = wasm.spanShift();
    if (shift === ONE_PAIR) throw inseparableRecordsError(merged);
    return { keyScale: 1n, window: { key: wasm.spanKey(), second: wasm.spanSecond(), shift } };
  }

  #useWindow({ key, second, shift }: KeyWindow): void {
    this.#wasm.useWindow(key, second, shift);
  }

  /** @param take takes the complete stored records, and returns the address of the first incomplete one. */
  async #readAgain(
    { merged, layout }: LevelPile,
    window: ReadWindow,
    windowBytes: number,
    take: (from: number, to: number) => number,
  ): Promise<void> {
    const place = (byteLength: number) => {
      const room = window.makeRoom(windowBytes);
      if (typeof room !== 'number')
        throw new VerificationError(`pile ${merged.pile} holds a record longer than any of pass 1`);
      return { target: this.bytes, offset: window.filledEnd, byteLength: Math.min(room, byteLength) };
    };
    const receive = (byteLength: number) => {
      window.filledEnd += byteLength;
      const { recordStart, filledEnd } = window;
      window.recordStart = inPhase('scatter', () => take(recordStart, filledEnd)) >>> 0;
    };
    await this.#parts.reader.read(merged, layout, { place, receive });
    if (window.pendingBytes === 0) return;
    throw new VerificationError(
      `pile ${merged.pile} ends inside a record, ${window.pendingBytes} bytes after its beginning`,
    );
  }

  /** Plans as many sub-piles as necessary, with buffers as large as the arena allows besides the window. */
  #planSubPiles(merged: MergedPile, windowBytes: number): SubPiles {
    const { arena, job } = this.#parts;
    const { bufferBytes } = job;
    const neededBytes = merged.storedBytes + ENTRY_BYTES * merged.records;
    const roomBytes = Math.max(1, arena.allowanceBytes - this.#besideBytes);
    const wanted = Math.max(2, Math.min(Math.ceil(neededBytes / (roomBytes * SUB_PILE_FILL)), MOST_SUB_PILES));
    const forBuffers = arena.allowanceBytes - this.#besideBytes - windowBytes - 2 ** 16;
    const largest = Math.floor(forBuffers / wanted) - SLACK_BYTES - TALLY_BYTES;
    if (largest >= SMALLEST_SUB_BUFFER_BYTES)
      return { count: wanted, bufferBytes: Math.min(bufferBytes, largest), isTight: false };
    const affordable = Math.floor(forBuffers / (SMALLEST_SUB_BUFFER_BYTES + SLACK_BYTES + TALLY_BYTES));
    const tightBytes = Math.min(bufferBytes, SMALLEST_SUB_BUFFER_BYTES);
    return { count: Math.max(2, affordable), bufferBytes: tightBytes, isTight: true };
  }
}

/** The buffers of a sink, which the task fills in turn. */
export function outputBuffers(layout: ArenaLayout, { kernel }: Arena, outputBytes: number): SinkBuffer {
  const takeBuffer = () => layout.take(outputBytes + SLACK_BYTES, 4096);
  return {
    addresses: [takeBuffer(), ...Array.from({ length: OUTPUT_BUFFER_COUNT - 1 }, takeBuffer)],
    capacityBytes: outputBytes,
    memory: () => kernel.bytes,
  };
}

function requireRecords({ pile, records }: MergedPile, found: number, strayBytes: number): void {
  if (found === records && strayBytes === 0) return;
  throw new VerificationError(
    `pile ${pile} holds ${found} records and ${strayBytes} stray bytes, expected ${records} records`,
  );
}

/** Keys that follow from the content are as different as the hashes of the records. */
function inseparableRecordsError({ pile, records, storedBytes }: MergedPile): InputError {
  return new InputError(
    'ERR_RECORDS_COLLIDE',
    `${records} different records, ${storedBytes} bytes in all, have one hash and are too many for the memory of a thread (pile ${pile}); somebody has made them for that`,
  );
}
