/**
 * Puts the entries of one pile in order: those of all slices, slice by slice. The records stay where they are until they
 * are gathered.
 *
 *     part of a thread    output buffers | counts u32 | sorted entries
 */
import { VerificationError } from '../../src/errors.js';
import type { JobControl } from '../../src/job-control.js';
import type { SinkBuffer } from '../../src/output/output-target.js';
import { inPhase } from '../../src/phase-clock.js';
import { differenceOf, type PileTally } from '../../src/pile-sets/pile-totals.js';
import { heldPass2Layout } from '../../src/plan/hold-plan.js';
import type { KernelFunctions } from '../kernel/kernel.js';
import { droppedBy } from '../piles/dropped.js';
import { prepareEquality } from '../piles/prepare-equality.js';
import type { Emit, OrderablePile, PileOrder } from '../piles/record-order.js';
import type { RecordMemory } from '../record-memory.js';
import type { HeldPiles, ValueRule } from '../settings.js';

/** Offsets in an entry. */
const ADDRESS = 8;
const BYTE_LENGTH = 12;

export interface HeldOrdererParts {
  readonly memory: RecordMemory;
  readonly control: JobControl;
  readonly held: HeldPiles;
  readonly outputBytes: number;
  readonly tiesByBytes: boolean;
  /** Whether of equal records one is kept. */
  readonly unique: boolean;
  readonly uniqueBy?: ValueRule | undefined;
}

export class HeldOrderer implements PileOrder {
  readonly sinkBuffer: SinkBuffer;
  readonly bytes: Uint8Array;
  readonly #parts: HeldOrdererParts;
  readonly #wasm: KernelFunctions;
  readonly #view: DataView;
  readonly #bits: number;
  readonly #counts: number;
  readonly #sorted: number;

  constructor(parts: HeldOrdererParts) {
    const { memory, held, outputBytes, uniqueBy } = parts;
    const { bytes, view, wasm } = memory.kernel;
    const layout = heldPass2Layout(outputBytes, held.mostRecords);
    const address = memory.pass2Part(layout.byteLength);
    this.#parts = parts;
    this.#wasm = wasm;
    this.#view = view;
    this.bytes = bytes;
    this.sinkBuffer = {
      addresses: [address, ...layout.bufferOffsets.slice(1).map((offset) => address + offset)],
      capacityBytes: outputBytes,
      memory: () => bytes,
    };
    this.#bits = layout.bits;
    this.#counts = address + layout.countsOffset;
    this.#sorted = address + layout.sortedOffset;
    prepareEquality(memory.kernel, uniqueBy);
  }

  *piles(first: number, end: number): Generator<OrderablePile, void> {
    for (let pile = first; pile < end; pile++) yield { pile, order: (emit) => this.#order(pile, emit) };
  }

  async #order(pile: number, emit: Emit): Promise<PileTally> {
    const { memory, control, held, tiesByBytes, unique } = this.#parts;
    const { directories, pileCount, blockBytes, mostRecords } = held;
    control.throwIfAborted();
    const wasm = this.#wasm;
    const before = droppedBy(memory.kernel);
    const count = inPhase('sort', () => {
      wasm.prepareHeldOrder(this.#counts, this.#bits, this.#sorted, pile, pileCount, blockBytes, tiesByBytes);
      for (const directory of directories) {
        if (wasm.countHeld(directory) === 0) throw foreignRecord(pile);
      }
      wasm.placeRanges();
      for (const directory of directories) wasm.takeHeld(directory);
      return (unique ? wasm.orderHeldDistinct() : wasm.orderHeld()) >>> 0;
    });
    const dropped = differenceOf(droppedBy(memory.kernel), before);
    const all = count + dropped.records;
    if (all > mostRecords) throw new RangeError(`pile ${pile} has ${all} records, and room for ${mostRecords}`);
    if (count > 0) await emit(count, dropped);
    return dropped;
  }

  gather(index: number, endIndex: number, address: number, capacityBytes: number, startLimit: bigint): number {
    return this.#wasm.gatherHeld(index, endIndex, address, capacityBytes, startLimit) >>> 0;
  }

  get gatheredBytes(): number {
    return this.#wasm.heldByteLength() >>> 0;
  }

  addressOf(index: number): number {
    return this.#view.getUint32((this.#wasm.heldEntry(index) >>> 0) + ADDRESS, true);
  }

  byteLengthOf(index: number): number {
    return this.#view.getUint32((this.#wasm.heldEntry(index) >>> 0) + BYTE_LENGTH, true);
  }

  hashInPlace(index: number, endIndex: number): void {
    this.#wasm.hashHeld(index, endIndex);
  }

  get checksum(): bigint {
    return this.#wasm.heldChecksum();
  }

  measureUpTo(index: number, endIndex: number, startLimit: bigint): number {
    return this.#wasm.measureHeld(index, endIndex, startLimit) >>> 0;
  }

  get measuredBytes(): number {
    return Number(this.#wasm.measuredHeld());
  }

  keyAt(index: number): bigint {
    return this.#view.getBigUint64(this.#wasm.heldEntry(index) >>> 0, true);
  }

  recordAt(index: number): Uint8Array {
    const address = this.addressOf(index);
    return this.bytes.subarray(address, address + this.byteLengthOf(index));
  }
}

function foreignRecord(pile: number): VerificationError {
  return new VerificationError(
    `pile ${pile} holds a record that belongs to another pile; check the memory of this machine`,
  );
}
