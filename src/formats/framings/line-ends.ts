/**
 * The line end that the last record of an input may lack is that of the record before it; for the only record, that of
 * the line before its last one, else a newline.
 */
import { type FramingKernel, NOTHING } from '../framing.js';

/** Bytes before a record start, besides the newline itself, that tell how the record before it ends. */
export const CONTEXT_BYTES = 1;

const NEWLINE = Uint8Array.of(0x0a);
const CRLF = Uint8Array.of(0x0d, 0x0a);

export class LineEnds {
  readonly #kernel: FramingKernel;
  #last: Uint8Array | undefined;

  constructor(kernel: FramingKernel) {
    this.#kernel = kernel;
  }

  /** Looks at the last of the `count` records that a scan marked, and returns `count`. */
  note(table: number, count: number): number {
    if (count === 0) return count;
    const { view, bytes } = this.#kernel;
    const last = table + 8 * (count - 1);
    this.#last = endOf(bytes.subarray(view.getUint32(last, true), view.getUint32(last + 4, true)));
    return count;
  }

  missing(recordStart: number, to: number): Uint8Array {
    return missingLineEnd(this.#kernel.bytes.subarray(recordStart, to), this.#last);
  }
}

/**
 * The line end that a text lacks. After a carriage return that is only the newline.
 * @param before the line end of the text before this one; undefined: the line before the last one gives it.
 */
export function missingLineEnd(text: Uint8Array, before?: Uint8Array): Uint8Array {
  const last = text.at(-1);
  if (last === 0x0a) return NOTHING;
  if (last === 0x0d) return NEWLINE;
  return before ?? endOf(text.subarray(0, text.lastIndexOf(0x0a) + 1));
}

/** @param lines end in a newline, or are empty. */
function endOf(lines: Uint8Array): Uint8Array {
  return lines.at(-2) === 0x0d ? CRLF : NEWLINE;
}
