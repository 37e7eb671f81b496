/** The options of the calls that shuffle or read files: of the library, by their names, and of the command, by their flags. */

import type { KeyRule } from '../floor/keys.js';
import { nameOfCompression } from '../formats/encoder-table.js';
import { RECORD_FLAGS, type RecordKind } from '../formats/framing-table.js';
import { nameOfFormat } from '../formats/record-format.js';
import type { ValueRule } from '../formats/selector.js';
import type { SplitRule } from '../keep/splits.js';
import type { ShardRule } from '../plan/shard-cuts.js';
import type { NamedInput } from '../sources/expand-names.js';
import type { InputIdRule } from '../sources/ids.js';
import type { ShuffleSpec } from '../spec.js';
import { oneOfWords, path, paths, trueOrFalse, whole } from '../values/known-options.js';
import {
  oneWordOf as oneWord,
  parseBytes,
  parseCount,
  parsePath,
  parsePaths,
  parseRecords,
} from '../values/parse-values.js';
import { type OptionsOf, omit, option, optionGroup } from './option.js';
import {
  type InputIdsChoice,
  parseCompression,
  parseDecompressProgram,
  parseHeadCount,
  parseHeader,
  parseInputIds,
  parseIoLimit,
  parseMemory,
  parseNames,
  parseParquetCompression,
  parsePrefix,
  parseShards,
  parseSplits,
  parseTempCompression,
  parseWeight,
} from './parse-options.js';
import type { ShuffleProgress } from './progress.js';
import type { JobProfile, JobReport, ReportFile } from './reports.js';
import {
  columns,
  decompressProgram,
  endpoint,
  globs,
  header,
  inputIds,
  ioLimits,
  LARGEST_MAX_RECORD_BYTES,
  MOST_WORKERS,
  missing,
  objectHeaders,
  parquetCodec,
  seedText,
  selector,
  shardPrefix,
} from './value-checks.js';
import type { HeaderKind, InputWeight, Mix, OutputCompression, ParquetCompression, SplitShards } from './values.js';

const amountOf = (rule: ShardRule | undefined, isCut: boolean) =>
  isCut || rule?.by === 'count' ? rule : rule && { by: rule.by };
const textOf = (rule: ValueRule | undefined) =>
  rule === undefined ? 'none' : { field: rule.selector.text, missing: rule.missing };

/** Returns the fields of an option that selects a value of each record. @param of the rule that a resumed job must have, too. */
const selects = (what: string, of: (spec: ShuffleSpec) => ValueRule | undefined) =>
  ({ check: selector, value: 'SELECTOR', resumes: [what, (spec: ShuffleSpec) => textOf(of(spec))] }) as const;

/**
 * Returns the refusal of what cannot be combined with an option that makes records equal. @param source what the order follows
 * from.
 */
const beside = (name: 'unique' | 'uniqueBy', source: string) =>
  [
    [
      'inputIds',
      `\`inputIds\` cannot be combined with \`${name}\`: the order then follows from ${source}, wherever they come from`,
    ],
    ['keys', `\`keys\` ordinal cannot be combined with \`${name}\`: then the order follows from ${source}`],
    [
      'weightsFrom',
      `\`weightsFrom\` cannot be combined with \`${name}\`: a kept record no longer tells its number; give \`weightBy\` a number in each record`,
    ],
  ] as const;

const NOT_RESUMED = 'a job with `repeat` cannot be resumed: leave out `resume`, `jobDir` and `keepTemp`';
/** Returns the refusal of an option that has records come more or less often than once, beside keys from ordinals. */
const besideOrdinals = (name: string) =>
  [
    name,
    `\`${name.split('.')[0]}\` cannot be combined with \`keys\` ordinal, which keeps files aligned: each record must come once`,
  ] as const;

// biome-ignore format: a table, of few lines an entry
const OUTPUT = optionGroup('Output', {
  /** A file, or a directory if `shards` is given. Default `-`, which means standard output. */
  output: option<string>({
    check: path, name: 'output', short: 'o', value: 'PATH', parse: parsePath,
    help: 'output file, or directory for shards', default: 'standard output',
  }),
  /** The output has only this many records: the first records of the order. Default: all. */
  headCount: option<number>({
    check: whole(0), resumes: ['number of records', ({ keep }) => keep.headCount ?? 'all'],
    name: 'head-count', short: 'n', value: 'COUNT', isRepeatable: true, parse: parseHeadCount,
    help: 'write only the first COUNT records of the order; of several COUNTs, the smallest', default: 'all',
  }),
});

