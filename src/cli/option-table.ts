/**
 * The one table of options, for parsing, `--help`, the pages of commands in docs and the types of the values. To add an
 * option, add an entry here.
 *
 * An entry names the library option that it sets. Several entries may set the same one: each of them holds a whole
 * value, such as a kind of record. So a command passes its values to the library as they are.
 */
import { RECORD_FLAGS, type RecordKind } from '../formats/framing-table.js';
import type { HeaderKind } from '../job/options.js';
import {
  oneOf,
  parseBytes,
  parseCount,
  parseDuration,
  parsePath,
  parsePaths,
  parseRecords,
  parseState,
  parseWhole,
  parseWord,
} from '../typed-values.js';
import type { CommandName } from './command-table.js';
import {
  parseCompression,
  parseDecompressProgram,
  parseHeadCount,
  parseInputIds,
  parseInputList,
  parseIoLimit,
  parseMemory,
  parsePrefix,
  parseRange,
  parseSbatchArgs,
  parseShards,
  parseSlurmMemory,
  parseSourcePath,
  parseSplits,
  parseStandardOutput,
  parseTempCompression,
  parseTogether,
  parseWeight,
} from './option-values.js';

export interface OptionEntry {
  /** The flag, less its `--`. */
  readonly name: string;
  readonly short?: string;
  /** Placeholder of the value in the help. Absent: the flag has no value. */
  readonly value?: string;
  /** The library option that the flag sets, with the part of it that the value goes to: `shards.shardCount`. */
  readonly sets: string;
  parse?(text: string, flag: string, previous: unknown): unknown;
  readonly words?: readonly string[];
  /** Words that a shell offers, where there are other values. */
  readonly usualWords?: readonly string[];
  /** What a flag without a value stands for. Absent: true. */
  readonly constant?: unknown;
  /** At most one of the options with the same word here may be given. */
  readonly choice?: string;
  readonly isRequired?: true;
  /** May be given several times: each adds a value. Any other option has one value. */
  readonly isRepeatable?: true;
  /** A resumed job may have another value; for cuts of the output, as long as none is made. */
  readonly mayChange?: true;
  readonly help: string;
  readonly default?: string;
  readonly group: OptionGroup;
  readonly commands: readonly CommandName[];
}

export type OptionGroup =
  | 'Output'
  | 'Order'
  | 'Store'
  | 'Epochs'
  | 'Records'
  | 'Input'
  | 'Tasks'
  | 'Slurm'
  | 'Machine'
  | 'Resume'
  | 'Progress';

/** `plan` takes the options of the job that it tells of. */
const SHUFFLE = ['shuffle', 'plan'] as const;
const PLAN = ['plan'] as const;
const STREAM = ['stream'] as const;
const SHUF = ['shuf'] as const;
const EXPIRE = ['expire'] as const;
const INSPECT = ['inspect'] as const;
const STORE_WRITERS = ['append', 'pile'] as const;
const CHECKERS = ['check-shuffled', 'verify'] as const;
const CLUSTER_PLAN = ['cluster plan'] as const;
const SLURM = ['cluster slurm'] as const;
const PLANNERS = [...CLUSTER_PLAN, ...SLURM] as const;
const TASK = ['cluster task'] as const;
const CLUSTER = [...PLANNERS, 'cluster status', ...TASK] as const;
const SHUFFLERS = [...SHUFFLE, ...PLANNERS] as const;
const TEMP_WRITERS = [...SHUFFLE, 'shuffle-store'] as const;
const OUTPUT_WRITERS = [...SHUFFLERS, 'shuffle-store'] as const;
const LIST_READERS = [...SHUFFLERS, 'append'] as const;
const DIRECTORY_READERS = [...LIST_READERS, ...CHECKERS] as const;
const INPUT_READERS = [...SHUFFLERS, 'append', 'pile', ...CHECKERS] as const;
const FRAMERS = [...SHUFFLERS, 'append', 'index', 'pile', ...CHECKERS] as const;
const WORKERS = [...SHUFFLE, 'append', 'index', 'pile', 'shuffle-store', ...CHECKERS] as const;
const LIMITED = [...WORKERS, ...PLANNERS] as const;
const JSON_PRINTERS = ['inspect', ...PLAN, ...CHECKERS, ...CLUSTER] as const;
const BUDGETED = [...WORKERS, 'stream'] as const;
const TALKERS = [...BUDGETED, ...CLUSTER, 'expire', 'gc', 'inspect'] as const;

