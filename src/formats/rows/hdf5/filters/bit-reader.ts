/** Bits of packed numbers, the first bit of a byte first. */
import { Hdf5Problem } from '../hdf5-bytes.js';

export class BitReader {
  readonly #bytes: Uint8Array;
  #at: number;
  /** Bits of the byte before `#at` that were not taken. */
  #left = 0;

  constructor(bytes: Uint8Array, at = 0) {
    this.#bytes = bytes;
    this.#at = at;
  }

  /** @param count up to 32. */
  take(count: number): number {
    let value = 0;
    for (let wanted = count; wanted > 0; ) {
      if (this.#left === 0) {
        this.#at += 1;
        this.#left = 8;
      }
      const byte = this.#bytes[this.#at - 1];
      if (byte === undefined) throw new Hdf5Problem('ends before its last number');
      const taken = Math.min(wanted, this.#left);
      this.#left -= taken;
      wanted -= taken;
      value = value * 2 ** taken + ((byte >> this.#left) & (2 ** taken - 1));
    }
    return value;
  }

  /** Zeros up to a one, which is taken, too. */
  zeros(): number {
    let count = 0;
    while (this.take(1) === 0) count += 1;
    return count;
  }
}

/** @throws Hdf5Problem if a chunk becomes longer than it may be. */
export function allocateOutput(byteLength: number, most: number): Buffer {
  if (byteLength <= most) return Buffer.alloc(byteLength);
  throw new Hdf5Problem(`decodes to ${byteLength} bytes, expected at most ${most}`);
}
