/**
 * What a job is. The spec decides the bytes of the output, and nothing else does. It is made once, from checked options, and
 * completed when the headers of the inputs are read. It is plain data: the manifest of a job and the plan of tasks hold it,
 * and a later attempt with another spec is another job. A function takes the part that it needs.
 */
import type { DecompressProgram } from './formats/codec-table.js';
import type { Compression } from './formats/encoder-table.js';
import type { RecordFormat } from './formats/record-format.js';
import type { NumberField, ValueRule } from './formats/selector.js';
import type { KeyRule } from './keys.js';
import type { ShardRule } from './plan/shard-cuts.js';
import type { SplitRule } from './plan/splits.js';
import type { ShareGroup, ShareMix, Weight } from './plan/weights.js';

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
  /** Undefined: the first bytes of each input tell its codec. Empty: no input is decoded. */
  readonly decompressProgram: DecompressProgram;
  readonly igzip: boolean;
  readonly maxRecordBytes: number;
}

/** Where the keys of records come from. */
export interface KeySpec {
  readonly seed: string;
  readonly from: KeyRule;
}

export interface HeadSpec {
  /** Undefined: all records. */
  readonly headCount: number | undefined;
}

/** Which records the output gets, and how often. */
export interface KeepSpec extends HeadSpec {
  /** Whether records are drawn with replacement. */
  readonly repeat: boolean;
  /** Undefined: equal records stay. */
  readonly unique: UniqueSpec | undefined;
  readonly mix: MixSpec;
}

/** One of equal records is kept. */
export interface UniqueSpec {
  /** The value that tells which records are equal; undefined: all bytes do. */
  readonly by: ValueRule | undefined;
}

/** Inputs that have a weight or a share together. */
export interface InputGroup {
  readonly name: string;
  readonly globs: readonly string[];
}

export interface MixSpec {
  /** Empty: each record comes once, or `shares` say how often. */
  readonly weights: readonly (InputGroup & { readonly weight: Weight })[];
  readonly shares: ShareSpec | undefined;
  /** The option that the caller gave, in backquotes. */
  readonly option: '`weights`' | '`mix`';
  /** All of it in words, to compare it when a job is resumed. */
  readonly words: readonly string[];
}

export interface ShareSpec extends ShareMix {
  readonly groups: readonly (ShareGroup & InputGroup)[];
  /** The field whose sum is the unit; undefined if the unit is records or bytes. */
  readonly field: NumberField | undefined;
}

export interface ShardSpec {
  /** Undefined: one output. With splits: how each is cut, or the number of all shards together. */
  readonly shards: ShardRule | undefined;
  readonly shardPrefix: string;
  readonly splits: readonly SplitSpec[] | undefined;
}

export interface SplitSpec {
  readonly rule: SplitRule;
  readonly shards: ShardRule;
}

/** How the order is cut into files. */
export interface CutSpec extends ShardSpec {
  /** The value that chooses the split of a record. Undefined: none does. */
  readonly splitBy: SplitValueRule | undefined;
}

export interface SplitValueRule extends ValueRule {
  /** Keys at which all splits but the first begin. */
  readonly bounds: BigUint64Array;
}

export interface WriteSpec {
  /** Undefined: the output is not compressed. */
  readonly compression: Compression | undefined;
}
