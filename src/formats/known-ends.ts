/** The framing of records whose ends are known: nothing looks for delimiters, since a record may hold them. */
import { type Framing, type FramingKernel, NO_BYTES, type RecordScanner } from './framing.js';

export class KnownEnds {
  #ends: ArrayLike<number> = [];
  #marked = 0;

  /**
   * The next bytes are records with these ends, of which the first begins at 0. All records before have been marked. Who
   * knows the ends of all bytes calls it once.
   */
  follow(ends: ArrayLike<number>): void {
    this.#ends = ends;
    this.#marked = 0;
  }

  framing(delimiter: Uint8Array = NO_BYTES): Framing {
    return { delimiter, openScanner: (kernel) => this.#scanner(kernel) };
  }

  get #nextBytes(): number | undefined {
    const end = this.#ends[this.#marked];
    return end === undefined ? undefined : end - (this.#ends[this.#marked - 1] ?? 0);
  }

  #scanner(kernel: FramingKernel): RecordScanner {
    const known = this;
    return {
      needsWholeRecords: true,
      get recordBytes() {
        return known.#nextBytes;
      },
      scan: (_, to, recordStart, table, maxCount) => {
        const { view } = kernel;
        const ends = known.#ends;
        const first = known.#marked;
        // All records of a table pass here: the loop has no other calls.
        const base = recordStart - (first === 0 ? 0 : (ends[first - 1] ?? 0));
        const most = Math.min(maxCount, ends.length - first);
        let start = recordStart;
        let count = 0;
        for (; count < most; count++) {
          const end = base + (ends[first + count] ?? 0);
          if (end > to) break;
          view.setUint32(table + 8 * count, start, true);
          view.setUint32(table + 8 * count + 4, end, true);
          start = end;
        }
        known.#marked = first + count;
        return count;
      },
      complete: () => {
        throw new RangeError('records whose ends are known end with their bytes');
      },
    };
  }
}