// biome-ignore format: a table, of few lines an entry
const KEEP = optionGroup('Output', {
  /**
   * Draws each record of the output from all records, with replacement: `headCount` records. Without it,
   * the output has no end: it must be a stream, which ends when its reader leaves or `signal` fires. Default false.
   */
  repeat: option<boolean>({
    check: trueOrFalse,
    excludes: [
      ['resume', NOT_RESUMED],
      ['jobDir', NOT_RESUMED],
      ['keepTemp', NOT_RESUMED],
      ['splits', '`repeat` cannot be combined with `splits`: copies of one record would be in several of them'],
      ['records.webdataset', '`repeat` cannot be combined with samples of tar files: readers join copies that are neighbours'],
      ['records.npy', 'an output of npy has an end: give `headCount` beside `repeat`', 'headCount'],
      ['shards.maxShardBytes', '`repeat` cannot be combined with `shards.maxShardBytes`: give a number of shards, or of records in each'],
    ],
    name: 'repeat', short: 'r',
    help: 'draw COUNT records with replacement; without -n, go on until the reader leaves',
  }),
  /**
   * Keeps one of equal records. Records are equal if all of their bytes are, delimiters included. The order then
   * depends only on the seed and the different records, not on the inputs that hold them (docs/CHOOSING-RECORDS.md).
   * `headCount` and `repeat` apply to the kept records. Cannot be combined with `inputIds` or samples of tar files.
   * Default false.
   */
  unique: option<boolean>({
    check: trueOrFalse,
    excludes: [
      ['uniqueBy', '`unique` compares whole records and `uniqueBy` a value of each: give one of the two'],
      ...beside('unique', 'the content of records'),
      ['records.webdataset', '`unique` cannot be combined with samples of tar files, whose bytes tell when a file was packed: give `uniqueBy` a value of them, such as "key"'],
    ],
    resumes: ['rule for equal records', ({ keep }) => (keep.unique === undefined ? 'all are kept' : 'one is kept')],
    name: 'unique', help: 'keep one of equal records; the order then follows from the records alone',
  }),
  /**
   * Keeps the first of the records with equal values, in the order of the inputs. Selects and compares values as
   * `splitBy` does. The order depends on the seed and the values. Cannot be combined with `unique` or `inputIds`. Default:
   * none.
   */
  uniqueBy: option<string>({
    ...selects('selector of equal records', ({ keep }) => keep.unique?.by),
    excludes: beside('uniqueBy', 'the values of records'),
    name: 'unique-by',
    help: 'keep the first record of each value, in the order of the inputs; the value is .url, csv:url, tsv:3, key or /^(EXPR)/',
  }),
  /**
   * Keeps records with equal values in one split, such as all documents of one site. The text selects the value: a
   * field of a JSON object (`.metadata.site`), a column (`csv:site`, `csv:3`, `tsv:site`), the key of a sample in a tar
   * file or a part of it (`key`, `key:/^(p\d+)/`), or the first group of an expression (`/^(\w+)\t/`). Only with
   * shares. Default: each record for itself.
   */
  splitBy: option<string>({
    ...selects('selector of splits', ({ cut }) => cut.splitBy),
    needs: [['splits'], '`splitBy` chooses between splits: give `splits`'],
    excludes: [
      ['headCount', '`splitBy` cannot be combined with `headCount`: the first records belong to the first split'],
    ],
    name: 'split-by',
    help: 'keep records with equal values in one split; the value is .metadata.site, csv:site, tsv:3, key or /^(EXPR)/',
  }),
  /**
   * Writes one set of shards for each value of the records, each in uniformly random order, to directories `source=web` of a
   * new or empty directory `output`. The text selects a value, as for `splitBy`; `NAME=SELECTOR` also names the directories.
   * `shards` applies to each set. Default: none.
   */
  each: option<string>({
    check: selector,
    needs: [['output'], '`each` writes directories: name a directory with `output`'],
    excludes: [
      ['headCount', '`each` cannot be combined with `headCount`: the first records would be of any values'],
      ['repeat', '`each` cannot be combined with `repeat`: draws are made for one output'],
      ['splits', '`each` cannot be combined with `splits`: split the records of each value by a job of their own'],
      ['unique', '`each` cannot be combined with `unique`: keep one of equal records first, and divide that output'],
      ['uniqueBy', '`each` cannot be combined with `uniqueBy`: keep one of equal records first, and divide that output'],
      ['groupBy', '`each` cannot be combined with `groupBy`: a bundle may have records of several values'],
      ['records.webdataset', '`each` does not divide samples of tar files: their keys are compared in one output'],
    ],
    resumes: ['value of sections', ({ cut: { each } }) => each && { name: each.name, of: textOf(each.value) }],
    name: 'each', value: 'SELECTOR',
    help: 'write shards for each value, in directories source=web: .source, csv:source, tsv:3, /^(EXPR)/, or NAME=SELECTOR',
  }),
  /**
   * Keeps records with equal values together as a bundle, in their order in the inputs, such as the turns of a conversation.
   * The order of the bundles is random, and each shard begins with one. Selects and compares values as `splitBy` does.
   * Default: each record for itself.
   */
  groupBy: option<string>({
    ...selects('selector of bundles', ({ keep }) => keep.bundleBy),
    excludes: [
      ['unique', '`groupBy` cannot be combined with `unique`: equal records may lie in several bundles; keep one of each first, and shuffle that output'],
      ['uniqueBy', '`groupBy` cannot be combined with `uniqueBy`: the order of kept records follows from their own values; keep them first, and shuffle that output'],
      ['inputIds', '`inputIds` cannot be combined with `groupBy`: the order of bundles follows from their values, and that in a bundle from the list of inputs'],
      ['keys', '`keys` ordinal cannot be combined with `groupBy`: the order follows from the values of bundles'],
      ['headCount', '`groupBy` cannot be combined with `headCount`: the last bundle would be torn'],
      ['repeat', '`groupBy` cannot be combined with `repeat`: draws take records one by one, and would tear bundles'],
      ['shards.recordsPerShard', '`groupBy` cannot be combined with `shards.recordsPerShard`: bundles would be torn; give a number of shards, or the most bytes of one'],
    ],
    name: 'group-by',
    help: 'keep records with equal values together, in their order, and shuffle these bundles; the value is .chat, csv:chat, tsv:3, key or /^(EXPR)/',
  }),
  /**
   * The value of records in which `splitBy`, `uniqueBy`, `each`, `groupBy`, `weightBy`, `weightsFrom` or `sum` finds none; for
   * the last three a number, also in place of null. Default: an error, ERR_FIELD_MISSING.
   */
  missing: option<string>({
    check: missing,
    needs: [
      ['splitBy', 'uniqueBy', 'each', 'groupBy', 'weightBy', 'weightsFrom', 'sum'],
      '`missing` needs `splitBy`, `uniqueBy`, `each`, `groupBy`, `weightBy`, `weightsFrom` or `sum`: give one of them',
    ],
    name: 'missing', value: 'VALUE',
    help: 'the value for records in which --split-by, --unique-by, --each or --group-by finds none; for weights and --sum a number', default: 'such a record is an error',
  }),
  /**
   * A number in each record that the report adds up, exactly: for the output, its splits, and the groups of `weights` and
   * `mix`. Selects it as `splitBy` does. Numbers are 0 to less than 10^15. Default: the field that shares of `mix` count.
   */
  sum: option<string>({
    ...selects('selector of sums', ({ keep }) => keep.sum),
    excludes: [['repeat', '`sum` cannot be combined with `repeat`: draws are copied without a look at the record; add up the output']],
    name: 'sum', default: 'the field that shares of --mix count',
    help: 'add up a number in each record for the summary and the report: .n_tokens, csv:price, tsv:3 or /(EXPR)/',
  }),
});