const progressStyle = oneOf('auto', 'bar', 'plain', 'json', 'none');
export type ProgressStyle = (typeof progressStyle.words)[number];
const RECORD_ENTRIES = RECORD_FLAGS.map(({ part, parse, ...flag }) => ({
  ...flag,
  parse: parse as (text: string, flag: string, previous: unknown) => RecordKind,
  sets: part === undefined ? ('records' as const) : (`records.${part}` as const),
  choice: 'records',
}));

/** Entries of one group that the same commands take. */
function each<
  const Group extends OptionGroup,
  const Commands extends readonly CommandName[],
  const Entries extends readonly Omit<OptionEntry, 'group' | 'commands'>[],
>(group: Group, commands: Commands, entries: Entries) {
  type Shared = { readonly group: Group; readonly commands: Commands };
  const complete = entries.map((entry) => ({ ...entry, group, commands }));
  return complete as readonly unknown[] as { readonly [Place in keyof Entries]: Entries[Place] & Shared };
}

// biome-ignore format: a table, of few lines an entry
export const optionTable = [
  {
    name: 'output', short: 'o', value: 'PATH', sets: 'output', parse: parsePath,
    help: 'output file, or directory for shards', default: 'standard output',
    group: 'Output', commands: TEMP_WRITERS,
  },
  {
    name: 'output', short: 'o', value: 'PATH', sets: 'output', parse: parsePath,
    help: 'output file, or directory for shards, on storage that all machines share',
    group: 'Output', commands: PLANNERS,
  },
  {
    name: 'output', short: 'o', value: 'PATH', sets: 'index', parse: parsePath,
    help: 'where to write the index', default: 'FILE.pileshuf-index',
    group: 'Output', commands: ['index'],
  },
  {
    name: 'output', short: 'o', value: 'PATH', sets: 'output', parse: parseStandardOutput,
    help: 'only -, standard output, is possible', default: '-',
    group: 'Output', commands: STREAM,
  },
  {
    name: 'head-count', short: 'n', value: 'COUNT', sets: 'headCount', isRepeatable: true,
    parse: parseHeadCount,
    help: 'write only the first COUNT records of the order; of several COUNTs, the smallest', default: 'all',
    group: 'Output', commands: [...OUTPUT_WRITERS, ...SHUF],
  },
  {
    name: 'output', short: 'o', value: 'FILE', sets: 'output', parse: parsePath,
    help: 'write to FILE, which may be the input', default: 'standard output',
    group: 'Output', commands: SHUF,
  },
  {
    name: 'repeat', short: 'r', sets: 'repeat',
    help: 'draw COUNT records with replacement; without -n, go on until the reader leaves',
    group: 'Output', commands: [...SHUFFLE, ...SHUF],
  },
  {
    name: 'unique', sets: 'unique',
    help: 'keep one of equal records; the order then follows from the records alone',
    group: 'Output', commands: SHUFFLERS,
  },
  {
    name: 'unique-by', value: 'SELECTOR', sets: 'uniqueBy',
    help: 'keep the first record of each value, in the order of the inputs; the value is .url, csv:url, tsv:3, key or /^(EXPR)/',
    group: 'Output', commands: SHUFFLERS,
  },
  {
    name: 'split', value: 'PARTS', sets: 'splits', parse: parseSplits,
    help: 'write splits into one directory: train=0.98,validation=0.02, or validation=10000,train=rest',
    group: 'Output', commands: OUTPUT_WRITERS,
  },
  {
    name: 'split-by', value: 'SELECTOR', sets: 'splitBy',
    help: 'keep records with equal values in one split; the value is .metadata.site, csv:site, tsv:3, key or /^(EXPR)/',
    group: 'Output', commands: SHUFFLERS,
  },
  {
    name: 'missing', value: 'VALUE', sets: 'missing',
    help: 'the value for records in which --split-by or --unique-by finds no value', default: 'such a record is an error',
    group: 'Output', commands: SHUFFLERS,
  },
  ...each('Output', OUTPUT_WRITERS, [
    {
      name: 'shards', value: 'N', sets: 'shards.shardCount', choice: 'shards', parse: parseShards,
      help: 'write N shards; their record counts differ by at most 1; for splits, train=128,test=1',
    },
    {
      name: 'shard-records', value: 'N', sets: 'shards.recordsPerShard', choice: 'shards', mayChange: true,
      parse: (text: string, flag: string) => ({ by: 'records', recordsPerShard: parseRecords(text, flag) }) as const,
      help: 'write N records to each shard, fewer to the last one',
    },
    {
      name: 'shard-bytes', value: 'SIZE', sets: 'shards.maxShardBytes', choice: 'shards', mayChange: true,
      parse: (text: string, flag: string) => ({ by: 'bytes', maxShardBytes: parseBytes(text, flag) }) as const,
      help: 'write equal shards of at most SIZE; no record is cut',
    },
    {
      name: 'compress', value: 'CODEC', sets: 'compress', parse: parseCompression, usualWords: ['none', 'gzip', 'zstd'],
      help: 'none, gzip or zstd, with a level as in zstd:9', default: 'by the name of a single output',
    },
    {
      name: 'prefix', value: 'NAME', sets: 'shardPrefix', parse: parsePrefix,
      help: 'name the shards NAME-00007-of-00128.EXT', default: 'shard',
    },
    {
      name: 'force', sets: 'force', help: 'replace existing outputs',
    },
  ]),
  {
    name: 'lengths', sets: 'withLengths', help: 'write the byte length of each record before it (u32, little-endian)',
    group: 'Output', commands: STREAM,
  },
  {
    name: 'verify', sets: 'verify', help: 'read every record and compare all checksums',
    group: 'Output', commands: INSPECT,
  },
  {
    name: 'json', sets: 'json', help: 'print one JSON object',
    group: 'Output', commands: JSON_PRINTERS,
  },
  {
    name: 'dry-run', sets: 'dryRun', help: 'write nothing, and say what the job will need, like pileshuf plan',
    group: 'Output', commands: ['shuffle'],
  },

  {
    name: 'seed', value: 'STRING', sets: 'seed',
    choice: 'seed',
    help: 'any text; the same seed gives the same order', default: 'drawn, and printed in the summary',
    group: 'Order', commands: SHUFFLERS,
  },
  {
    name: 'random-source', value: 'FILE', sets: 'randomSource', choice: 'seed', parse: parseSourcePath,
    help: 'derive the seed from the first 1,024 bytes of FILE',
    group: 'Order', commands: [...SHUFFLERS, ...SHUF],
  },
  ...each('Order', SHUFFLERS, [
    {
      name: 'weight', value: 'GLOB=FACTOR', sets: 'weights', parse: parseWeight, isRepeatable: true,
      help: 'take the records of these inputs FACTOR times: 2.5, 0.1, 0; repeat the option for other globs, general globs first',
      default: '1',
    },
    {
      name: 'mix', value: 'FILE', sets: 'mix', parse: parsePath,
      help: 'weights of groups of inputs, or their shares of the output, in YAML or JSON (docs/CHOOSING-RECORDS.md)',
    },
    {
      name: 'key', value: 'KIND', sets: 'keys', ...oneOf('position', 'ordinal'),
      help: 'position, or ordinal: files with equal numbers of records get the same order', default: 'position',
    },
    {
      name: 'input-ids', value: 'RULE', sets: 'inputIds', parse: parseInputIds,
      help: 'derive the order from the ids of inputs: ordinal, path, name (last part of the path) or file:FILE (one id per line)',
      default: 'ordinal',
    },
  ]),
  {
    name: 'input-ids', value: 'RULE', sets: 'inputIds', parse: parseInputIds,
    help: 'the ids of inputs: ordinal, path, name (last part of the path) or file:FILE (one id per line)',
    default: 'path',
    group: 'Store', commands: ['append'],
  },
  {
    name: 'input-id', value: 'ID', sets: 'inputIds', isRequired: true, isRepeatable: true,
    parse: (text: string, _: string, previous: readonly string[] = []) => [...previous, text],
    help: 'id of an input, unique in the store; repeat it for each input, in order',
    group: 'Store', commands: ['pile'],
  },
  ...each('Store', STORE_WRITERS, [
    {
      name: 'generation', value: 'NAME', sets: 'generation',
      help: 'generation to add the inputs to', default: "today's date, UTC",
    },
    {
      name: 'replace', sets: 'replace', help: 'replace inputs that the store already has',
    },
    {
      name: 'seed', value: 'STRING', sets: 'seed', help: 'seed of a new store', default: 'drawn',
    },
    {
      name: 'piles', value: 'N', sets: 'piles', parse: parseCount,
      help: 'number of piles of a new store', default: 'derived from the expected bytes',
    },
    {
      name: 'expected-bytes', value: 'SIZE', sets: 'expectedBytes', parse: parseBytes,
      help: 'bytes that a new store will hold', default: 'four times these inputs',
    },
  ]),
  ...each('Store', EXPIRE, [
    {
      name: 'keep', value: 'TIME', sets: 'rule.keepMilliseconds', choice: 'rule',
      parse: (text: string, flag: string) => ({ keepMilliseconds: parseDuration(text, flag) }),
      help: 'remove generations that are older: 30d, 12h, 4w',
    },
    {
      name: 'before', value: 'DATE', sets: 'rule.before', choice: 'rule',
      parse: (text: string) => ({ before: text }),
      help: 'remove generations from before DATE: 2026-11-01, or 2026-11-01T06:00Z',
    },
    {
      name: 'keep-last', value: 'N', sets: 'rule.keepLast', choice: 'rule',
      parse: (text: string, flag: string) => ({ keepLast: parseCount(text, flag) }),
      help: 'remove all generations but the last N',
    },
  ]),
  {
    name: 'grace', value: 'TIME', sets: 'graceMilliseconds', parse: parseDuration,
    help: 'keep removed data for this time, for programs that still read it', default: '1d',
    group: 'Store', commands: ['expire', 'gc'],
  },
  {
    name: 'give-up-lost', sets: 'giveUpLost',
    help: 'continue from the newest manifest if a later one is lost, and delete the data that only it named',
    group: 'Store', commands: ['gc'],
  },

  ...each('Epochs', STREAM, [
    {
      name: 'epochs', value: 'N', sets: 'epochs', parse: parseCount,
      help: 'stop after epoch N - 1', default: 'after the first epoch, or that of --start',
    },
    {
      name: 'epoch', value: 'N', sets: 'epoch', parse: parseWhole,
      help: 'start with epoch N', default: '0, the global shuffle',
    },
    {
      name: 'rank', value: 'N', sets: 'rank', parse: parseWhole,
      help: 'write the records i with i mod world size = N', default: '0',
    },
    {
      name: 'world-size', value: 'N', sets: 'worldSize', parse: parseCount,
      help: 'number of ranks that share each epoch', default: '1',
    },
    {
      name: 'equalize', value: 'HOW', sets: 'equalize', ...oneOf('drop', 'pad'),
      help: 'drop or pad records so that all ranks get the same count', default: 'counts differ by at most 1',
    },
    {
      name: 'start', value: 'STATE', sets: 'start', parse: parseState,
      help: 'continue from a state, a JSON object, or from @FILE with one',
    },
    {
      name: 'print-start', sets: 'printStart', help: 'print the state of the first record and exit',
    },
  ]),

  {
    name: 'field', value: 'FIELD', sets: 'field',
    help: 'also look whether the values of a JSON field are spread evenly: .source',
    group: 'Records', commands: ['check-shuffled'],
  },
  {
    name: 'id', value: 'FIELD', sets: 'id',
    help: 'the JSON field of a number by which records were in order: .id', default: 'the first number in a record',
    group: 'Records', commands: ['check-shuffled'],
  },
  {
    name: 'zero-terminated', short: 'z', sets: 'zeroTerminated', choice: 'records',
    help: 'records end in NUL instead of newline, in inputs and output',
    group: 'Records', commands: [...FRAMERS, ...SHUF],
  },
  ...each('Records', FRAMERS, [...RECORD_ENTRIES]),
  {
    name: 'skip-blank', sets: 'skipBlank',
    help: 'leave out records that are empty or white space, and count them',
    group: 'Records', commands: [...SHUFFLERS, ...STORE_WRITERS, 'verify'],
  },
  ...each('Records', FRAMERS, [
    {
      name: 'header', value: 'N', sets: 'header.lines', choice: 'header',
      parse: (text: string, flag: string): HeaderKind => ({ lines: parseCount(text, flag) }),
      help: 'the first N lines of each input are its header',
    },
    {
      name: 'header-prefix', value: 'TEXT', sets: 'header.prefix', choice: 'header',
      parse: (prefix: string): HeaderKind => ({ prefix }),
      help: "the leading lines that begin with TEXT are the header of each input: '#' for VCF, '@' for SAM",
    },
    {
      name: 'skip-bytes', value: 'N', sets: 'header.bytes', choice: 'header',
      parse: (text: string, flag: string): HeaderKind => ({ bytes: parseCount(text, flag) }),
      help: 'the first N bytes of each input are its header',
    },
    {
      name: 'max-record', value: 'SIZE', sets: 'maxRecordBytes', parse: parseBytes, mayChange: true,
      help: 'refuse longer records, at most 1984MiB', default: '1GiB',
    },
  ]),

  {
    name: 'against', value: 'INPUT...', sets: 'against', isRepeatable: true, parse: parsePaths,
    help: 'the inputs of the outputs: all words up to the next option',
    group: 'Input', commands: ['verify'],
  },
  {
    name: 'echo', short: 'e', sets: 'echo', help: 'the operands are records, not names of inputs',
    group: 'Input', commands: [...SHUFFLE, ...SHUF],
  },
  {
    name: 'input-range', short: 'i', value: 'LO-HI', sets: 'range', parse: parseRange,
    help: 'shuffle the whole numbers from LO to HI, a line each, in place of inputs',
    group: 'Input', commands: [...SHUFFLE, ...SHUF],
  },
  {
    name: 'together', value: 'FILE,FILE', sets: 'together', isRepeatable: true, parse: parseTogether,
    help: 'shuffle files in one order that keeps them aligned, in a directory; repeat the option for more tuples of files',
    group: 'Input', commands: SHUFFLE,
  },
  ...each('Input', DIRECTORY_READERS, [
    {
      name: 'hidden', sets: 'hidden',
      help: 'take hidden files of directories, too: .NAME, and what programs keep beside data, such as _SUCCESS',
    },
    {
      name: 'include', value: 'GLOB', sets: 'include', parse: parsePaths, isRepeatable: true,
      help: "take only files of directories whose names match, as in '*.jsonl*'; with a slash, whose paths below the directory do",
      default: 'all, if they are of one kind',
    },
    {
      name: 'exclude', value: 'GLOB', sets: 'exclude', parse: parsePaths, isRepeatable: true,
      help: 'leave out files and directories below directories that match, compared in the same way',
    },
  ]),
  {
    name: 'decompress-program', value: 'CMD', sets: 'decompressProgram', parse: parseDecompressProgram,
    help: "decode every input with CMD, such as 'xz -dc'",
    group: 'Input', commands: INPUT_READERS,
  },
  {
    name: 'without-igzip', sets: 'igzip', constant: false,
    help: 'do not decode gzip with the program igzip',
    group: 'Input', commands: INPUT_READERS,
  },
  {
    name: 'files-from', value: 'FILE', sets: 'inputLists', parse: parseInputList, isRepeatable: true,
    help: 'read the names of inputs from FILE, one per line; - is standard input',
    group: 'Input', commands: LIST_READERS,
  },
  {
    name: 'files0-from', value: 'FILE', sets: 'inputLists', parse: parseInputList, isRepeatable: true,
    help: 'read names that end in NUL from FILE; - is standard input',
    group: 'Input', commands: LIST_READERS,
  },

  {
    name: 'job-dir', value: 'DIR', sets: 'jobDir', parse: parsePath, isRequired: true,
    help: 'the directory of the planned job, on storage that all machines share; new or empty for a plan',
    group: 'Tasks', commands: CLUSTER,
  },
  {
    name: 'tasks', value: 'N', sets: 'tasks', parse: parseCount,
    help: 'at most N tasks of each kind; fewer if they would be too small',
    group: 'Tasks', commands: PLANNERS,
  },
  {
    name: 'cpus-per-task', value: 'N', sets: 'cpusPerTask', parse: parseCount,
    help: 'threads of each task', default: '4',
    group: 'Tasks', commands: PLANNERS,
  },
  {
    name: 'memory', short: 'S', value: 'SIZE', sets: 'memoryBytes', parse: parseBytes,
    help: 'memory for records of each task', default: '1GiB for each of its threads',
    group: 'Tasks', commands: CLUSTER_PLAN,
  },
  {
    name: 'no-read-back', sets: 'readBack', constant: false,
    help: 'publish the output as the tasks wrote it, without reading it back',
    group: 'Tasks', commands: PLANNERS,
  },
  ...each('Tasks', TASK, [
    {
      name: 'index', value: 'I', sets: 'taskIndex', parse: parseWhole,
      help: 'which task of its kind, from 0 on',
      default: 'that of Slurm, Kubernetes or AWS Batch, by its environment variable',
    },
    {
      name: 'stride', value: 'W', sets: 'stride', parse: parseCount,
      help: 'do the tasks I, I + W, I + 2W and so on, for an array of W indexes', default: 'only task I',
    },
    {
      name: 'wait', value: 'SECONDS', sets: 'waitSeconds', parse: parseWhole,
      help: 'how long to wait for files of other machines to become visible', default: '60',
    },
    {
      name: 'scratch', value: 'DIR', sets: 'scratchDir', parse: parsePath,
      help: 'directory on this machine, for piles that do not fit in memory', default: '$TMPDIR, or /tmp',
    },
  ]),
  {
    name: 'scratch', value: 'DIR', sets: 'scratchDir', parse: parsePath,
    help: 'directory on each node, for piles that do not fit in memory',
    default: '$SLURM_TMPDIR, $TMPDIR or /tmp of the node',
    group: 'Tasks', commands: SLURM,
  },

  ...each('Slurm', SLURM, [
    {
      name: 'partition', value: 'NAME', sets: 'partition', parse: parseWord,
      help: 'where Slurm runs the tasks', default: "Slurm's default",
    },
    {
      name: 'time', value: 'TIME', sets: 'time', parse: parseWord,
      help: 'the most time of a task, as Slurm writes it: 30, 2:00:00, 1-12', default: "Slurm's default",
    },
    {
      name: 'mem', value: 'SIZE', sets: 'taskMemoryBytes', parse: parseSlurmMemory,
      help: 'memory of a task, as Slurm writes it: 16G, 900M; a bare number counts MiB, and 0 is all of a node',
      default: '2G for each of its CPUs',
    },
    {
      name: 'commit-time', value: 'TIME', sets: 'commitTime', parse: parseWord,
      help: 'the most time of the commit', default: 'that of a task',
    },
    {
      name: 'commit-mem', value: 'SIZE', sets: 'commitMemoryBytes', parse: parseSlurmMemory,
      help: 'memory of the commit', default: 'that of a task',
    },
    {
      name: 'dependency', value: 'JOBS', sets: 'dependency', parse: parseWord,
      help: 'plan and begin after other jobs, as sbatch writes it: afterok:123', default: 'plan and begin at once',
    },
    {
      name: 'env-command', value: 'COMMAND', sets: 'envCommand', parse: parseWord,
      help: "what the shell of each task does first, as in --env-command='module load node'", default: 'nothing',
    },
    {
      name: 'account', value: 'NAME', sets: 'account', parse: parseWord,
      help: 'whom Slurm charges', default: "Slurm's default",
    },
    {
      name: 'qos', value: 'NAME', sets: 'qos', parse: parseWord,
      help: 'quality of service', default: "Slurm's default",
    },
    {
      name: 'constraint', value: 'FEATURES', sets: 'constraint', parse: parseWord,
      help: 'what nodes must have', default: 'nothing',
    },
    {
      name: 'job-name', value: 'NAME', sets: 'jobName', parse: parseWord,
      help: 'name of the jobs; the kind of the tasks is added', default: 'pileshuf',
    },
    {
      name: 'max-parallel', value: 'W', sets: 'maxParallel', parse: parseCount,
      help: 'at most W tasks at once', default: 'as many as Slurm allows',
    },
    {
      name: 'sbatch-args', value: 'WORDS', sets: 'sbatchArgs', parse: parseSbatchArgs, isRepeatable: true,
      help: "further options of sbatch, as in --sbatch-args='--exclude=n7 --nice'; repeat it for more",
    },
    {
      name: 'log-dir', value: 'DIR', sets: 'logDir', parse: parsePath,
      help: 'directory for a log of each task', default: 'logs in the job directory; it stays',
    },
    {
      name: 'wait', sets: 'wait',
      help: 'follow the tasks to the end, and exit with 0 only if the output is there',
    },
    {
      name: 'dry-run', sets: 'dryRun',
      help: 'print the calls of sbatch and the scripts; submit, plan and write nothing',
    },
    {
      name: 'resume', sets: 'resume',
      help: 'submit the tasks of the job in --job-dir that are not done',
    },
  ]),

  {
    name: 'memory', short: 'S', value: 'SIZE', sets: 'memoryBytes', parse: parseMemory, mayChange: true,
    help: 'memory for records, also as in 50%', default: 'half of the available memory',
    group: 'Machine', commands: BUDGETED,
  },
  {
    name: 'temp-dir', short: 'T', value: 'DIR', sets: 'tempDirs', parse: parsePaths, isRepeatable: true,
    help: 'directory for temp files; repeat it to use several',
    default: "$TMPDIR, else the output's directory, or /var/tmp for standard output",
    group: 'Machine', commands: TEMP_WRITERS,
  },
  {
    name: 'temp-compress', value: 'CODEC', sets: 'tempCompress', parse: parseTempCompression, mayChange: true,
    usualWords: ['zstd'],
    help: 'compress temp files on slow disks: zstd, with a level as in zstd:3', default: 'not compressed',
    group: 'Machine', commands: OUTPUT_WRITERS,
  },
  {
    name: 'workers', value: 'N', sets: 'workers', parse: parseCount, mayChange: true,
    help: 'worker threads', default: 'one per CPU',
    group: 'Machine', commands: WORKERS,
  },
  {
    name: 'workers', value: 'N', sets: 'workers', parse: parseCount,
    help: 'threads that load piles', default: '2',
    group: 'Machine', commands: STREAM,
  },
  {
    name: 'prefetch-piles', value: 'N', sets: 'prefetchPiles', parse: parseWhole,
    help: 'piles to load ahead', default: '2',
    group: 'Machine', commands: STREAM,
  },
  {
    name: 'io-limit', value: 'PATH=N', sets: 'ioLimits', parse: parseIoLimit, isRepeatable: true, mayChange: true,
    help: 'at most N large reads and writes at once on the device of PATH; repeat it for others',
    group: 'Machine', commands: LIMITED,
  },

  ...each('Resume', SHUFFLE, [
    {
      name: 'resume', sets: 'resume',
      help: 'resume the unfinished job of this output, or start one that can be resumed',
    },
    {
      name: 'job-dir', value: 'DIR', sets: 'jobDir', parse: parsePath,
      help: 'directory for everything needed to resume', default: 'named after the output, beside the temp files',
    },
    {
      name: 'keep-temp', sets: 'keepTemp', help: 'keep the job directory and temp files after success',
    },
  ]),

  {
    name: 'progress', value: 'STYLE', sets: 'progress', ...progressStyle,
    help: 'auto, bar, plain, json or none (docs/RUNNING.md); auto draws no bar while records go to a pipe or terminal',
    default: 'auto',
    group: 'Progress', commands: TALKERS,
  },
  {
    name: 'profile', value: 'FILE', sets: 'profile', parse: parsePath,
    help: 'write to FILE where the time went, as JSON',
    group: 'Progress', commands: SHUFFLERS,
  },
  {
    name: 'report', value: 'FILE', sets: 'report', parse: parsePath,
    help: 'write a page about the job to FILE.html, or its data to FILE.json',
    group: 'Progress', commands: SHUFFLE,
  },
  {
    name: 'quiet', short: 'q', sets: 'quiet', help: 'print errors only: no progress, warnings or summary',
    group: 'Progress', commands: TALKERS,
  },
] as const satisfies readonly OptionEntry[];

