/**
 * The contract of a framing: how records lie in the decoded bytes of an input. A framing marks record
 * boundaries in the read window; what scatters the records never looks at their bytes, and whatever lies
 * between two boundaries is carried byte for byte. `framing-table.ts` lists the framings.
 */

/** Where a kernel loop looks, and where it writes the records that it finds: see `RecordScanner.scan`. */
type Region = [from: number, to: number, recordStart: number];
type Table = [table: number, maxCount: number];

/** The kernel loops that a framing may call, as `workers/kernel/assembly/scan*.ts` describe them. */
export interface FramingFunctions {
  scanDelimiter(...call: [...Region, delimiter: number, ...Table]): number;
  /** Address of 1 KiB for the bytes that `scanSequence` looks for. */
  sequenceAddress(): number;
  scanSequence(...call: [...Region, sequenceBytes: number, ...Table]): number;
  scanLineGroups(...call: [...Region, linesPerRecord: number, linesBefore: number, ...Table]): number;
  /** Lines of the record that `scanLineGroups` left incomplete. */
  linesPending(): number;
  scanQuoted(...call: [...Region, isQuoted: number, ...Table]): number;
  /** Whether the place where `scanQuoted` stopped is inside quotes: 0 or 1. */
  quotePending(): number;
  scanParagraphs(...call: [...Region, lineStart: number, seen: number, ...Table]): number;
  /** Where the line begins in which `scanParagraphs` stopped, and what it had seen of the record. */
  paragraphLineStart(): number;
  paragraphSeen(): number;
  scanFixed(recordStart: number, to: number, recordBytes: number, ...table: Table): number;
  scanLengthPrefixed(recordStart: number, to: number, prefix: number, longest: bigint, ...table: Table): number;
  scanTfrecords(recordStart: number, to: number, longest: bigint, ...table: Table): number;
  /** The number of the defect of the record behind the last one that was marked; 0: none. */
  framingProblem(): number;
  /** A number that belongs to the defect. */
  framingProblemValue(): bigint;
}

/** What a framing works on; addresses are those of the linear memory. */
export interface FramingKernel {
  /** The linear memory, as bytes and as numbers; replaced when it grows. */
  readonly bytes: Uint8Array;
  readonly view: DataView;
  readonly wasm: FramingFunctions;
}

/** A byte pattern in which a record is not as its framing demands. `PartScatterer` says in which input. */
export class BadRecord extends Error {
  /** Of the offending byte. */
  readonly address: number;

  /** @param problem completes "INPUT: byte N ...". */
  constructor(address: number, problem: string) {
    super(problem);
    this.name = 'BadRecord';
    this.address = address;
  }
}

/**
 * Where a range of an input may begin. `lookBehindBytes`: how far before the range its reader begins, so that it
 * sees whether a record begins with the range.
 */
export type Cut =
  | { readonly kind: 'never' }
  /** The first boundary behind any byte is a true one. */
  | { readonly kind: 'anywhere'; readonly lookBehindBytes: number }
  /** It is when one knows how often a byte occurs before the place where the reader begins. */
  | { readonly kind: 'after-counting'; readonly byte: number; readonly lookBehindBytes: number }
  /** Records begin at multiples of this. */
  | { readonly kind: 'every'; readonly byteLength: number };

export interface Framing {
  readonly cut: Cut;
  /**
   * About how many records end in a sample from anywhere in the bytes, for estimates; undefined: it cannot be told.
   */
  countSample(sample: Uint8Array): number | undefined;
  /** @param countBefore see `Cut`; 0 at the beginning of an input. */
  openScanner(kernel: FramingKernel, limits: RecordLimits, countBefore: number): RecordScanner;
}

export interface RecordLimits {
  readonly maxRecordBytes: number;
}

/** Looks through one part of an input, from its first byte to its last. */
export interface RecordScanner {
  /** Whether it finds the end of a record only when all of the record is there. */
  readonly needsWholeRecords: boolean;
  /** How many bytes behind a record it may have to see to know that the record ends there; absent: none. */
  readonly lookAheadBytes?: number;
  /** Whether the bytes behind the last record that was marked, and all that follow, belong to none; absent: no. */
  readonly isInTrailer?: boolean;
  /**
   * Finds the ends of records in [from, to), the first of which begins at `recordStart`, and writes up to
   * `maxCount` (start, end) pairs of u32 addresses to `table`. Reads up to 63 bytes past `to`. The next call goes
   * on at `to`, or behind the last record that was marked when there were `maxCount`; bytes may have moved
   * meanwhile, all by as much as `recordStart`.
   * @returns pairs written; fewer than `maxCount` means that all of [from, to) was looked at.
   * @throws BadRecord
   */
  scan(from: number, to: number, recordStart: number, table: number, maxCount: number): number;
  /**
   * The input ends at `to`, and [recordStart, to) is not empty and no record yet.
   * @returns what is appended so that all of it is one record: bytes that the input lacks.
   * @throws BadRecord when the input cannot end here.
   */
  complete(recordStart: number, to: number): Uint8Array;
}

export const NOTHING = new Uint8Array();

/**
 * Where the reader of a range begins that begins at `start`; never in the header, in which there may be what looks
 * like the end of a record.
 */
export function readerStart({ cut }: Framing, start: number, headerBytes: number): number {
  return 'lookBehindBytes' in cut ? Math.max(headerBytes, start - cut.lookBehindBytes) : start;
}

/**
 * The first place at which a range may begin so that its reader begins at `position`, which is no record's, or
 * behind it; undefined where that cannot be told.
 * @param position not in the header.
 */
export function rangeStart({ cut }: Framing, position: number, headerBytes: number): number | undefined {
  if (cut.kind === 'anywhere') return position + cut.lookBehindBytes;
  if (cut.kind === 'every') {
    return headerBytes + Math.ceil((position - headerBytes) / cut.byteLength) * cut.byteLength;
  }
  return undefined;
}