// biome-ignore format: a table, of few lines an entry
const CUT = optionGroup('Output', {
  /**
   * Cuts the order into splits: disjoint parts of the records, such as `train` and `validation`. Each has shards of its
   * own, `NAME-00007-of-00128.EXT`, all in the directory `output`. Default: one part.
   */
  splits: option<readonly SplitRule[]>({
    excludes: [
      ['shardPrefix', 'the names of `splits` are the first parts of their shards; leave out `shardPrefix`'],
    ],
    resumes: [
      'list of splits',
      ({ cut }, isCut) => cut.splits?.map(({ rule, shards }) => ({ ...rule, shards: amountOf(shards, isCut) })) ?? 'none',
    ],
    name: 'split', value: 'PARTS', parse: parseSplits,
    help: 'write splits into one directory: train=0.98,validation=0.02, or validation=10000,train=rest',
  }),
  /** Cuts the output into several files. Default: one output, or one shard for each of `splits`. */
  shards: option<ShardRule | SplitShards>(
    { resumes: ['cut into shards', ({ cut }, isCut) => amountOf(cut.shards, isCut)] },
    {
      name: 'shards', value: 'N', part: 'shardCount', parse: parseShards,
      help: 'write N shards; their record counts differ by at most 1; for splits, train=128,test=1',
    },
    {
      name: 'shard-records', value: 'N', part: 'recordsPerShard', mayChange: true,
      parse: (text, flag) => ({ by: 'records', recordsPerShard: parseRecords(text, flag) }),
      help: 'write N records to each shard, fewer to the last one',
    },
    {
      name: 'shard-bytes', value: 'SIZE', part: 'maxShardBytes', mayChange: true,
      parse: (text, flag) => ({ by: 'bytes', maxShardBytes: parseBytes(text, flag) }),
      help: 'write equal shards of at most SIZE; no record is cut',
    },
  ),
  /**
   * How the output is compressed. Default for one output: by its name (`.gz`, `.gzip`, `.zst`, `.zstd`). Default for
   * shards: `none`. The seed fixes the decompressed bytes of the output, not the compressed bytes.
   */
  compress: option<OutputCompression>({
    resumes: ['compression', ({ write }) => write.compression && nameOfCompression(write.compression)],
    name: 'compress', value: 'CODEC', parse: parseCompression, usualWords: ['none', 'gzip', 'zstd'],
    help: 'none, gzip or zstd, with a level as in zstd:9', default: 'by the name of a single output',
  }),
  /** First part of each shard's name, without `/`. Default `shard`. */
  shardPrefix: option<string>({
    check: shardPrefix, resumes: ['prefix', ({ cut }) => cut.shardPrefix],
    name: 'prefix', value: 'NAME', parse: parsePrefix,
    help: 'name the shards NAME-00007-of-00128.EXT', default: 'shard',
  }),
  /** Replaces existing outputs. Without `resume`, also discards an unfinished job of this output. Default false. */
  force: option<boolean>({ check: trueOrFalse, name: 'force', help: 'replace existing outputs' }),
});

// biome-ignore format: a table, of few lines an entry
const CARD = optionGroup('Output', {
  /**
   * Writes a dataset card beside the shards, from which the Hugging Face Hub and `load_dataset` know their splits. A string is what the card says of the job, such as its command. Default false.
   */
  datasetCard: option<boolean | string, boolean>({
    check: (value, name) => typeof value === 'string' || trueOrFalse(value, name),
    needs: [['shards', 'splits', 'each'], '`datasetCard` describes shards: give `shards` or `splits`'],
    resumes: ['choice about a dataset card', ({ write }) => write.card !== undefined],
    name: 'dataset-card',
    help: 'write a dataset card for the Hugging Face Hub beside the shards, README.md',
  }),
  /** Writes the SHA-256 of the shards beside them, `SHA256SUMS`, or of one file, `OUT.sha256`. Default false. */
  sums: option<boolean>({
    check: trueOrFalse,
    neutral: false,
    resumes: ['choice about SHA-256', ({ write }) => write.sums === true],
    name: 'sums',
    help: 'write SHA256SUMS beside the shards, or OUT.sha256 beside one file, for sha256sum -c',
  }),
});

