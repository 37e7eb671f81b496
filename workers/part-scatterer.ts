/**
 * Feeds the decoded bytes of one part of a split to framing and kernel: fills the read window, has the
 * records marked and scattered, and keeps account of what was covered.
 */
import { InputError } from '../src/errors.js';
import type { Framing } from '../src/formats/framing.js';
import type { JobControl } from '../src/io/job-control.js';
import { BOUNDARY_COUNT, memoryForRecord } from '../src/plan/memory-plan.js';
import type { Coverage, InputPart } from './input-part.js';
import type { JobShare } from './job-share.js';
import type { Kernel } from './kernel/kernel.js';
import type { ReadWindow } from './read-window.js';
import type { ScatterArena } from './scatter-arena.js';

/** Reads up to `byteLength` bytes at `position` of the input to `address`; returns how many. */
export type ReadOn = (address: number, byteLength: number, position: number) => number;

export class PartScatterer {
  readonly kernel: Kernel;
  readonly window: ReadWindow;
  readonly #part: InputPart;
  readonly #framing: Framing;
  readonly #table: number;
  readonly #job: JobShare;
  /** Decoded position of the byte at the window's `filledEnd`. */
  #filledPosition = 0;
  /** Whether the first boundary is still to be found: the bytes before it belong to another part. */
  #skipping = false;
  #firstStart: number | undefined;
  #lastEnd = 0;
  #finished = false;

  constructor(part: InputPart, framing: Framing, arena: ScatterArena, kernel: Kernel, job: JobShare) {
    this.#job = job;
    this.#part = part;
    this.#framing = framing;
    this.kernel = kernel;
    this.window = arena.window;
    this.#table = arena.table;
  }

  begin(position: number, skipping: boolean): void {
    this.window.clear();
    this.#filledPosition = position;
    this.#skipping = skipping;
    this.#firstStart = undefined;
    this.#finished = false;
  }

  /** Whether a record that begins before `end` still waits for its end. */
  awaitsBoundary(end: number): boolean {
    return !this.#finished && !this.#skipping && this.#position(this.window.recordStart) < end;
  }