type Entry = (typeof optionTable)[number];
type EntryOf<Name extends CommandName, E extends Entry = Entry> = E extends unknown
  ? Name extends E['commands'][number]
    ? E
    : never
  : never;
type FieldOf<E extends Entry> = E['sets'] extends `${infer Field}.${string}` ? Field : E['sets'];
type ValueOf<E> = E extends { readonly constant: infer Constant }
  ? Constant
  : E extends { readonly parse: (...words: never) => infer Value }
    ? Value
    : E extends { readonly value: string }
      ? string
      : true;

/** What a command shows, and how. The library has none of these options. */
export interface DisplayValues {
  readonly progress?: ProgressStyle | undefined;
  readonly quiet?: true | undefined;
  readonly json?: true | undefined;
}

/** The other values that a command gets: each option that was given, under the name of what it sets. */
export type OptionValues<Name extends CommandName> = {
  readonly [E in EntryOf<Name> as Exclude<FieldOf<E>, keyof DisplayValues>]?: ValueOf<E>;
};

export function optionsOf(name: CommandName): readonly OptionEntry[] {
  const entries: readonly OptionEntry[] = optionTable;
  return entries.filter(({ commands }) => commands.includes(name));
}

export function flagsOf({ name, short, value }: OptionEntry): string {
  const flag = short === undefined ? `--${name}` : `-${short}, --${name}`;
  return value === undefined ? flag : `${flag} <${value}>`;
}

