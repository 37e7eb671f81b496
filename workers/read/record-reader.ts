/**
 * Turns the decoded bytes of one part of a slice into records: fills the read window, lets the framing mark the records,
 * passes them to a taker, and counts the bytes covered.
 */
import { InputError } from '../../src/errors.js';
import { inPhase } from '../../src/floor/phase-clock.js';
import {
  BadRecord,
  type Framing,
  type FramingKernel,
  type KernelFunctions,
  type RecordScanner,
} from '../../src/formats/framing.js';
import { type FoundHeader, markBytesOf, mayBeMark, UTF8_MARK } from '../../src/formats/header.js';
import { withColumnNumber } from '../../src/formats/selector.js';
import { isSummed, type ValuePurpose } from '../../src/keep/content-rule.js';
import { mostCopiesOf, ONCE } from '../../src/keep/weights.js';
import { checksumTextOf } from '../../src/piles/pile-totals.js';
import { inputName } from '../../src/places/inputs/input-source.js';
import { BOUNDARY_COUNT } from '../../src/plan/arena-sizes.js';
import type { Coverage, InputPart } from '../../src/sources/input-part.js';
import type { Kernel } from '../kernel/kernel.js';
import type { ReadSettings } from '../settings.js';
import type { ReadBegin } from './part-source.js';
import type { RecordTooLong, RecordWindow } from './read-window.js';
import { noteTaken } from './record-sample.js';
import {
  type PlaceOfLongRecord,
  recordOverLimitError,
  recordOverMemoryError,
  requireNumber,
  requireValue,
} from './unfit-record.js';
import { NUMBERS_AT_A_TIME, type PartNumbers } from './value-files.js';
import { readSums, WeighedSum } from './weighed-sum.js';

/** Provides the memory that records are read into, and receives them. */
export interface RecordTaker {
  readonly kernel: Kernel;
  readonly window: RecordWindow;
  readonly table: number;
  /**
   * Takes the first `count` records of the boundary table. Returns the bytes of the longest record taken so far.
   * @param base an address in the window, and `basePosition` its decoded position.
   * @param firstRow of rows: the ordinal of the first of these rows.
   */
  take(count: number, base: number, basePosition: number, inputKey: bigint, firstRow?: number): number;
}

/** A record that does not fit: the state of the search for its end when the window was emptied. */
interface DroppedRecord {
  readonly position: number;
  readonly byteLength: number;
}

export class RecordReader implements FramingKernel {
  readonly #part: InputPart;
  readonly #isOfRows: boolean;
  readonly #framing: Framing;
  #scanner: RecordScanner;
  readonly #taker: RecordTaker;
  readonly #job: ReadSettings;
  /** The numbers that lie beside the records. Undefined: none do. */
  readonly #numbers: PartNumbers | undefined;
  /** No record may have more. */
  readonly #longestBytes: number;
  /** The decoded position of the byte at the window's `filledEnd`. */
  #filledPosition = 0;
  /** The next bytes that are not scanned. */
  #contextBytes = 0;
  /** True if the reader still looks for the first boundary; the bytes before it belong to another part. */
  #skipping = false;
  #firstStart: number | undefined;
  #lastEnd = 0;
  /** The bytes at the end of the input that belong to no record. */
  #trailerBytes = 0;
  /** True if the first bytes may be a UTF-8 mark. */
  #mayBeMarked = false;
  #markBytes = 0;
  /** The mark before the next record, which is the first one: that record has the position of the mark. */
  #markBefore = 0;
  #blank = { records: 0, bytes: 0 };
  /** The weighed records, and what they make with all copies. */
  readonly #weighed = new WeighedSum();
  #weighedCount = 0;
  /** True if records of the part may come more or less often than once. */
  readonly #makesCopies: boolean;
  /** Records marked together, at most: so many that their copies are no more than those of a full table. */
  readonly #mostMarked: number;
  #finished = false;
  #dropped: DroppedRecord | undefined;
  #taken = 0;
  /** The `sumOfNames` of the records taken, if they have names and ordinals. */
  #names = 0n;
  /** The numbers of columns that selectors name, where only the header of the stream tells them. */
  readonly #columns = new Map<ValuePurpose, number>();