// biome-ignore format: a table, of few lines an entry
const ORDER = optionGroup('Order', {
  /** Any well-formed string. Default: drawn at random; the report has it. */
  seed: option<string>({
    check: seedText, resumes: ['seed', ({ key }) => key.seed], name: 'seed', value: 'STRING',
    help: 'any text; the same seed gives the same order', default: 'drawn, and printed in the summary',
  }),
  /**
   * How often the records of an input come. 2.5: each record twice, and a random half of them a third time. 0.1: a
   * random tenth. 0: not at all; only the header of the input is read. Of several globs that name an input, the last one counts.
   * Default: each record once.
   */
  weights: option<readonly InputWeight[]>({
    excludes: [['mix', '`weights` and `mix` contradict each other; give one of them']],
    resumes: ['list of weights', ({ keep }) => (keep.mix.words.length === 0 ? 'none' : keep.mix.words)],
    name: 'weight', value: 'GLOB=FACTOR', parse: parseWeight, isRepeatable: true, default: '1',
    help: 'take the records of these inputs FACTOR times: 2.5, 0.1, 0; repeat the option for other globs, general globs first',
  }),
  /**
   * A number in each record says how often it comes, times the factor of its input in `weights` or `mix`. Selects it as
   * `splitBy` does. Numbers are 0 to 1,000,000. Default: each record once.
   */
  weightBy: option<string>({
    ...selects('selector of weights', ({ keep }) => keep.weightBy?.value),
    name: 'weight-by',
    help: 'take each record as often as a number in it says, such as 2.5; the number is .score, csv:score, tsv:3 or /(EXPR)/',
  }),
  /**
   * A directory with the numbers of `weightBy` in files of their own: those of the records of the input `a/b.jsonl.gz` are, in
   * their order, in `a/b.npy`, `a/b.txt` or `a/b.parquet` below it. Default: each record once.
   */
  weightsFrom: option<string>({
    check: path,
    excludes: [
      ['weightBy', '`weightsFrom` and `weightBy` contradict each other: a record has one number; give one of them'],
      ['skipBlank', '`skipBlank` cannot be combined with `weightsFrom`: a blank record has a number, too; leave out one of them'],
    ],
    resumes: ['directory of weights', ({ keep }) => keep.weightBy?.beside ?? 'none'],
    name: 'weights-from', value: 'DIR', parse: parsePath,
    help: 'take each record as often as its number in DIR says: those of a/b.jsonl.gz are in DIR/a/b.npy, .txt or .parquet',
  }),
  /** Larger numbers of `weightBy` or `weightsFrom` count as this. A decimal number may be a string. Default: none is larger. */
  weightCap: option<number | string>({
    needs: [['weightBy', 'weightsFrom'], '`weightCap` limits the numbers of `weightBy` or `weightsFrom`: give one of them, too'],
    resumes: ['cap of weights', ({ keep }) => keep.weightBy?.cap?.text ?? 'none'],
    name: 'weight-cap', value: 'N', parse: (text) => text,
    help: 'take larger numbers of --weight-by or --weights-from for N', default: 'above 1,000,000 is an error',
  }),
  /** Weights of groups of inputs, or their shares of the output. Cannot be combined with `weights`. Default: none. */
  mix: option<Mix, string>({
    name: 'mix', value: 'FILE', parse: parsePath,
    help: 'weights of groups of inputs, or their shares of the output, in YAML or JSON (docs/CHOOSING-RECORDS.md)',
  }),
  /**
   * The rule that decides the key of a record, beside the seed and the input. `position`: the place of its first byte.
   * `ordinal`: its number in its input. With `ordinal`, files with equal numbers of records get the same order; large
   * files may be read once more, to count their records. Default `position`.
   */
  keys: option<KeyRule>({
    check: oneOfWords('position', 'ordinal'),
    neutral: 'position',
    excludes: [
      ['skipBlank', '`skipBlank` cannot be combined with `keys` ordinal, which keeps files aligned: no record may be left out'],
      ...['weights.0', 'mix', 'weightBy', 'weightsFrom'].map(besideOrdinals),
    ],
    resumes: ['kind of keys', ({ key }) => key.from],
    name: 'key', value: 'KIND', ...oneWord('position', 'ordinal'),
    help: 'position, or ordinal, which gives files with equal numbers of records one order', default: 'position',
  }),
  /**
   * The ids of the inputs; no two may be equal. The order of the records depends on the seed and these ids. `ordinal`:
   * the place in the list. `path`: the path as given or found. `name`: the last part of the path. An array: the id of
   * each, in order. With any rule but `ordinal`, the order of the inputs does not matter. Default `ordinal`.
   */
  inputIds: option<InputIdRule, InputIdsChoice>({
    check: inputIds, neutral: 'ordinal',
    name: 'input-ids', value: 'RULE', parse: parseInputIds, default: 'ordinal',
    help: 'derive the order from the ids of inputs: ordinal, path, name (last part of the path) or file:FILE (one id per line)',
  }),
});

