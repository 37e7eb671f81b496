/**
 * The contract of a framing: how records lie in the decoded bytes of an input. A framing marks record boundaries in the
 * read window; later code never looks at the bytes of records, and carries everything between two boundaries unchanged.
 */
import type * as assembly from '#workers/kernel/assembly.js';

/**
 * The exports of the kernel, `workers/kernel/assembly/index.ts`, as its compiler declares them; `scan*.ts` there have the
 * loops that a framing may call. Addresses are u32 but arrive signed, and a `boolean` that the kernel returns is 0 or 1.
 */
export type KernelFunctions = typeof assembly;

/**
 * The memory and the functions that a framing works with. Addresses are those of the linear memory. All may change
 * between two scans, so a scanner holds none of them.
 */
export interface FramingKernel {
  readonly bytes: Uint8Array;
  readonly view: DataView;
  readonly wasm: KernelFunctions;
}

/** A record that breaks the rules of its framing. The reader of the input adds the input's name. */
export class BadRecord extends Error {
  readonly address: number;

  /** @param problem completes "INPUT: byte N ...". */
  constructor(address: number, problem: string) {
    super(problem);
    this.name = 'BadRecord';
    this.address = address;
  }
}

/** The places where a range of an input may begin: the first boundary found from there on is the end of a record. */
export interface Cut {
  /** How far before the range its reader begins to scan, to see whether a record begins with the range. */
  readonly lookBehindBytes: number;
  /** The bytes before that place at which a scanner may look. Absent: 0. */
  readonly contextBytes?: number;
  /** The reader must know how often this byte occurs before the place where it begins to scan. Absent: none does. */
  readonly countedByte?: number;
}

/** Tells samples apart, for a framing whose readers take neighbours of one key for one sample. */
export interface SampleKeys {
  readonly alignment: number;
  /**
   * The key of the first sample in the bytes, as latin1. The bytes were scanned before, or begin an input. Undefined:
   * they hold nothing that readers see, or too little to tell.
   */
  keyOf(bytes: Uint8Array): string | undefined;
}

export interface Framing {
  /** The places where a reader may begin. Absent: it begins with the input. */
  readonly cut?: Cut | undefined;
  /** The bytes of each record: ranges begin at multiples of it. Absent: records differ. */
  readonly recordBytes?: number;
  /** A record ends after each `every`-th `byte`, counted from the first record. Absent: more decides. */
  readonly recordEnd?: { readonly byte: number; readonly every: number } | undefined;
  /** The bytes at the end of every record, which only end it. Absent: more decides where a record ends. */
  readonly delimiter?: Uint8Array;
  /** True if records are text. An input may then begin with a UTF-8 mark, which belongs to no record. Absent: no. */
  readonly isText?: boolean;
  /** True if a record is made of lines, rather than one line. Absent: no. */
  readonly isOfLines?: boolean;
  /** True if records have fields, where double quotes may stand around newlines. Absent: no. */
  readonly hasQuotedFields?: boolean;
  /** True if it finds mistakes after which all counts are wrong, and good records seem wrong. Absent: no. */
  readonly findsMistakes?: boolean;
  /** True if records have names that aligned files share: see `sumOfNames`. Absent: no. */
  readonly hasNames?: boolean;
  readonly sampleKeys?: SampleKeys;
  /**
   * About how many records end in a sample from the middle of an input, for estimates. Absent: a scanner tells, or nothing
   * does.
   */
  countSample?(sample: Uint8Array): number;
  /** @param longestBytes no record may have more. */
  openScanner(kernel: FramingKernel, longestBytes: number, at: ScanStart): RecordScanner;
}

/**
 * The place where a scanner begins: at the first record of an input; in the middle, after so many of the byte that its
 * `Cut` counts; or at a sample from anywhere, which cannot be checked.
 */
type ScanStart = 'beginning' | number | 'sample';

export interface RecordScanner {
  /** True if it finds the end of a record only when the whole record is in the window. */
  readonly needsWholeRecords: boolean;
  /** The bytes of the next record, where they are known before all of it has come. */
  readonly recordBytes?: number | undefined;
  /** Bytes after a record that it may need to know that the record ends there. Absent: 0. */
  readonly lookAheadBytes?: number;
  /** True if all bytes after the last marked record belong to no record. Absent: no. */
  readonly isInTrailer?: boolean;
  /**
   * Finds the ends of records in [from, to), the first of which begins at `recordStart`, and writes up to `maxCount`
   * (start, end) pairs of u32 addresses to `table`. Reads up to 63 bytes past `to`. The next call continues at `to`, or
   * after the last marked record when there were `maxCount`; in between all bytes may move, by as much as
   * `recordStart`.
   * @returns pairs written; fewer than `maxCount`: [from, to) is scanned to its end.
   * @throws BadRecord
   */
  scan(from: number, to: number, recordStart: number, table: number, maxCount: number): number;
  /**
   * Completes a record where the input ends at `to`, and [recordStart, to) is not empty and not a record yet.
   * @returns the bytes that the caller appends to make one record of it.
   * @throws BadRecord when the input cannot end here.
   */
  complete(recordStart: number, to: number): Uint8Array;
}

export const NO_BYTES = new Uint8Array();
export const NEWLINE = Uint8Array.of(0x0a);

/** Returns what ends the lines of records, and those of a header before them. Undefined: such records have no lines. */
export function lineEndOf({ isOfLines, delimiter }: Framing): Uint8Array | undefined {
  return isOfLines === true ? NEWLINE : delimiter;
}

/**
 * Returns where the reader of the range that begins at `start` begins to scan; never in the header, which may hold
 * bytes that look like the end of a record.
 */
export function readerStart({ cut }: Framing, start: number, headerBytes: number): number {
  return cut === undefined ? start : Math.max(headerBytes, start - cut.lookBehindBytes);
}

export function contextBytesAt({ cut }: Framing, scanStart: number, headerBytes: number): number {
  return Math.min(cut?.contextBytes ?? 0, scanStart - headerBytes);
}

/**
 * The first place where a range may begin so that its reader begins at `position` or later; undefined: unknown.
 * @param position not in the header.
 */
export function rangeStart(
  { cut, recordBytes = 1 }: Framing,
  position: number,
  headerBytes: number,
): number | undefined {
  if (cut === undefined || cut.countedByte !== undefined) return undefined;
  const { lookBehindBytes, contextBytes = 0 } = cut;
  return headerBytes + Math.ceil((position + contextBytes + lookBehindBytes - headerBytes) / recordBytes) * recordBytes;
}
