/**
 * Takes records one by one from a program, and scatters them as adjacent records of one input. It copies each record to
 * the read window and notes its ends in the boundary table. When either is full, the kernel scatters the records.
 */
import { counted, UsageError } from '../../src/errors.js';
import { BOUNDARY_COUNT } from '../../src/plan/arena-sizes.js';
import type { Kernel } from '../kernel/kernel.js';
import type { ReadWindow } from '../read/read-window.js';
import type { ScatterArena } from './scatter-arena.js';

/** The most UTF-8 bytes for one code unit of a JavaScript string. */
const MOST_BYTES_A_CHARACTER = 3;

export class RecordScatterer {
  readonly #kernel: Kernel;
  readonly #window: ReadWindow;
  readonly #tableAddress: number;
  readonly #inputKey: bigint;
  readonly #mostBytes: number;
  readonly #start: number;
  /** The kernel's memory, a new object after it grows. */
  #memory: Buffer;
  #table: Uint32Array;
  #count = 0;
  #filledEnd: number;
  #windowEnd: number;
  #startPosition = 0;

  constructor(
    kernel: Kernel,
    { window, table }: ScatterArena,
    { inputKey, mostBytes }: { readonly inputKey: bigint; readonly mostBytes: number },
  ) {
    this.#kernel = kernel;
    this.#window = window;
    this.#tableAddress = table;
    this.#inputKey = inputKey;
    this.#mostBytes = mostBytes;
    this.#start = window.recordStart;
    this.#filledEnd = this.#start;
    this.#windowEnd = this.#start + window.capacityBytes;
    [this.#memory, this.#table] = this.#viewMemory();
  }

  get byteLength(): number {
    return this.#startPosition + this.#filledEnd - this.#start;
  }

  get longestRecordBytes(): number {
    return this.#kernel.wasm.longestRecord.value >>> 0;
  }

  /** Refuses values that only programs without types can pass. */
  add(record: Uint8Array | string): void {
    if (typeof record === 'string') this.#addText(record);
    else if (record instanceof Uint8Array) this.#addBytes(record);
    else throw new UsageError(`cannot write a record ${kindOf(record)}; expected a Uint8Array or a string`);
  }

  flush(): void {
    if (this.#count > 0) {
      const position = BigInt(this.#startPosition);
      this.#kernel.wasm.scatterRecords(this.#tableAddress, this.#count, this.#start, position, this.#inputKey);
    }
    this.#count = 0;
    this.#startPosition += this.#filledEnd - this.#start;
    this.#filledEnd = this.#start;
  }

  #addText(text: string): void {
    const mostBytes = MOST_BYTES_A_CHARACTER * text.length;
    if (mostBytes > this.#windowEnd - this.#filledEnd) this.flush();
    if (mostBytes > this.#windowEnd - this.#filledEnd) this.#addBytes(Buffer.from(text));
    else this.#mark(this.#memory.write(text, this.#filledEnd, mostBytes));
  }

  #addBytes(bytes: Uint8Array): void {
    const { byteLength } = bytes;
    if (byteLength > this.#windowEnd - this.#filledEnd) this.flush();
    if (byteLength > this.#windowEnd - this.#filledEnd) {
      this.#addLong(bytes);
      return;
    }
    this.#memory.set(bytes, this.#filledEnd);
    this.#mark(byteLength);
  }

  /** Adds the bytes after the last record as the next record. */
  #mark(byteLength: number): void {
    // An empty record would have the position of the next record, and so its key.
    if (byteLength === 0) throw new UsageError('cannot write a record of no bytes; expected one or more');
    const entry = 2 * this.#count;
    this.#table[entry] = this.#filledEnd;
    this.#filledEnd += byteLength;
    this.#table[entry + 1] = this.#filledEnd;
    this.#count += 1;
    if (this.#count === BOUNDARY_COUNT) this.flush();
  }

  /** The window is empty, and grows. */
  #addLong(bytes: Uint8Array): void {
    const { byteLength } = bytes;
    if (byteLength > this.#mostBytes) throw tooLongError(byteLength, `longer than ${this.#mostBytes}`);
    const window = this.#window;
    window.clear();
    for (let done = 0; done < byteLength; ) {
      const room = window.makeRoom();
      if (typeof room !== 'number')
        throw tooLongError(byteLength, 'too long for the memory of the writer; give more with `memoryBytes`');
      const count = Math.min(room, byteLength - done);
      this.#kernel.bytes.set(bytes.subarray(done, done + count), window.filledEnd);
      window.filledEnd += count;
      done += count;
    }
    this.#windowEnd = this.#start + window.capacityBytes;
    [this.#memory, this.#table] = this.#viewMemory();
    this.#mark(byteLength);
    this.flush();
  }

  #viewMemory(): [Buffer, Uint32Array] {
    const { buffer } = this.#kernel.bytes;
    return [Buffer.from(buffer), new Uint32Array(buffer, this.#tableAddress, 2 * BOUNDARY_COUNT)];
  }
}

function kindOf(value: unknown): string {
  if (typeof value !== 'object' || value === null) return `of the type ${value === null ? 'null' : typeof value}`;
  return `of the class ${value.constructor?.name ?? 'Object'}`;
}

function tooLongError(byteLength: number, problem: string): UsageError {
  return new UsageError(`cannot write a record of ${counted(byteLength, 'byte')}: it is ${problem}`);
}