  /**
   * @param readOn reads more of the input to where it is told; for telling how long a record is that
   *   does not fit.
   * @throws InputError ERR_RECORD_TOO_LONG
   */
  makeRoom(readOn: ReadOn = () => 0): number {
    if (this.#skipping) this.window.clear();
    const room = this.window.makeRoom();
    if (typeof room === 'number') return room;
    const position = this.#position(this.window.recordStart);
    if (room.limit === 'record') throw this.#overLimit(position);
    const { byteLength, isWhole } = this.#measureRecord(room.byteLength, readOn);
    if (byteLength > this.#job.maxRecordBytes) throw this.#overLimit(position);
    const size = `${isWhole ? '' : 'more than '}${byteLength} bytes`;
    throw new InputError(
      'ERR_RECORD_TOO_LONG',
      `${this.#part.path}: the record at byte ${position} has ${size} and does not fit the memory budget; expected --memory of at least ${memoryForRecord(this.#job, this.#job.budgetBytes, byteLength)}`,
    );
  }

  /** Reads on, over what is in the window, to the end of a record of which `byteLength` bytes were read. */
  #measureRecord(byteLength: number, readOn: ReadOn): { byteLength: number; isWhole: boolean } {
    const { window, kernel } = this;
    const start = window.recordStart;
    const capacityBytes = window.filledEnd - start;
    let total = byteLength;
    while (total <= this.#job.maxRecordBytes) {
      const count = readOn(start, capacityBytes, this.#filledPosition + (total - byteLength));
      if (count === 0) return { byteLength: total, isWhole: total > byteLength };
      if (this.#framing.scan(kernel.run, start, start + count, start, this.#table, 1) > 0) {
        return { byteLength: total + this.#tableEnd(0) - start, isWhole: true };
      }
      total += count;
    }
    return { byteLength: total, isWhole: false };
  }

  #overLimit(position: number): InputError {
    return new InputError(
      'ERR_RECORD_TOO_LONG',
      `${this.#part.path}: the record at byte ${position} is longer than the ${this.#job.maxRecordBytes} bytes that --max-record allows; raise it, or check that the records end as expected`,
    );
  }

  /** Takes in `count` bytes that were read to the window's end; records that begin at `end` or later are left. */
  take(count: number, end = Number.POSITIVE_INFINITY): void {
    const { window } = this;
    window.filledEnd += count;
    this.#filledPosition += count;
    if (this.#skipping && !this.#skipToBoundary()) return;
    this.#scatterComplete(end);
  }

  takeCopy(piece: Uint8Array, control: JobControl): void {
    for (let taken = 0; taken < piece.byteLength; ) {
      control.throwIfAborted();
      const count = Math.min(this.makeRoom(), piece.byteLength - taken);
      this.kernel.bytes.set(piece.subarray(taken, taken + count), this.window.filledEnd);
      this.take(count);
      taken += count;
    }
  }

  /** The input ended: a last record without its terminator gets one. */
  endOfInput(): Coverage {
    const inputBytes = this.#filledPosition;
    const { window } = this;
    if (!this.#skipping && !this.#finished && window.pendingBytes > 0) {
      // The window's slack has room for it; it is not part of the input.
      this.kernel.bytes[window.filledEnd] = this.#framing.terminator;
      this.take(1);
      return this.#coverage(inputBytes, 0, 1);
    }
    return this.#coverage(inputBytes);
  }

  /** The range ended with or before a boundary. */
  endOfRange(position: number): Coverage {
    return this.#coverage(undefined, position);
  }

  #coverage(inputBytes: number | undefined, position = 0, addedBytes = 0): Coverage {
    const { inputOrdinal } = this.#part;
    const end = Math.min(this.#lastEnd, inputBytes ?? Number.POSITIVE_INFINITY);
    if (this.#firstStart === undefined) return { inputOrdinal, start: position, end: position, inputBytes, addedBytes };
    return { inputOrdinal, start: this.#firstStart, end, inputBytes, addedBytes };
  }

  /** Decoded position of an address in the window. */
  #position(address: number): number {
    return this.#filledPosition - (this.window.filledEnd - address);
  }

  #skipToBoundary(): boolean {
    const { window } = this;
    const found = this.#framing.scan(
      this.kernel.run,
      window.scannedEnd,
      window.filledEnd,
      window.recordStart,
      this.#table,
      1,
    );
    if (found === 0) return false;
    window.recordStart = this.#tableEnd(0);
    window.scannedEnd = window.recordStart;
    this.#skipping = false;
    return true;
  }

  #scatterComplete(end: number): void {
    const { window } = this;
    const { run } = this.kernel;
    const base = window.recordStart;
    const basePosition = this.#position(base);
    while (!this.#finished) {
      // Behind the range only the one record that began inside it is still taken.
      const inRange = this.#position(window.filledEnd) <= end;
      const maxCount = inRange ? BOUNDARY_COUNT : 1;
      if (this.#position(window.recordStart) >= end) {
        this.#finished = true;
        break;
      }
      const count = this.#framing.scan(
        run,
        window.scannedEnd,
        window.filledEnd,
        window.recordStart,
        this.#table,
        maxCount,
      );
      if (count > 0) {
        run.scatterRecords(this.#table, count, base, BigInt(basePosition), this.#part.inputKey);
        if (run.longestRecord() >>> 0 > this.#job.maxRecordBytes) throw this.#overLimit(this.#longestPosition(count));
        this.#firstStart ??= basePosition;
        window.recordStart = this.#tableEnd(count - 1);
        window.scannedEnd = window.recordStart;
        this.#lastEnd = this.#position(window.recordStart);
      }
      if (count < maxCount) {
        window.scannedEnd = window.filledEnd;
        break;
      }
    }
  }

  /** Position of the first record over the limit among the `count` of the boundary table. */
  #longestPosition(count: number): number {
    let address = this.window.recordStart;
    for (let i = 0; i < count && this.#tableEnd(i) - address <= this.#job.maxRecordBytes; i++)
      address = this.#tableEnd(i);
    return this.#position(address);
  }

  #tableEnd(index: number): number {
    return this.kernel.view.getUint32(this.#table + index * 8 + 4, true);
  }
}