/** A library option in backquotes, as messages name it. */
const libraryOption = /`([a-zA-Z.]+)`/g;

function setsOption({ sets }: OptionEntry, option: string): boolean {
  return sets === option || sets.startsWith(`${option}.`);
}

/** The options of a command that a message of the library names, in the order of the message. */
export function optionsNamedIn(message: string, name: CommandName): readonly OptionEntry[] {
  const named = [...message.matchAll(libraryOption)].map(([, option = '']) => option);
  return [...new Set(named)].flatMap((option) => optionsOf(name).filter((entry) => setsOption(entry, option)));
}

const COMMAND_OF = {
  collectStore: 'pileshuf gc',
  inspectStore: 'pileshuf inspect',
  clusterStatus: 'pileshuf cluster status',
  verifyPermutation: 'pileshuf verify --against',
} as const;

/**
 * A message of the library in the words of the command: each library option in backquotes becomes the flags that set it,
 * each kind of records the flag that stands for it, and each function the command. `give \`force\`` becomes `give --force`.
 */
export function nameFlags(message: string): string {
  return message
    .replace(
      /`(collectStore|inspectStore|clusterStatus|verifyPermutation)`/g,
      (_, name: keyof typeof COMMAND_OF) => COMMAND_OF[name],
    )
    .replace(/`records: \{ by: '([a-z-]+)' \}`/g, (quoted, by: string) => {
      const entries: readonly OptionEntry[] = optionTable;
      const entry = entries.find(
        ({ value, constant }) => value === undefined && (constant as Partial<RecordKind> | undefined)?.by === by,
      );
      return entry === undefined ? quoted : `--${entry.name}`;
    })
    .replace(libraryOption, (quoted, option: string) => {
      const entries = optionTable.filter((entry) => setsOption(entry, option));
      const [last, ...others] = [...new Set(entries.map(({ name }) => `--${name}`))].reverse();
      if (last === undefined) return quoted;
      return others.length === 0 ? last : `${others.reverse().join(', ')} or ${last}`;
    });
}
