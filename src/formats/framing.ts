/**
 * Framings: how records lie in the decoded bytes of an input. A framing marks record boundaries in
 * the read window; what scatters the records never looks at their bytes.
 *
 * To add one: a spec (plain data, it crosses threads) and a case in `framingOf`.
 */

/** The kernel loops that a framing may call; addresses are those of the kernel's memory. */
export interface BoundaryScanner {
  scanDelimiter(
    from: number,
    to: number,
    recordStart: number,
    delimiter: number,
    table: number,
    maxCount: number,
  ): number;
}

/** Records that end in one byte, which belongs to them. */
export interface FramingSpec {
  readonly kind: 'delimited';
  readonly delimiter: number;
}

export const LINES: FramingSpec = { kind: 'delimited', delimiter: 0x0a };
export const NUL_TERMINATED: FramingSpec = { kind: 'delimited', delimiter: 0x00 };

export interface Framing {
  /**
   * Whether a split may begin in the middle of an input: `anywhere` (the first boundary after any
   * byte is a true one) or `never`.
   */
  readonly cut: 'anywhere' | 'never';
  /** What a last record gets when the input ends without it. */
  readonly terminator: number;
  /**
   * Finds the ends of records in [from, to), the first of which begins at `recordStart`, and writes
   * up to `maxCount` (start, end) pairs of u32 addresses to `table`. Reads up to 63 bytes past `to`.
   * @returns pairs written; fewer than `maxCount` means that all of [from, to) was looked at.
   */
  scan(
    scanner: BoundaryScanner,
    from: number,
    to: number,
    recordStart: number,
    table: number,
    maxCount: number,
  ): number;
}

export function framingOf(spec: FramingSpec): Framing {
  const { delimiter } = spec;
  return {
    cut: 'anywhere',
    terminator: delimiter,
    scan: (scanner, from, to, recordStart, table, maxCount) =>
      scanner.scanDelimiter(from, to, recordStart, delimiter, table, maxCount),
  };
}
