/**
 * The spec of a job. It decides the bytes of the output, and nothing else does. It is made once, from checked options,
 * and completed when the headers of the inputs are read. It is plain data: the manifest of a job and the plan of tasks
 * hold it, and a later attempt with another spec is another job. A function takes the part that it needs.
 */

import type { KeyRule } from './floor/keys.js';
import type { DecompressProgram } from './formats/codec-table.js';
import type { Compression } from './formats/encoder-table.js';
import type { RecordFormat } from './formats/record-format.js';
import type { RowChoice, RowsSpec, WrittenRowsSpec } from './formats/rows/row-format.js';
import type { HeadSpec } from './keep/head.js';
import type { KeepSpec } from './keep/keep-spec.js';
import type { CutSpec, ShardSpec } from './keep/splits.js';

export interface ShuffleSpec extends OutputSpec {
  readonly read: ReadSpec;
  readonly key: KeySpec;
  readonly keep: KeepSpec;
  readonly cut: CutSpec;
}

/** The parts of a job whose records are there: those of a store. */
export interface OutputSpec {
  readonly keep: HeadSpec;
  readonly cut: ShardSpec;
  readonly write: WriteSpec;
}

/** How records are read from inputs. */
export interface ReadSpec extends RecordFormat {
  /**
   * The program that decodes inputs. Undefined: the first bytes of each input tell its codec. Empty: no input is
   * decoded.
   */
  readonly decompressProgram: DecompressProgram;
  readonly igzip: boolean;
  readonly maxRecordBytes: number;
  /** The choice of the caller, if the inputs hold rows. Absent: none. */
  readonly rowChoice?: RowChoice | undefined;
  /** The rows that all inputs have. Absent: the inputs hold records, or their rows are not read yet. */
  readonly rows?: RowsSpec | undefined;
}

/** The source of the keys of records. */
export interface KeySpec {
  readonly seed: string;
  readonly from: KeyRule;
}

export interface WriteSpec {
  /** The compression of the output. Undefined: the output is not compressed. */
  readonly compression: Compression | undefined;
  /** The choice of the caller, if the inputs hold rows. Absent: none. */
  readonly rowChoice?: RowChoice | undefined;
  /** How rows are written. Absent: the output has records, one after the other, or the inputs are not read yet. */
  readonly rows?: WrittenRowsSpec | undefined;
  /** The words about the job in the dataset card, such as its command. Absent: the shards have no card. */
  readonly card?: string | undefined;
  /** True if the SHA-256 of the outputs lie beside them. */
  readonly sums?: boolean | undefined;
}

/** Returns whether nobody knows how many bytes the output has before it is written. */
export function isEncoded({ compression, rows }: WriteSpec): boolean {
  return compression !== undefined || rows !== undefined;
}