// biome-ignore format: a table, of few lines an entry
const RECORDS = optionGroup('Records', {
  /** Records end with a NUL byte instead of a newline. Cannot be combined with `records`. Default false. */
  zeroTerminated: option<boolean>({
    check: trueOrFalse, choice: 'records', name: 'zero-terminated', short: 'z',
    help: 'records end in NUL instead of newline, in inputs and output',
  }),
  /**
   * The form of a record. Default: each line is a record, and an input that is clearly of another format is an error,
   * ERR_INPUT_FORMAT. With `{ by: 'lines' }` every input is shuffled line by line.
   */
  records: option<RecordKind>(
    { resumes: ['kind of records', ({ read }) => nameOfFormat(read)] },
    ...RECORD_FLAGS,
  ),
  /** The header of each input. Default: none, but records of `npy` and `webdataset` have headers of their own. */
  header: option<HeaderKind>(
    { check: header },
    {
      name: 'header', value: 'N', part: 'lines', parse: (text, flag) => ({ lines: parseCount(text, flag) }),
      help: 'the first N lines of each input are its header',
    },
    {
      name: 'header-prefix', value: 'TEXT', part: 'prefix', parse: (prefix) => ({ prefix }),
      help: "the leading lines that begin with TEXT are the header of each input: '#' for VCF, '@' for SAM",
    },
    {
      name: 'skip-bytes', value: 'N', part: 'bytes', parse: (text, flag) => ({ bytes: parseCount(text, flag) }),
      help: 'the first N bytes of each input are its header',
    },
  ),
  /** Longest accepted record, in bytes with its delimiter, at most 2,080,374,784. Default 1 GiB. */
  maxRecordBytes: option<number>({
    check: whole(1, LARGEST_MAX_RECORD_BYTES), mayChange: true,
    name: 'max-record', value: 'SIZE', parse: parseBytes,
    help: 'refuse longer records; SIZE is at most 1984MiB', default: '1GiB',
  }),
});

// biome-ignore format: a table, of few lines an entry
const BLANK = optionGroup('Records', {
  /** Leaves out records that are empty or white space (ASCII). The report counts them. Default false. */
  skipBlank: option<boolean>({
    check: trueOrFalse, name: 'skip-blank',
    help: 'leave out records that are empty or white space, and count them',
  }),
});

// biome-ignore format: a table, of few lines an entry
const TABLES = optionGroup('Records', {
  /**
   * The columns of Parquet files that are read: names of columns, or of groups of them, with dots: `['text',
   * 'meta.url']`. Their order does not count. Default: all.
   */
  columns: option<readonly string[]>({
    check: columns, resumes: ['list of columns', ({ read }) => read.rowChoice?.['columns'] ?? 'all'],
    name: 'columns', value: 'NAMES', parse: parseNames,
    help: 'of Parquet files, take only these columns: text,meta.url', default: 'all',
  }),
  /**
   * Adds to the rows of Parquet files the columns in the names of their directories, as in `lang=en/year=2024/`, with the
   * types that DuckDB gives them. Default false.
   */
  hive: option<boolean>({
    check: trueOrFalse, resumes: ['choice about columns in names of directories', ({ read }) => read.rowChoice?.['hive'] ?? false],
    name: 'hive',
    help: 'add to rows of Parquet files the columns in names of directories: lang=en/',
  }),
  /**
   * The datasets of HDF5 files that give rows, by their paths: `['/images/X', '/y']`. A record is row i of each.
   * Default: all datasets, which must have the same number of rows.
   */
  hdf5: option<readonly string[]>({
    check: columns, resumes: ['list of datasets', ({ read }) => read.rowChoice?.['hdf5'] ?? 'all'],
    name: 'hdf5', value: 'NAMES', parse: parseNames,
    help: 'of HDF5 files, take the rows of these datasets: /X,/y', default: 'all, of equal length',
  }),
});

// biome-ignore format: a table, of few lines an entry
const ROW_GROUPS = optionGroup('Output', {
  /**
   * How the pages of Parquet outputs are compressed. Default: as those of the first column of the first input. The seed
   * fixes the rows and their order; the codec, its level and the sizes of row groups change the bytes of the files alone.
   */
  parquetCodec: option<ParquetCompression>({
    check: parquetCodec,
    resumes: ['codec of Parquet', ({ write: { rowChoice } }) => rowChoice?.['parquetCodec'] && parquetCodec(rowChoice['parquetCodec'])],
    name: 'parquet-codec', value: 'CODEC', parse: parseParquetCompression,
    usualWords: ['none', 'snappy', 'gzip', 'brotli', 'zstd', 'lz4'],
    help: 'compress pages of Parquet outputs with none, snappy, gzip, brotli, zstd or lz4, with a level as in zstd:3',
    default: 'as in the first input',
  }),
  /** About the most bytes of rows in a row group of a Parquet output, before encoding. Default 128 MiB. */
  rowGroupBytes: option<number>({
    check: whole(1), resumes: ['size of row groups', ({ write }) => write.rowChoice?.['rowGroupBytes']],
    name: 'row-group-bytes', value: 'SIZE', parse: parseBytes,
    help: 'in Parquet outputs, row groups of about SIZE, before encoding', default: '128MiB',
  }),
  /** The most rows in a row group of a Parquet output; on average, if `shards` are by bytes. Default: any number. */
  rowGroupRows: option<number>({
    check: whole(1), resumes: ['number of rows in row groups', ({ write }) => write.rowChoice?.['rowGroupRows']],
    name: 'row-group-rows', value: 'N', parse: parseRecords,
    help: 'in Parquet outputs, row groups of at most N rows', default: 'any number',
  }),
});

