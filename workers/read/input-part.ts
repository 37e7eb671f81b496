/**
 * What a task of pass 1 is told to read of one input, and what it reports to have read.
 */
import type { FoundHeader } from '../../src/formats/header.js';
import type { FileVersion } from '../../src/io/files.js';
import type { GateNumber } from '../../src/job-control.js';
import type { MemberRange } from '../../src/plan/slices.js';

/** What to read of one input. */
export type InputPart = {
  readonly inputOrdinal: number;
  readonly path: string;
  /** First word of the generator for all records of this input. */
  readonly inputKey: bigint;
} & (
  | {
      readonly kind: 'range';
      /** Bytes of the input before its first record; `start` is not before them. */
      readonly headerBytes: number;
      readonly start: number;
      readonly end: number;
      /** How often the byte that the framing counts occurs before the place where its reader begins. */
      readonly countBefore: number;
      readonly version: FileVersion;
      readonly gate: GateNumber;
    }
  | {
      readonly kind: 'compressed';
      /** Decoded bytes of the input before its first record. */
      readonly headerBytes: number;
      readonly codec: string;
      readonly version: FileVersion;
      readonly gate: GateNumber;
    }
  | {
      readonly kind: 'members';
      readonly codec: string;
      /** Decoded bytes of the input before its first record; `start` is not before them. */
      readonly headerBytes: number;
      /** Records that begin in decoded bytes [start, end). */
      readonly start: number;
      readonly end: number;
      readonly members: MemberRange;
      readonly version: FileVersion;
      readonly gate: GateNumber;
    }
  | {
      readonly kind: 'stream';
      /** The header that it must have, where one is known. */
      readonly firstHeader: FoundHeader | undefined;
    }
);

/** Decoded bytes [start, end) of an input that were scattered as records; empty: start equals end. */
export interface Coverage {
  readonly inputOrdinal: number;
  readonly start: number;
  readonly end: number;
  /** Size of the decoded input, where this part is the one that met its end. */
  readonly inputBytes: number | undefined;
  /** Bytes scattered that were not read: the terminator that a last record lacked. */
  readonly addedBytes: number;
  /** Bytes at the end of the input that belong to no record. */
  readonly trailerBytes: number;
}
