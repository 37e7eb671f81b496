/**
 * Writes a line of JSON for each record that is dropped, with where it comes from and where the record comes from that stays.
 * The lines are scattered on piles of their own by the places of the dropped records, so that another pass can write them in
 * the order of the inputs.
 *
 *     {"dropped":{"input":"b.jsonl","byte":17},"kept":{"input":"a.jsonl","byte":3},"record":"..."}
 */
import { isUtf8 } from 'node:buffer';
import { InputError, RecordOverMemoryError } from '../../src/errors.js';
import type { InputNames } from '../../src/inputs/input-names.js';
import { STORED_HEADER_BYTES } from '../../src/plan/arena-sizes.js';
import type { Kernel } from '../kernel/kernel.js';
import type { ScatterArena } from './scatter-arena.js';
import { scatterStored } from './scatter-stored.js';

/** Lines wait here until there are enough of them to be worth a scatter. */
const STAGED_BYTES = 2 ** 18;
const PAIR_BYTES = 8;

/** Offsets in a stored record. */
const BYTE_LENGTH = 8;
const INPUT = 12;
const POSITION = 16;
const RECORD = 24;
/** The kernel marks dropped records there. */
const LENGTH_BITS = 0x7fffffff;

interface Place {
  readonly input: number;
  readonly position: number;
}

export class DuplicateLines {
  readonly #kernel: Kernel;
  readonly #scatterArena: ScatterArena;
  readonly #names: InputNames;
  readonly #staged = Buffer.alloc(STAGED_BYTES);
  #filled = 0;

  /** @param kernel has the dropped records, and another one the piles of the lines. */
  constructor(kernel: Kernel, scatterArena: ScatterArena, names: InputNames) {
    this.#kernel = kernel;
    this.#scatterArena = scatterArena;
    this.#names = names;
  }

  /** Writes lines for the records that the kernel has dropped last. */
  take(): void {
    const { wasm, view } = this.#kernel;
    const pairs = wasm.droppedPairs() >>> 0;
    const end = pairs + PAIR_BYTES * (wasm.droppedPairCount() >>> 0);
    for (let pair = pairs; pair < end; pair += PAIR_BYTES)
      this.#add(view.getUint32(pair, true), view.getUint32(pair + 4, true));
  }

  /** Scatters the lines that wait. */
  flush(): void {
    this.#scatter(this.#staged.subarray(0, this.#filled));
    this.#filled = 0;
  }

  #add(dropped: number, kept: number): void {
    const from = this.#placeAt(dropped);
    const ends = `${this.#beginOf('{"dropped":', from)}${this.#beginOf(',"kept":', this.#placeAt(kept))},`;
    const byteLength = this.#kernel.view.getUint32(dropped + BYTE_LENGTH, true) & LENGTH_BITS;
    const record = Buffer.from(this.#kernel.bytes.buffer, dropped + RECORD, byteLength);
    const line = `${ends}${textOf(record)}}\n`;
    const lineBytes = Buffer.byteLength(line);
    if (this.#filled + STORED_HEADER_BYTES + lineBytes > STAGED_BYTES) this.flush();
    const key = BigInt(this.#names.startOf(from.input) + from.position);
    const isLong = STORED_HEADER_BYTES + lineBytes > STAGED_BYTES;
    const target = isLong ? Buffer.alloc(STORED_HEADER_BYTES) : this.#staged.subarray(this.#filled);
    target.writeBigUInt64LE(key);
    target.writeUInt32LE(lineBytes, BYTE_LENGTH);
    if (isLong) {
      this.#scatter(target);
      this.#scatter(Buffer.from(line));
      return;
    }
    target.write(line, STORED_HEADER_BYTES);
    this.#filled += STORED_HEADER_BYTES + lineBytes;
  }

  #placeAt(stored: number): Place {
    const { view } = this.#kernel;
    const position = Number(view.getBigUint64(stored + POSITION, true));
    return { input: view.getUint32(stored + INPUT, true), position };
  }

  #beginOf(begin: string, { input, position }: Place): string {
    return `${begin}{"input":${this.#names.nameOf(input)},"byte":${position}}`;
  }

  #scatter(stored: Buffer): void {
    try {
      scatterStored(this.#scatterArena, stored);
    } catch (error) {
      if (!(error instanceof RecordOverMemoryError)) throw error;
      throw new InputError(
        'ERR_RECORD_TOO_LONG',
        'a dropped record does not fit the memory for `duplicates`; give more with `memoryBytes`, or use fewer `workers`',
      );
    }
  }
}

/** The record as a field of JSON: its text, or base64 if it is none. */
function textOf(record: Buffer): string {
  return isUtf8(record) ? `"record":${JSON.stringify(record.toString())}` : `"base64":"${record.toString('base64')}"`;
}