// biome-ignore format: a table, of few lines an entry
const CHOICE = optionGroup('Input', {
  /**
   * Takes hidden names of directories, too: those that begin with a dot, and those that programs give to what they store
   * beside data, such as `_SUCCESS` (docs/FORMATS.md). Default false.
   */
  hidden: option<boolean>({
    check: trueOrFalse, name: 'hidden',
    help: 'take hidden files of directories, too: .NAME, _SUCCESS and others',
  }),
  /**
   * Takes those files of directories that one of these globs matches. A glob without a slash is compared with the name,
   * others with the path below the directory. Default: all files, which must be of one kind (docs/FORMATS.md).
   */
  include: option<readonly string[]>({
    check: globs, name: 'include', value: 'GLOB', parse: parsePaths, isRepeatable: true,
    help: "of directories, take only files whose names match: '*.jsonl*'; a GLOB with a slash is compared with paths below the directory: 'train/*'",
    default: 'all, if they are of one kind',
  }),
  /** Leaves out the files and directories below directories that one of these globs matches. Default: none. */
  exclude: option<readonly string[]>({
    check: globs, name: 'exclude', value: 'GLOB', parse: parsePaths, isRepeatable: true,
    help: 'of directories, leave out files and whole directories that match, compared in the same way',
  }),
});

// biome-ignore format: a table, of few lines an entry
const S3 = optionGroup('Input', {
  /** The service with the interface of S3 that `s3://` names, as `https://HOST`. Default: `AWS_ENDPOINT_URL`, else AWS. */
  endpoint: option<string>({
    check: endpoint, mayChange: true, name: 'endpoint', value: 'URL',
    help: 'the service behind s3://, as https://HOST', default: 'AWS_ENDPOINT_URL, else AWS',
  }),
  /** Pays for the requests at `s3://` addresses whose owner does not. Default: as `AWS_REQUEST_PAYER` says. */
  requesterPays: option<boolean>({
    check: trueOrFalse, mayChange: true, name: 'requester-pays', help: 'pay for the requests at s3:// addresses whose owner does not',
  }),
  /** Names nobody at `s3://` addresses, which public data allows. False: no credentials are looked for. Default true. */
  signRequests: option<boolean>({
    check: trueOrFalse, mayChange: true, name: 'no-sign-request', constant: false,
    help: 'read public data at s3:// without looking for credentials',
  }),
  /**
   * Headers of the objects that are uploaded, by their names in small letters, such as `x-amz-acl`, `x-amz-tagging`,
   * `x-amz-storage-class` and those of KMS. `x-amz-expected-bucket-owner` goes with each request. Default: none.
   */
  s3Headers: option<Readonly<Record<string, string>>>({
    check: objectHeaders, mayChange: true, name: 's3-header', value: 'NAME: VALUE', parse: parseHeader, isRepeatable: true,
    help: 'a header of uploads to s3://: storage class, encryption; x-amz-expected-bucket-owner goes with each request',
  }),
});

// biome-ignore format: a table, of few lines an entry
const DECODING = optionGroup('Input', {
  /**
   * A program and its arguments to decompress every input. pileshuf starts it without a shell, writes the input to its
   * standard input, and reads the records from its standard output. `none`: no input is decoded, whatever it begins
   * with. Default: pileshuf recognises compressed inputs by their first bytes. It decodes gzip and zstd itself, and
   * starts the programs bzip2, xz and lz4 for their formats.
   */
  decompressProgram: option<readonly string[] | 'none'>({
    check: decompressProgram, resumes: ['program to decompress', ({ read }) => read.decompressProgram],
    name: 'decompress-program', value: 'CMD', parse: parseDecompressProgram,
    help: "decode every input with CMD, such as 'xz -dc'",
  }),
  /** True if igzip, if on PATH, decodes large gzip files: in a third of the time, to the same bytes. Default true. */
  igzip: option<boolean>({
    check: trueOrFalse, name: 'without-igzip', constant: false,
    help: 'do not decode gzip with the program igzip',
  }),
});

// biome-ignore format: a table, of few lines an entry
const MACHINE = optionGroup('Machine', {
  /**
   * Bytes of memory for pile buffers, piles and sort entries. Default: half of the available memory. If the machine has
   * less memory, pileshuf warns and uses the memory of the machine.
   */
  memoryBytes: option<number>({
    check: whole(1), mayChange: true, name: 'memory', short: 'S', value: 'SIZE', parse: parseMemory,
    help: 'memory for records, also as in 50%', default: 'half of the available memory',
  }),
  /** Worker threads, 1 to 1024. Default: the number of CPUs that this process may use. */
  workers: option<number>({
    check: whole(1, MOST_WORKERS), mayChange: true, name: 'workers', value: 'N', parse: parseCount,
    help: 'worker threads', default: 'one per CPU',
  }),
  /** The most concurrent I/O calls on the device of a path, 1 to 65,536. Default: by the kind of the device. */
  ioLimits: option<Readonly<Record<string, number>>>({
    check: ioLimits, mayChange: true, name: 'io-limit', value: 'PATH=N', parse: parseIoLimit, isRepeatable: true,
    help: 'at most N large reads and writes at once on the device of PATH; repeat it for others',
  }),
});

