/**
 * The numbers of a range as a file that is stored nowhere: each number in decimal, and its end. It is read by position, as
 * any file is. Its path is an address: `numbers://1-1000`, or `numbers0://1-1000` with NUL in place of newlines.
 */
import type { FileVersion } from '../../io/files.js';
import { bytesBelow, type NumberRange, numberAt } from '../../values/number-range.js';

export function addressOfNumbers({ low, high }: NumberRange, endsInNul: boolean): string {
  return `numbers${endsInNul ? '0' : ''}://${low}-${high}`;
}

const ADDRESS = /^numbers(0?):\/\/(\d+)-(-?\d+)$/;

/** Two of these blocks differ in few columns, however long their numbers are. */
const NUMBERS_OF_BLOCK = 1000n;
const DIGITS_IN_BLOCK = 3;
/** The most bytes of a version. Nobody reads so many. */
const MOST_BYTES = 2 ** 63;

export class NumberLines {
  readonly version: FileVersion;
  readonly #low: bigint;
  readonly #end: string;
  /** The lines of `NUMBERS_OF_BLOCK` numbers, also below and above the range; where they begin in the file; which they are. */
  #block: Buffer = Buffer.alloc(0);
  #blockStart = Number.POSITIVE_INFINITY;
  #ordinal = -1n;

  constructor(path: string) {
    const [, nul, low = '', high = ''] = ADDRESS.exec(path) ?? [];
    this.#low = BigInt(low);
    this.#end = nul === '0' ? '\0' : '\n';
    const byteLength = this.#positionOf(BigInt(high) + 1n);
    this.version = { identity: path, byteLength: Math.min(byteLength, MOST_BYTES), modifiedNanoseconds: 0n };
  }

  /** Reads as `readAt` of files. */
  readAt(bytes: Uint8Array, offset: number, byteLength: number, position: number): number {
    const wanted = Math.max(0, Math.min(byteLength, this.version.byteLength - position));
    for (let done = 0; done < wanted; ) {
      const from = this.#find(position + done);
      const piece = this.#block.subarray(from, from + wanted - done);
      bytes.set(piece, offset + done);
      done += piece.byteLength;
    }
    return wanted;
  }

  close(): void {}

  /** Returns the place in the block of a position in the file. */
  #find(position: number): number {
    const end = this.#blockStart + this.#block.byteLength;
    if (position === end) this.#take(this.#ordinal + 1n, end);
    else if (position < this.#blockStart || position > end) {
      const ordinal = numberAt(BigInt(position) + bytesBelow(this.#low)) / NUMBERS_OF_BLOCK;
      this.#take(ordinal, this.#positionOf(ordinal * NUMBERS_OF_BLOCK));
    }
    return position - this.#blockStart;
  }

  #take(ordinal: bigint, start: number): void {
    const prefix = Buffer.from(String(ordinal));
    const lineBytes = prefix.byteLength + DIGITS_IN_BLOCK + this.#end.length;
    const block = this.#block;
    const { byteLength } = block;
    if (ordinal > 0n && byteLength === Number(NUMBERS_OF_BLOCK) * lineBytes) {
      for (const [column, digit] of prefix.entries()) {
        if (block[column] === digit) continue;
        for (let at = column; at < byteLength; at += lineBytes) block[at] = digit;
      }
    } else {
      const first = ordinal * NUMBERS_OF_BLOCK;
      const lines = Array.from({ length: Number(NUMBERS_OF_BLOCK) }, (_, i) => `${first + BigInt(i)}${this.#end}`);
      this.#block = Buffer.from(lines.join(''));
    }
    this.#ordinal = ordinal;
    this.#blockStart = start;
  }

  #positionOf(number: bigint): number {
    return Number(bytesBelow(number) - bytesBelow(this.#low));
  }
}
