/**
 * The contract of a format of rows. Files of such a format hold records that lie together as columns, datasets or rows of
 * one size, and an output has the format of the inputs. To all others a row is opaque bytes. `registry.ts` lists the
 * formats: what is known of one before it is loaded stands there, all else here.
 *
 * What ends with `Spec` is plain data. It crosses threads and is sealed with the job, and only its format reads it.
 */

import type { JobControl } from '../../floor/job-control.js';
import type { FileVersion } from '../../io/files.js';
import type { RegularInput } from '../../places/inputs/input-source.js';
import type { DecoderMemory } from '../codec.js';
import type { MemberWriter } from '../encoded-members.js';
import type { RecordSource } from '../record-source.js';
import type { StoredEnds } from '../stored-ends.js';
import type { SpillPlace } from './finished-pages.js';

export interface RowFormat {
  /** Replaces `compress`, in a message that refuses it. */
  readonly insteadOfCompress: string;
  /** True if an output must be a file: its beginning tells of its end. */
  readonly needsFile: boolean;
  /** True if row i of a file may have mates: record i of other files. */
  readonly hasMates: boolean;

  /** Reads the structure of all files. Fails if a file is damaged, or its rows differ from those of the first one. */
  open(files: readonly RowsFile[], request: RowsRequest): Promise<OpenedRows>;
  /** Tells where a file may be cut, from first to last. */
  cut(file: RowsFile, facts: RowFacts, rows: RowsSpec, cuts: CutTaker): Promise<void>;
  /** Finds a column by the keys that lead to it. Fails if rows have none that fits. */
  seek(rows: RowsSpec, path: string, sought: SoughtColumn): RowValueSpec;
  /** Chooses rows that hold little else than a value. Absent: rows have no values. */
  choiceOf?(value: RowValueSpec): RowChoice;

  /** Returns what a thread needs to make units, at the most. */
  writerBytes(output: RowsOutput): number;
  /** Returns log2 of the entries of the tables with which a long page is compressed. Absent: such tables are small. */
  tableLogs?(output: RowsOutput): readonly number[];
  unitOf(output: RowsOutput): UnitSize;
  /** @param onWarning gets lines about files that are being completed. */
  endsOf(output: RowsOutput, onWarning: (line: string) => void): StoredEnds;
  /** Returns what the rows of a file take when they are written, perhaps guessed. Absent: as much as their records. */
  expectStored?(facts: RowFacts, write: WrittenRowsSpec): { readonly byteLength: number; readonly isGuess: boolean };
  /** Returns words for a report. Absent: there are none. */
  compressionOf?(write: WrittenRowsSpec): string | undefined;

  /** Begins the work of a thread on a job. */
  openThread(control: JobControl): Promise<RowThread>;
}

/** A file as it was when it was listed. */
export interface RowsFile {
  readonly path: string;
  readonly version: FileVersion;
}

/** The facts of the rows of a file, as far as they are read. A format adds its own. */
export interface RowFacts {
  readonly format: string;
  readonly rows: number;
  /** The bytes that they take as records, about. */
  readonly rowBytes: number;
  /** The part of `rowBytes` that is a guess: it may be half as much, or three times. */
  readonly unsureBytes: number;
  readonly storedBytes: number;
  /** The most bytes that a thread needs to decode them. */
  readonly readerBytes: number;
  readonly isExact: boolean;
  readonly mayBeCut: boolean;
}

/** The options of a format, by their names. */
export type RowChoice = Readonly<Record<string, unknown>>;

/** How a caller wants the rows of inputs opened. */
export interface RowsRequest {
  readonly choice: RowChoice;
  readonly signal: AbortSignal | undefined;
  readonly onWarning: (line: string) => void;
  /** True if rows are written, too. */
  readonly writes: boolean;
}

/** The rows that all inputs have. */
export interface RowsSpec {
  readonly format: string;
}

/** How rows are written. */
export interface WrittenRowsSpec {
  readonly format: string;
}

export interface RowsOutput {
  readonly rows: RowsSpec;
  readonly write: WrittenRowsSpec;
}

export interface OpenedRows {
  /** The facts of each file. */
  readonly facts: readonly RowFacts[];
  readonly rows: RowsSpec;
  /** Decides how the rows are written. Only rows that were opened to be written are. */
  complete(choice: RowChoice): Promise<WrittenRowsSpec>;
}

/** Gets the rows at which a file may be cut. */
export interface CutTaker {
  /** Returns whether so many bytes of rows should be cut. */
  isWorthCutting(rowBytes: number): boolean;
  /** @param cut a row, and what lies before it: stored bytes, and bytes of rows. */
  add(cut: { readonly start: number; readonly storedStart: number; readonly decodedStart: number }): void;
}

export interface SoughtColumn {
  /** The text of the caller. */
  readonly text: string;
  /** The names on the path; none: the only column, of numbers. Undefined: it is not a path of names. */
  readonly keys: readonly string[] | undefined;
  /** The form in which its values are taken: as they are, or as numbers or their texts. */
  readonly as: 'value' | 'number';
}

/** A value of a row: a single column. */
export interface RowValueSpec {
  readonly format: string;
}

/** Finds a value in the row that begins at an address: a number in decimal, or text, of which each character is a byte. */
export type RowValueFinder = (
  memory: Buffer,
  start: number,
) => { readonly text: string; readonly encoding: 'latin1'; readonly isNumber: boolean } | undefined;

/** Rows that are written together. They have at most so many bytes on average and so many rows, or exactly so many rows. */
export type UnitSize =
  | { readonly bytes: number; readonly records: number | undefined }
  | { readonly exactly: number; readonly rowBytes: number };

/** The work of a thread: it reads parts of inputs, or makes units of an output. */
export interface RowThread {
  /** @param use gets the rows, which are closed afterwards. */
  openPart<T>(
    part: RowsPart,
    rows: RowsSpec,
    context: RowsContext,
    use: (source: RecordSource) => Promise<T>,
  ): Promise<T>;
  openWriter(output: RowsOutput, place: UnitMemory): MemberWriter;
}

/** Rows [start, end) of a file: all of them, or between places that `cut` gave. */
export interface RowsPart extends RowsFile {
  readonly start: number;
  readonly end: number;
}

export interface RowsContext {
  /** The file of the part. */
  readonly input: RegularInput;
  readonly control: JobControl;
  readonly decoderMemory: DecoderMemory & { readonly reservedBytes: number };
}

/** The memory in which units that are not complete wait, and the files for what does not fit. */
export interface UnitMemory {
  /** The bytes that the plan gives the thread, beside the spare memory of the job. */
  readonly allowanceBytes: number;
  readonly newSpillPlace: () => SpillPlace;
}
