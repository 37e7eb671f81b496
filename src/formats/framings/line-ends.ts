/**
 * The line end that the last record of an input may lack: that of the record before it. Of the first record of an input,
 * that of the line before it in the record; else a newline.
 */
import { type FramingKernel, NOTHING } from '../framing.js';

/** So many bytes before a place tell how the record before it ends, beside the newline itself. */
export const CONTEXT_BYTES = 1;

const NEWLINE = Uint8Array.of(0x0a);
const CRLF = Uint8Array.of(0x0d, 0x0a);

export class LineEnds {
  readonly #kernel: FramingKernel;
  /** Of the last record that was marked. */
  #last: Uint8Array | undefined;

  constructor(kernel: FramingKernel) {
    this.#kernel = kernel;
  }

  /** Looks at the last of the `count` records that a scan marked. @returns their number. */
  note(table: number, count: number): number {
    if (count === 0) return count;
    const { view, bytes } = this.#kernel;
    const last = table + 8 * (count - 1);
    this.#last = endOf(bytes.subarray(view.getUint32(last, true), view.getUint32(last + 4, true)));
    return count;
  }

  /** What the last line of [recordStart, to) lacks. */
  missing(recordStart: number, to: number): Uint8Array {
    return missingLineEnd(this.#kernel.bytes.subarray(recordStart, to), this.#last);
  }
}

/**
 * What the last line of a text lacks. A carriage return at its end lacks only the newline.
 * @param before the end of what comes before the text; undefined: of the line before the last one.
 */
export function missingLineEnd(text: Uint8Array, before?: Uint8Array): Uint8Array {
  const last = text.at(-1);
  if (last === 0x0a) return NOTHING;
  if (last === 0x0d) return NEWLINE;
  return before ?? endOf(text.subarray(0, text.lastIndexOf(0x0a) + 1));
}

/** @param lines end in a newline, or are none. */
function endOf(lines: Uint8Array): Uint8Array {
  return lines.at(-2) === 0x0d ? CRLF : NEWLINE;
}