// biome-ignore format: a table, of few lines an entry
const TEMP = optionGroup('Machine', {
  /**
   * Existing directories for temp data. Default: `jobDir` if it is given, else `$TMPDIR`, else the directory of the
   * output, or /var/tmp for a stream.
   */
  tempDirs: option<readonly string[]>({
    check: paths, name: 'temp-dir', short: 'T', value: 'DIR', parse: parsePaths, isRepeatable: true,
    help: 'directory for temp files; repeat it to use several',
    default: "$TMPDIR, else the output's directory, or /var/tmp for standard output",
  }),
  /**
   * Compresses temp data, which saves time if the temp disks are slow (docs/SCALE.md). Levels are 1 to 22, default 1.
   * The output does not depend on it. You may change it when you resume a job. Default: no compression.
   */
  tempCompress: option<{ readonly codec: 'zstd'; readonly level?: number | undefined }>({
    mayChange: true, name: 'temp-compress', value: 'CODEC', parse: parseTempCompression, usualWords: ['zstd'],
    help: 'compress temp files on slow disks: zstd, with a level as in zstd:3', default: 'not compressed',
  }),
});

// biome-ignore format: a table, of few lines an entry
const RESUME = optionGroup('Resume', {
  /**
   * Resumes the unfinished job of this output. If there is none, starts a job that can be resumed. The output must be a
   * file or a directory, and every input a file. A job that is expected to use 32 GiB of temp space or more can be
   * resumed even without this option. Default false.
   */
  resume: option<boolean>({
    check: trueOrFalse, name: 'resume',
    help: 'resume the unfinished job of this output, or start one that can be resumed',
  }),
  /**
   * Directory with everything needed to resume the job; its parent must exist. The job can then be resumed, as with
   * `resume`. Default: a name derived from the output, in the first of the temp directories.
   */
  jobDir: option<string>({
    check: path, name: 'job-dir', value: 'DIR', parse: parsePath,
    help: 'directory for everything needed to resume', default: 'named after the output, beside the temp files',
  }),
  /** Keeps the job directory and temp data after success. The output must be a file or a directory. Default false. */
  keepTemp: option<boolean>({
    check: trueOrFalse, name: 'keep-temp',
    help: 'keep the job directory and temp files after success',
  }),
});

const CALLBACKS = optionGroup('Progress', {
  /** Stops the job, which then throws an AbortError. */
  signal: option<AbortSignal>({}),
  /** A call about five times a second. If it throws, the job stops and throws the same. */
  onProgress: option<(progress: ShuffleProgress) => void>({}),
  /** A call for each warning, which is one line. */
  onWarning: option<(line: string) => void>({}),
});

const REPORT = optionGroup('Progress', {
  /** A call when the job has succeeded. Without it, the job does not measure its phases. */
  onProfile: option<(profile: JobProfile) => void>({}),
  /**
   * Reports on the job when it has succeeded (docs/CHECKING.md). A path names a new file of JSON. An object such as
   * `{ file: 'x.html', textOf: reportPage }` writes a page. A function is called with the same data. If the report
   * fails, a warning says so, and the output stays. Default: no report.
   */
  report: option<string | ReportFile | ((report: JobReport) => void), string>({
    name: 'report',
    value: 'FILE',
    parse: parsePath,
    help: 'write a page about the job to FILE.html, or its data to FILE.json',
  }),
});

export type CallbackOptions = OptionsOf<typeof CALLBACKS>;
export type MachineOptions = OptionsOf<typeof MACHINE>;
export type FileChoiceOptions = OptionsOf<typeof CHOICE>;
export type S3Options = OptionsOf<typeof S3>;

/** How records are read, and what the call may use. */
export interface ReadOptions
  extends OptionsOf<typeof RECORDS>,
    OptionsOf<typeof DECODING>,
    MachineOptions,
    CallbackOptions {}

export interface OutputOptions extends OptionsOf<typeof OUTPUT>, OptionsOf<typeof CUT>, OptionsOf<typeof TEMP> {}

/** The options of `shuffle`. Only `inputs` is required. */
export interface ShuffleOptions
  extends OutputOptions,
    OptionsOf<typeof KEEP>,
    OptionsOf<typeof CARD>,
    OptionsOf<typeof ORDER>,
    ReadOptions,
    FileChoiceOptions,
    S3Options,
    OptionsOf<typeof BLANK>,
    OptionsOf<typeof TABLES>,
    TableOptions,
    OptionsOf<typeof RESUME>,
    OptionsOf<typeof REPORT> {
  /**
   * Files, directories, glob patterns, addresses (`https://`, `s3://`, `hf://`), or `-` for standard input. `{ records }`
   * is an input in memory: each record gets the delimiter after it, as in a file. `{ range }` is the whole numbers from
   * `low` to `high`, a line each. A directory means all regular files
   * below it, except hidden ones and those that pileshuf made beside data. Files of a directory or pattern are sorted by
   * the bytes of their paths. `{ path }` is never a pattern. With the default `inputIds`, the output depends on the order
   * of the inputs.
   */
  readonly inputs: readonly NamedInput[];
}

