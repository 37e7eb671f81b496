/**
 * Feeds the decoded bytes of one part of a split to framing and kernel: fills the read window, has the
 * records marked and scattered, and keeps account of what was covered.
 */
import { InputError } from '../src/errors.js';
import type { Framing } from '../src/formats/framing.js';
import { inputName } from '../src/io/input-source.js';
import type { JobControl } from '../src/io/job-control.js';
import { BOUNDARY_COUNT } from '../src/plan/memory-plan.js';
import { memoryForRecord } from '../src/plan/record-memory.js';
import type { Coverage, InputPart } from './input-part.js';
import type { JobShare } from './job-share.js';
import type { Kernel } from './kernel/kernel.js';
import type { ReadWindow } from './read-window.js';
import type { ScatterArena } from './scatter-arena.js';

/** A record that the window could not hold, as far as it was read before the window was emptied. */
interface UnheldRecord {
  readonly position: number;
  readonly byteLength: number;
}

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
  #unheld: UnheldRecord | undefined;

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
    if (this.#unheld !== undefined) return true;
    return !this.#finished && !this.#skipping && this.#position(this.window.recordStart) < end;
  }

  /**
   * Room for more bytes behind the window's `filledEnd`. For a record that does not fit the memory
   * budget the window is emptied: its end is still looked for, so that the error can tell how much it
   * needs.
   * @throws InputError ERR_RECORD_TOO_LONG for one that is over the limit.
   */
  makeRoom(): number {
    if (this.#skipping) this.window.clear();
    const room = this.window.makeRoom();
    if (typeof room === 'number') return room;
    const position = this.#position(this.window.recordStart);
    if (room.limit === 'record') throw this.#overLimit(position);
    this.#unheld = {
      position: this.#unheld?.position ?? position,
      byteLength: (this.#unheld?.byteLength ?? 0) + room.byteLength,
    };
    if (this.#unheld.byteLength >= this.#job.maxRecordBytes) throw this.#overLimit(this.#unheld.position);
    this.window.clear();
    return this.window.capacityBytes;
  }

  #overLimit(position: number): InputError {
    return new InputError(
      'ERR_RECORD_TOO_LONG',
      `${inputName(this.#part.path)}: the record at byte ${position} is longer than the ${this.#job.maxRecordBytes} bytes that --max-record allows; raise it, or check that the records end as expected`,
    );
  }

  /** Takes in `count` bytes that were read to the window's end; records that begin at `end` or later are left. */
  take(count: number, end = Number.POSITIVE_INFINITY): void {
    const { window } = this;
    window.filledEnd += count;
    this.#filledPosition += count;
    if (this.#unheld !== undefined) this.#lookForEnd(this.#unheld);
    else if (!this.#skipping || this.#skipToBoundary()) this.#scatterComplete(end);
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
    if (!this.#skipping && !this.#finished && (window.pendingBytes > 0 || this.#unheld !== undefined)) {
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

  /** @throws InputError ERR_RECORD_TOO_LONG as soon as the length is known. */
  #lookForEnd({ position, byteLength }: UnheldRecord): void {
    const { window } = this;
    const { scannedEnd, filledEnd, recordStart } = window;
    if (this.#framing.scan(this.kernel.run, scannedEnd, filledEnd, recordStart, this.#table, 1) === 0) {
      window.scannedEnd = filledEnd;
      return;
    }
    const recordBytes = byteLength + this.#tableEnd(0) - recordStart;
    if (recordBytes > this.#job.maxRecordBytes) throw this.#overLimit(position);
    throw new InputError(
      'ERR_RECORD_TOO_LONG',
      `${inputName(this.#part.path)}: the record at byte ${position} has ${recordBytes} bytes and does not fit the memory budget; expected --memory of at least ${memoryForRecord(this.#job.memoryNeed, recordBytes)}`,
    );
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