  constructor(part: InputPart, framing: Framing, taker: RecordTaker, job: ReadSettings, numbers?: PartNumbers) {
    this.#job = job;
    this.#numbers = numbers;
    this.#part = part;
    this.#isOfRows = part.kind === 'rows';
    const { weight = ONCE } = part;
    const mostMarked = numbers === undefined ? BOUNDARY_COUNT : NUMBERS_AT_A_TIME;
    this.#mostMarked = Math.max(1, Math.floor(mostMarked / mostCopiesOf(weight)));
    this.#makesCopies = job.content?.limit !== undefined || weight.copies !== 1 || weight.chance !== 0n;
    this.#framing = framing;
    this.#taker = taker;
    this.#longestBytes = job.read.maxRecordBytes;
    this.#scanner = framing.openScanner(this, this.#longestBytes, 'beginning');
  }

  get window(): RecordWindow {
    return this.#taker.window;
  }

  /** The header of a stream may name the columns of selectors. */
  knowHeader(header: FoundHeader): void {
    for (const { purpose, rule } of this.#job.content?.values ?? []) {
      const { selector } = withColumnNumber(rule, header);
      if (selector.kind === 'column' && typeof selector.column === 'number')
        this.#columns.set(purpose, selector.column);
    }
  }

  // Scanners work in the memory of the taker, which may change.

  get bytes(): Uint8Array {
    return this.#taker.kernel.bytes;
  }

  get view(): DataView {
    return this.#taker.kernel.view;
  }

  get wasm(): KernelFunctions {
    return this.#taker.kernel.wasm;
  }