export type InputOptions = Pick<ShuffleOptions, 'inputs'> &
  ReadOptions &
  FileChoiceOptions &
  S3Options &
  OptionsOf<typeof BLANK> &
  OptionsOf<typeof TABLES>;

export type TableOptions = OptionsOf<typeof ROW_GROUPS>;

export const CALLBACK_OPTIONS = CALLBACKS;
export const READ_OPTIONS = { ...RECORDS, ...DECODING, ...MACHINE, ...CALLBACKS };
/** The options of calls that read files as they are, whatever these hold. */
export const FILE_OPTIONS = { inputs: option({}), ...BLANK, ...CHOICE, ...S3, ...READ_OPTIONS };
export const INPUT_OPTIONS = { ...FILE_OPTIONS, ...TABLES };
export const SHUFFLE_STORE_OPTIONS = {
  ...OUTPUT,
  ...CUT,
  ...MACHINE,
  ...TEMP,
  ...CALLBACKS,
  onProfile: REPORT.onProfile,
};
export const SHUFFLE_OPTIONS = {
  ...OUTPUT,
  ...KEEP,
  ...CUT,
  ...CARD,
  ...ROW_GROUPS,
  ...ORDER,
  ...INPUT_OPTIONS,
  ...TEMP,
  ...RESUME,
  ...REPORT,
};

export interface ShuffleStoreOptions
  extends OutputOptions,
    MachineOptions,
    CallbackOptions,
    Pick<ShuffleOptions, 'onProfile'> {}

const TOGETHER = optionGroup('Output', {
  /** The shards by count or by records. Default: one file for each member, or one shard for each of `splits`. */
  shards: option<ShardRule | SplitShards>({}),
  /** Default for one file: by its name. Default for shards and splits: `none`. */
  compress: option<OutputCompression>({}),
  /** Discards an unfinished job of this output. It never replaces a directory that holds something. Default false. */
  force: option<boolean>({ check: trueOrFalse }),
  /** Resumes the unfinished job of this output. If there is none, starts a job that can be resumed. Default false. */
  resume: option<boolean>({ check: trueOrFalse }),
});

export const SHUFFLE_TOGETHER_OPTIONS = {
  together: option({}),
  ...OUTPUT,
  splits: CUT.splits,
  seed: ORDER.seed,
  ...TOGETHER,
  ...READ_OPTIONS,
  ...TEMP,
};

export interface ShuffleTogetherOptions
  extends ReadOptions,
    OptionsOf<typeof TEMP>,
    OptionsOf<typeof TOGETHER>,
    Pick<ShuffleOptions, 'headCount' | 'splits' | 'seed'> {
  /**
   * Tuples of files, all of the same length: `[['a_R1.fq', 'a_R2.fq'], ['b_R1.fq', 'b_R2.fq']]`. All files of a tuple
   * have the same number of records, and record i of each belongs together. The files at one place of all tuples are a
   * member of the output, named like the first of them. `.npy`, `.tfrecord` and `.tar` files have the records that
   * their names say, and FASTQ four lines each unless `records` says otherwise.
   */
  readonly together: readonly (readonly string[])[];
  /** A directory that is new or empty. All members appear in it at once. */
  readonly output: string;
}

// biome-ignore format: a table, of few lines an entry
const INDEX = optionGroup('Output', {
  /** Path of the index. Default: `FILE.pileshuf-index`, beside the file. */
  index: option<string>({
    check: path, name: 'output', short: 'o', value: 'PATH', parse: parsePath,
    help: 'where to write the index', default: 'FILE.pileshuf-index',
  }),
});

export const INDEX_OPTIONS = { ...INDEX, ...RECORDS, ...MACHINE, ...CALLBACKS };

export interface IndexOptions
  extends OptionsOf<typeof RECORDS>,
    MachineOptions,
    CallbackOptions,
    OptionsOf<typeof INDEX> {}

export const VERIFY_OPTIONS = { outputs: option({}), ...INPUT_OPTIONS };

export interface VerifyOptions extends InputOptions {
  /** The files to verify, as in `ShuffleOptions.inputs`. */
  readonly outputs: readonly NamedInput[];
  /** The files that they were made from, read in the same way. */
  readonly inputs: readonly NamedInput[];
}

// biome-ignore format: a table, of few lines an entry
const CHECK = optionGroup('Records', {
  /** A field of JSON records whose values should not drift, such as `.source`. Default: none. */
  field: option<string>({
    name: 'field', value: 'FIELD',
    help: 'also look whether the values of a JSON field are spread evenly: .source',
  }),
  /**
   * The field of JSON records with a number that tells where a record was before, such as `.id`. Default: the first
   * number in the text.
   */
  id: option<string>({
    name: 'id', value: 'FIELD', default: 'the first number in a record',
    help: 'the JSON field of a number by which records were in order: .id',
  }),
});

export const CHECK_OPTIONS = { ...omit(INPUT_OPTIONS, 'skipBlank'), ...CHECK };

export interface CheckOptions
  extends ReadOptions,
    FileChoiceOptions,
    S3Options,
    OptionsOf<typeof TABLES>,
    OptionsOf<typeof CHECK> {
  /** Files in the order in which they are read one after the other, as in `ShuffleOptions.inputs`; no streams. */
  readonly inputs: readonly NamedInput[];
}
