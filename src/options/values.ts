/** The values of options that are objects. */

/** The header of every input, the same in all of them. The output, or each shard, begins with it once. */
export type HeaderKind =
  /** This many lines, 1 to 1,048,576, with the delimiter of the records. With CSV: this many rows. */
  | { readonly lines: number }
  /** The leading lines that begin with this text of 1 to 1024 bytes: `#` for VCF, `@` for SAM. */
  | { readonly prefix: string }
  /** This many bytes, 1 to 16 MiB. */
  | { readonly bytes: number };

export interface InputWeight {
  /**
   * A path, or a glob pattern. As in .gitignore: a pattern with a slash is compared with the paths of inputs, as given
   * or found; a pattern without a slash is compared with each name in these paths. A directory stands for all files
   * below it.
   */
  readonly glob: string;
  /** A decimal number from 0 to 1,000,000, taken as it is written. */
  readonly factor: number | string;
}

/**
 * Groups of inputs, with weights or with shares of the output; examples/mix.schema.json describes the same. For shares,
 * the inputs are read twice: they are counted first.
 */
export interface Mix {
  /** The groups. If the `inputs` of several name an input, the last one has it. */
  readonly groups: readonly MixGroup[];
  /** The unit of the shares: `records`, `bytes`, or the sum of a field of JSON records, as in `.n_tokens`. */
  readonly unit?: string | undefined;
  /** About how much the output has, in the unit. Default: as many as the shares and `max_epochs` allow. */
  readonly total?: number | undefined;
  /** How often each record of a group comes, at most. Default 1. */
  readonly max_epochs?: number | string | undefined;
}

/** A group has a weight or a share, as all groups of its mix. */
export interface MixGroup {
  readonly name: string;
  /** Paths or glob patterns, as in `InputWeight`. */
  readonly inputs: string | readonly string[];
  /** The weight, as the factor of an `InputWeight`. */
  readonly weight?: number | string | undefined;
  /** The share in relation to those of the other groups, more than 0. */
  readonly share?: number | string | undefined;
  /** The limit of this group, instead of the `max_epochs` of the mix. */
  readonly max_epochs?: number | string | undefined;
}

/**
 * How the output is compressed: as a sequence of gzip members or zstd frames of a few MiB. Levels are 1 to 9 for gzip
 * (default 6) and 1 to 22 for zstd (default 3).
 */
export type OutputCompression = 'none' | { readonly codec: 'gzip' | 'zstd'; readonly level?: number | undefined };

/** How the pages of Parquet outputs are compressed. Levels are those of the codec; snappy and lz4 have none. */
export type ParquetCompression =
  | 'none'
  | { readonly codec: 'snappy' | 'gzip' | 'brotli' | 'zstd' | 'lz4'; readonly level?: number | undefined };

/** Another number of shards for each split, by its name. A split without a number has one shard. */
export interface SplitShards {
  readonly by: 'count';
  readonly shardCount: Readonly<Record<string, number>>;
}