  get #table(): number {
    return this.#taker.table;
  }

  begin({ firstByte, scanStart, isBefore, countBefore }: ReadBegin): void {
    this.window.clear();
    this.wasm.clearSums();
    this.#contextBytes = scanStart - firstByte;
    this.#scanner = this.#framing.openScanner(this, this.#longestBytes, isBefore ? countBefore : 'beginning');
    this.#filledPosition = firstByte;
    this.#mayBeMarked = this.#framing.isText === true && scanStart === 0 && !isBefore;
    this.#skipping = isBefore;
    this.#firstStart = undefined;
    this.#finished = false;
    this.#taken = 0;
    this.#names = 0n;
  }

  /**
   * Returns whether the reader needs more: bytes before `end`, the end of a record that begins before it, or the
   * input's end.
   */
  wantsMore(end: number): boolean {
    if (this.#trailerBytes > 0) return true;
    if (this.#filledPosition < end) return true;
    // What tells that a record begins at the last byte of the part may lie after it.
    if (this.#skipping && this.#filledPosition < end - 1 + (this.#scanner.lookAheadBytes ?? 0)) return true;
    if (this.#dropped !== undefined) return true;
    return !this.#finished && !this.#skipping && this.#nextPosition < end;
  }

  /**
   * Makes room for more bytes after `filledEnd`. If a record does not fit the memory budget, empties the window and goes on
   * to look for the end of the record, so that the error can name the memory it needs.
   */
  makeRoom(): number {
    const room = this.window.makeRoom(this.#longestBytes + (this.#scanner.lookAheadBytes ?? 0));
    if (typeof room === 'number') return room;
    const position = this.#position(this.window.recordStart);
    if (room.limit === 'record' || this.#scanner.needsWholeRecords) throw this.#noRoom(this.#place(position), room);
    this.#dropped = {
      position: this.#dropped?.position ?? position,
      byteLength: (this.#dropped?.byteLength ?? 0) + room.byteLength,
    };
    if (this.#dropped.byteLength >= this.#longestBytes) throw this.#recordOverLimitError(this.#dropped.position);
    this.window.clear();
    return this.window.capacityBytes;
  }

  #recordOverLimitError(position: number): InputError {
    return recordOverLimitError(this.#place(position), this.#longestBytes);
  }

  /** @param ordinal among the records of the part. */
  #place(position: number, ordinal = this.#taken): PlaceOfLongRecord {
    const { path, firstOrdinal = 0 } = this.#part;
    return { path, place: this.#isOfRows ? `row ${firstOrdinal + ordinal}` : `the record at byte ${position}` };
  }

  #noRoom(place: PlaceOfLongRecord, { limit, byteLength }: RecordTooLong): InputError {
    if (limit === 'record') return recordOverLimitError(place, this.#longestBytes);
    const { recordBytes } = this.#scanner;
    if (recordBytes !== undefined) return recordOverMemoryError(place, this.#job, String(recordBytes), recordBytes);
    return recordOverMemoryError(place, this.#job, `more than ${byteLength}`, 2 * byteLength, byteLength);
  }

  /** Takes the `count` bytes at the end of the window; leaves records that begin at `end` or later. */
  take(count: number, end = Number.POSITIVE_INFINITY): void {
    const { window } = this;
    window.filledEnd += count;
    this.#filledPosition += count;
    window.scannedEnd += this.#contextBytes;
    this.#contextBytes = 0;
    if (this.#mayBeMarked && !this.#passMark()) return;
    if (this.#dropped !== undefined) this.#lookForEnd(this.#dropped);
    else if (!this.#skipping || this.#skipToBoundary()) this.#takeComplete(end);
  }

  /** Leaves a UTF-8 mark out. False: more bytes decide whether there is one. */
  #passMark(): boolean {
    const { window } = this;
    const { bytes } = this;
    if (bytes[window.recordStart] !== UTF8_MARK[0]) {
      this.#mayBeMarked = false;
      return true;
    }
    const head = bytes.subarray(window.recordStart, window.filledEnd);
    if (mayBeMark(head)) return false;
    this.#mayBeMarked = false;
    this.#markBytes = markBytesOf(head);
    this.#markBefore = this.#markBytes;
    window.recordStart += this.#markBytes;
    window.scannedEnd = window.recordStart;
    return true;
  }

  /** Completes a last record without a terminator. */
  endOfInput(): Coverage {
    const inputBytes = this.#filledPosition;
    const { window } = this;
    // The first bytes are not mark.
    if (this.#mayBeMarked && window.pendingBytes > 0) this.#takeComplete(Number.POSITIVE_INFINITY);
    if (this.#skipping || this.#finished || (window.pendingBytes === 0 && this.#dropped === undefined)) {
      return this.#coverage(inputBytes);
    }
    this.makeRoom();
    const { recordStart, filledEnd } = this.window;
    const missing = this.#onBadRecord(() => this.#scanner.complete(recordStart, filledEnd));
    // The added end is not part of the input.
    this.bytes.set(missing, filledEnd);
    this.window.filledEnd += missing.byteLength;
    this.#filledPosition += missing.byteLength;
    this.#takeLast();
    return this.#coverage(inputBytes, 0, missing.byteLength);
  }

  /** The rest of the window is one record. */
  #takeLast(): void {
    const { recordStart, filledEnd } = this.window;
    if (this.#dropped !== undefined) this.#refuseDropped(this.#dropped, filledEnd);
    this.view.setUint32(this.#table, recordStart, true);
    this.view.setUint32(this.#table + 4, filledEnd, true);
    this.#takeMarked(1, recordStart, this.#position(recordStart));
  }

  /** Fails if the records of the input, which end with this part, are not as many as their numbers. */
  requireAllNumbers(): void {
    const { path, values } = this.#part;
    if (values?.isLast === true) this.#numbers?.requireCount(path, values.first + this.#taken);
  }

  endOfRange(position: number): Coverage {
    return this.#coverage(undefined, position);
  }

  #coverage(inputBytes: number | undefined, position = 0, addedBytes = 0): Coverage {
    const { inputOrdinal, firstOrdinal: first } = this.#part;
    const trailerBytes = this.#trailerBytes;
    const end = Math.min(this.#lastEnd, inputBytes ?? Number.POSITIVE_INFINITY);
    const names = this.#framing.hasNames === true ? checksumTextOf(BigInt.asUintN(64, this.#names)) : undefined;
    const taken = first === undefined ? undefined : { start: first, end: first + this.#taken };
    const ordinals = taken === undefined || this.#isOfRows ? undefined : { ...taken, names };
    const rest = {
      inputOrdinal,
      inputBytes,
      addedBytes,
      trailerBytes,
      weighed: this.#weighedRecords,
      ordinals,
      ...this.#leftOut,
    };
    if (this.#isOfRows && taken !== undefined) return { ...rest, ...taken, rowBytes: this.#lastEnd };
    if (this.#firstStart === undefined) {
      const start = Math.max(position, this.#markBytes);
      return { ...rest, start, end: start };
    }
    return { ...rest, start: this.#firstStart, end };
  }

  get #weighedRecords(): Coverage['weighed'] {
    if (this.#part.weight === undefined) return undefined;
    const { made, expected } = this.#weighed;
    const sums = isSummed(this.#job.content) ? readSums(this.#taker.kernel) : undefined;
    return {
      records: this.#weighedCount,
      made: this.#makesCopies ? made : undefined,
      expected: this.#job.content?.limit === undefined ? undefined : expected,
      sums: sums && { read: `${sums.read}`, made: `${sums.made}` },
    };
  }

  /** Usually nothing: where inputs are many and small, each property counts. */
  get #leftOut(): Pick<Coverage, 'markBytes' | 'blank'> | undefined {
    const markBytes = this.#markBytes > 0 ? { markBytes: this.#markBytes } : undefined;
    return this.#job.read.skipsBlank === true ? { ...markBytes, blank: this.#blank } : markBytes;
  }

  get #nextPosition(): number {
    return this.#position(this.window.recordStart) - this.#markBefore;
  }

  #position(address: number): number {
    return this.#filledPosition - (this.window.filledEnd - address);
  }

  #skipToBoundary(): boolean {
    const { window } = this;
    if (this.#scan(1) > 0) {
      window.recordStart = this.#tableEnd(0);
      window.scannedEnd = window.recordStart;
      this.#skipping = false;
      return true;
    }
    // The last bytes may hold the first part of a terminator, and what the scanner must see before that.
    const { cut } = this.#framing;
    const { lookAheadBytes = 0 } = this.#scanner;
    const contextBytes = (cut?.lookBehindBytes ?? 0) + (cut?.contextBytes ?? 0) + lookAheadBytes;
    window.recordStart = Math.max(window.recordStart, window.filledEnd - contextBytes);
    window.scannedEnd = window.filledEnd;
    return false;
  }

  #scan(maxCount: number): number {
    const { scannedEnd, filledEnd, recordStart } = this.window;
    const scan = () => this.#scanner.scan(scannedEnd, filledEnd, recordStart, this.#table, maxCount);
    return this.#onBadRecord(() => inPhase('scan', scan));
  }

  /** Turns a BadRecord into an InputError with the position in the decoded input. */
  #onBadRecord<T>(work: () => T): T {
    try {
      return work();
    } catch (error) {
      if (!(error instanceof BadRecord)) throw error;
      const position = this.#position(error.address);
      throw new InputError('ERR_INPUT_CORRUPT', `${inputName(this.#part.path)}: byte ${position} ${error.message}`);
    }
  }

  #lookForEnd(dropped: DroppedRecord): void {
    if (this.#scan(1) > 0) this.#refuseDropped(dropped, this.#tableEnd(0));
    this.window.scannedEnd = this.window.filledEnd;
  }

  #refuseDropped({ position, byteLength }: DroppedRecord, end: number): never {
    const recordBytes = byteLength + end - this.window.recordStart;
    if (recordBytes > this.#longestBytes) throw this.#recordOverLimitError(position);
    throw recordOverMemoryError(this.#place(position), this.#job, String(recordBytes), recordBytes);
  }

  #takeComplete(end: number): void {
    const { window } = this;
    if (this.#trailerBytes > 0) {
      this.#scan(1);
      this.#leaveTrailerOut();
      return;
    }
    const base = window.recordStart;
    const basePosition = this.#position(base);
    while (!this.#finished) {
      // After the range, takes only the one record that began inside it.
      const inRange = this.#position(window.filledEnd) <= end && this.#markBefore === 0;
      if (this.#nextPosition >= end) {
        this.#finished = true;
        break;
      }
      const maxCount = inRange ? this.#mostMarked : 1;
      const count = this.#scan(maxCount);
      if (count > 0) this.#takeMarked(count, base, basePosition);
      const isScanned = count < maxCount;
      if (isScanned) {
        window.scannedEnd = window.filledEnd;
        if (this.#scanner.isInTrailer === true) this.#leaveTrailerOut();
      }
      if (isScanned) break;
    }
  }

  /** Drops the bytes of a trailer at the end of the input, so that a long trailer needs no more room. */
  #leaveTrailerOut(): void {
    const { window } = this;
    this.#trailerBytes += window.pendingBytes;
    window.recordStart = window.filledEnd;
    window.scannedEnd = window.filledEnd;
  }

  /** @param base the address whose position is `basePosition`. */
  #takeMarked(count: number, base: number, basePosition: number): void {
    const { window } = this;
    const end = this.#tableEnd(count - 1);
    const recordCount = this.#job.read.skipsBlank === true ? this.#leaveBlankOut(count) : count;
    if (recordCount > 0) {
      const longest = this.#onBadRecord(() => inPhase('scatter', () => this.#hand(recordCount, base, basePosition)));
      if (longest > this.#longestBytes) throw recordOverLimitError(this.#longestPlace(recordCount), this.#longestBytes);
      this.#requireValues(recordCount, base, basePosition);
    }
    this.#firstStart ??= basePosition;
    this.#markBefore = 0;
    window.recordStart = end;
    window.scannedEnd = end;
    this.#lastEnd = this.#position(end);
  }

  #leaveBlankOut(count: number): number {
    const { wasm } = this.#taker.kernel;
    const recordCount = wasm.dropBlank(this.#table, count, this.#framing.delimiter?.byteLength ?? 0) >>> 0;
    this.#blank.records += count - recordCount;
    this.#blank.bytes += wasm.blankBytes.value >>> 0;
    return recordCount;
  }

  /** Refuses the first record without a value that it must have, or whose weight is none. */
  #requireValues(count: number, base: number, basePosition: number): void {
    const { kernel } = this.#taker;
    const values = this.#job.content?.values ?? [];
    const marked = { kernel, table: this.#table, delimiterBytes: this.#framing.delimiter?.byteLength ?? 0 };
    const placeOf = (address: number) =>
      `${inputName(this.#part.path)}: ${this.#placeAt(address, count, base, basePosition)}`;
    for (const use of values) requireValue(marked, use, placeOf);
    requireNumber(kernel, values, placeOf, this.#part.weight);
  }

  /** Returns the bytes of the longest record so far. */
  #hand(count: number, base: number, basePosition: number): number {
    const { weight, inputKey, firstOrdinal, storedGroup } = this.#part;
    const { wasm } = this.#taker.kernel;
    if (storedGroup !== undefined) wasm.fillSecondKeys(BigInt(storedGroup));
    const ordinal = firstOrdinal === undefined ? undefined : firstOrdinal + this.#taken;
    if (ordinal === undefined) wasm.keyByPlace(this.#markBefore);
    else wasm.keyByOrdinal(BigInt(ordinal));
    if (ordinal !== undefined && this.#framing.hasNames === true)
      this.#names += wasm.sumOfNames(this.#table, count, BigInt(ordinal));
    this.#taken += count;
    this.#numbers?.place(count);
    for (const [purpose, column] of this.#columns)
      wasm.setSelectorColumn(this.#taker.kernel.selectors.get(purpose) ?? 0, column - 1);
    if (weight !== undefined) wasm.setCopies(weight.copies, weight.chance);
    const firstRow = this.#isOfRows ? ordinal : undefined;
    const longest = this.#taker.take(count, base, basePosition, inputKey, firstRow);
    if (this.#job.isSampled === true) {
      const marks = { count, base, basePosition, ordinal, firstRow };
      noteTaken(this.#taker, marks, this.#part, this.#job.jobName);
    }
    if (weight === undefined) return longest;
    this.#weighedCount += count;
    if (!this.#makesCopies) return longest;
    this.#weighed.add(wasm);
    return Math.max(longest, wasm.longestWeighed.value >>> 0);
  }

  /** Returns the place of one of the last `count` records, by its address. */
  #placeAt(address: number, count: number, base: number, basePosition: number): string {
    let index = 0;
    while (this.#tableStart(index) !== address) index += 1;
    return this.#place(basePosition + address - base, this.#taken - count + index).place;
  }

  /** Returns the place of the first of the last `count` records that is over the limit. */
  #longestPlace(count: number): PlaceOfLongRecord {
    let i = 0;
    while (i < count - 1 && this.#tableEnd(i) - this.#tableStart(i) <= this.#longestBytes) i += 1;
    return this.#place(this.#position(this.#tableStart(i)), this.#taken - count + i);
  }

  #tableStart(index: number): number {
    return this.view.getUint32(this.#table + index * 8, true);
  }

  #tableEnd(index: number): number {
    return this.view.getUint32(this.#table + index * 8 + 4, true);
  }
}
