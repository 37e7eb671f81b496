/**
 * Scatters copies of drawn records. The records are in order in one memory, the piles of the copies in another: copies
 * pass through the output buffers of the order, which nobody needs meanwhile.
 */
import { inPhase } from '../../src/phase-clock.js';
import { STORED_HEADER_BYTES } from '../../src/plan/arena-sizes.js';
import { type Draws, drawnRanks } from './drawn-ranks.js';
import type { PileOrderer } from './pile-orderer.js';
import type { ScatterArena } from './scatter-arena.js';
import { scatterStored } from './scatter-stored.js';

/** For the draws that the kernel makes at a time. */
const ROOM_BYTES = 2 ** 14;
const DRAW_BYTES = 8;

export class RecordCopier {
  readonly #order: PileOrderer;
  readonly #scatterArena: ScatterArena;
  /** By rank. */
  readonly #draws: BigUint64Array;
  #next = 0;
  /** The sum of the hashes of all copies, modulo 2^64. */
  copiedChecksum = 0n;

  /** @param low the first rank of the task. */
  constructor(order: PileOrderer, scatterArena: ScatterArena, draws: Draws, low: number, high: number) {
    this.#order = order;
    this.#scatterArena = scatterArena;
    const room = { address: order.roomBeforeLoad(ROOM_BYTES), byteLength: ROOM_BYTES };
    this.#draws = drawnRanks(order.kernel, draws, low, high, room);
  }

  /** Copies the drawn ones of the `count` records in order, which have the ranks from `firstRank` on, counted from `low`. */
  copy(firstRank: number, count: number): void {
    const end = BigInt(firstRank + count) << 32n;
    let last = this.#next;
    while ((this.#draws[last] ?? end) < end) last += 1;
    while (this.#next < last) {
      const done = this.#copySome(firstRank, last);
      if (done === 0) this.#copyLong(firstRank);
      this.#next += Math.max(1, done);
    }
  }

  /** @returns the number of draws that are done; 0: the next record is too long for the buffer. */
  #copySome(firstRank: number, last: number): number {
    const { kernel, sinkBuffer } = this.#order;
    const { wasm } = kernel;
    // One fits the slack of the smallest buffer.
    const atOnce = Math.max(1, Math.floor(sinkBuffer.capacityBytes / DRAW_BYTES));
    const given = this.#draws.subarray(this.#next, Math.min(last, this.#next + atOnce));
    new BigUint64Array(kernel.bytes.buffer, this.#given, given.length).set(given);
    const [staging] = sinkBuffer.addresses;
    const store = () => wasm.storeDraws(this.#given, given.length, firstRank, staging, sinkBuffer.capacityBytes);
    const done = inPhase('gather', store) >>> 0;
    this.#copied(wasm.storedDrawChecksum());
    scatterStored(this.#scatterArena, kernel.bytes.subarray(staging, staging + (wasm.storedDrawBytes() >>> 0)));
    return done;
  }

  #copyLong(firstRank: number): void {
    const order = this.#order;
    const draw = this.#draws[this.#next] ?? 0n;
    const index = Number(draw >> 32n) - firstRank;
    const header = new DataView(new ArrayBuffer(STORED_HEADER_BYTES));
    header.setBigUint64(0, draw & 0xffffffffn, true);
    header.setUint32(8, order.byteLengthOf(index), true);
    scatterStored(this.#scatterArena, new Uint8Array(header.buffer));
    scatterStored(this.#scatterArena, order.recordAt(index));
    this.#copied(order.kernel.wasm.recordHash(order.addressOf(index), order.byteLengthOf(index)));
  }

  #copied(checksum: bigint): void {
    this.copiedChecksum = BigInt.asUintN(64, this.copiedChecksum + checksum);
  }

  /** Where the kernel gets draws. */
  get #given(): number {
    const [, address = 0] = this.#order.sinkBuffer.addresses;
    return address;
  }
}
