/** The options of the calls that write, read and look after pile stores. */

import { MOST_PILES } from '../piles/pile-layout.js';
import type { InputIdRule } from '../sources/ids.js';
import { trueOrFalse, whole } from '../values/known-options.js';
import { oneWordOf, parseBytes, parseCount, parseDuration, parseWhole } from '../values/parse-values.js';
import { type OptionsOf, omit, option, optionGroup, pick } from './option.js';
import { type InputIdsChoice, parseInputIds } from './parse-options.js';
import { CALLBACK_OPTIONS, type CallbackOptions, FILE_OPTIONS, type InputOptions } from './shuffle-options.js';
import { inputIds, seedText } from './value-checks.js';

// biome-ignore format: a table, of few lines an entry
const WRITING = optionGroup('Store', {
  /** The generation that the records belong to: 1 to 200 printable characters. Default: today's date in UTC. */
  generation: option<string>({
    name: 'generation', value: 'NAME',
    help: 'generation to add the inputs to', default: "today's date, UTC",
  }),
  /**
   * Replaces the former commits of these inputs; the inputs must include all inputs of such a commit. Otherwise an
   * input id that the store already has is an error, ERR_INPUT_ID_TAKEN. Default false.
   */
  replace: option<boolean>({ check: trueOrFalse, name: 'replace', help: 'replace inputs that the store already has' }),
  /** The seed of the store. An existing store must have the same. Default: a new store draws one at random. */
  seed: option<string>({
    check: seedText, name: 'seed', value: 'STRING',
    help: 'seed of a new store', default: 'drawn',
  }),
  /** Number of piles of the store, 1 to 65,536. An existing store must have the same. Default: by `expectedBytes`. */
  piles: option<number>({
    check: whole(1, MOST_PILES), name: 'piles', value: 'N', parse: parseCount,
    help: 'number of piles of a new store', default: 'derived from the expected bytes',
  }),
  /**
   * Bytes of records that you expect a new store to hold at most. Default: four times these inputs; without inputs, the
   * store gets 256 piles.
   */
  expectedBytes: option<number>({
    check: whole(1), name: 'expected-bytes', value: 'SIZE', parse: parseBytes,
    help: 'bytes that a new store will hold', default: 'four times these inputs',
  }),
});

// biome-ignore format: a table, of few lines an entry
const IDS = optionGroup('Store', {
  /** The ids as in `ShuffleOptions`, except for the default: `path`. An id stands for one input of the store. */
  inputIds: option<InputIdRule, InputIdsChoice>({
    check: inputIds, name: 'input-ids', value: 'RULE', parse: parseInputIds, default: 'path',
    help: 'the ids of inputs: ordinal, path, name (last part of the path) or file:FILE (one id per line)',
  }),
});

/** `header` is refused in words of its own. */
export const APPEND_OPTIONS = { ...IDS, ...WRITING, ...FILE_OPTIONS };

export interface AppendOptions
  extends Omit<InputOptions, 'header' | 'columns' | 'hive' | 'hdf5'>,
    OptionsOf<typeof IDS>,
    OptionsOf<typeof WRITING> {}

const WRITER_MEMORY = optionGroup('Machine', {
  /** Bytes of memory for pile buffers. Default: 64 MiB or 32 KiB a pile, whichever is more, and more for long records. */
  memoryBytes: option<number>({ check: whole(1) }),
});

export const WRITER_OPTIONS = { inputId: option({}), ...WRITING, ...WRITER_MEMORY };

export interface PileWriterOptions extends OptionsOf<typeof WRITING>, OptionsOf<typeof WRITER_MEMORY> {
  /**
   * The input id of these records: any non-empty string that no other input of the store has. The order of the records depends on the
   * seed of the store and this id, not on when or where they are written.
   */
  readonly inputId: string;
}

const INSPECT = optionGroup('Output', {
  /** Reads every record and compares all checksums. Default: reads only the manifest and the indexes. */
  verify: option<boolean>({ name: 'verify', help: 'read every record and compare all checksums' }),
});

export const INSPECT_OPTIONS = { ...INSPECT, ...CALLBACK_OPTIONS };

export interface InspectOptions extends OptionsOf<typeof INSPECT>, CallbackOptions {}

/** The generations to expire. The time of a generation is the time of its first commit. */
export type ExpireRule =
  /** Older than this date, alone or with a time: 2026-11-01 or 2026-11-01T06:00Z. Default zone: UTC. */
  | { readonly before: string }
  /** Older than this many milliseconds. */
  | { readonly keepMilliseconds: number }
  /** All but this many of the newest generations. */
  | { readonly keepLast: number };

// biome-ignore format: a table, of few lines an entry
const UPKEEP = optionGroup('Store', {
  rule: option<ExpireRule>(
    {},
    {
      name: 'keep', value: 'TIME', part: 'keepMilliseconds',
      parse: (text, flag) => ({ keepMilliseconds: parseDuration(text, flag) }),
      help: 'remove generations that are older than TIME: 30d, 12h, 4w',
    },
    {
      name: 'before', value: 'DATE', part: 'before', parse: (before) => ({ before }),
      help: 'remove generations from before DATE: 2026-11-01, or 2026-11-01T06:00Z',
    },
    {
      name: 'keep-last', value: 'N', part: 'keepLast', parse: (text, flag) => ({ keepLast: parseCount(text, flag) }),
      help: 'remove all generations but the last N',
    },
  ),
  /**
   * How many milliseconds to keep pile sets that were removed from the store, for readers that started earlier, and files
   * of writers whose state is unknown, such as writers on other machines. Default 86,400,000, one day.
   */
  graceMilliseconds: option<number>({
    name: 'grace', value: 'TIME', parse: parseDuration,
    help: 'keep removed data for this time, for programs that still read it', default: '1d',
  }),
  /** Stops the call, which then throws an AbortError. A later call deletes the rest. */
  signal: option<AbortSignal>({}),
  /**
   * Gives up what a lost manifest named: the store continues from the newest manifest that is left, and pile sets that
   * belong to no state and to no writer are deleted, whatever their age. Default: a store whose newest manifest is lost is
   * an error, and such pile sets stay.
   */
  giveUpLost: option<boolean>({
    name: 'give-up-lost',
    help: 'continue from the newest manifest if a later one is lost, and delete the data that only it named',
  }),
});

export const GARBAGE_OPTIONS = pick(UPKEEP, 'graceMilliseconds', 'signal');
export const COLLECT_OPTIONS = omit(UPKEEP, 'rule');
export const EXPIRE_OPTIONS = omit(UPKEEP, 'giveUpLost');

export interface CollectOptions extends OptionsOf<Omit<typeof UPKEEP, 'rule'>> {}
export type GarbageOptions = Omit<CollectOptions, 'giveUpLost'>;

export const OPEN_STORE_OPTIONS = optionGroup('Machine', {
  /** Memory for piles, in bytes: those being loaded, those ready, and the one you read. Default: half of what is available. */
  memoryBytes: option<number>({}),
  /** Threads that load piles, shared by all loaders of the store. Default: 2, or the number of CPUs if that is smaller. */
  workers: option<number>({
    name: 'workers',
    value: 'N',
    parse: parseCount,
    help: 'threads that load piles',
    default: '2',
  }),
  /** Ends all loaders. */
  signal: option<AbortSignal>({}),
  /** A call for each warning, which is one line. */
  onWarning: option<(line: string) => void>({}),
});

/** How a store is read. */
export interface OpenStoreOptions extends OptionsOf<typeof OPEN_STORE_OPTIONS> {}

// biome-ignore format: a table, of few lines an entry
const RANKS = optionGroup('Epochs', {
  /** The rank that reads: record i of an epoch goes to rank i mod `worldSize`. Default 0. */
  rank: option<number>({
    name: 'rank', value: 'N', parse: parseWhole,
    help: 'write record i if i mod world size = N', default: '0',
  }),
  /** The number of ranks. Default 1. */
  worldSize: option<number>({
    name: 'world-size', value: 'N', parse: parseCount,
    help: 'number of ranks that share each epoch', default: '1',
  }),
  /**
   * The rule for ranks that get other numbers of records. By default the counts differ by at most one. `drop` makes
   * them equal by leaving out up to worldSize - 1 records, `pad` by giving up to worldSize - 1 records twice.
   */
  equalize: option<'drop' | 'pad'>({
    name: 'equalize', value: 'HOW', ...oneWordOf('drop', 'pad'),
    help: 'drop or pad records so that all ranks get the same count', default: 'counts differ by at most 1',
  }),
});

export const RESUME_LOADER_OPTIONS = optionGroup('Machine', {
  /** Piles that are loaded ahead, in addition to the one you read. Default 2. */
  prefetchPiles: option<number>({
    name: 'prefetch-piles',
    value: 'N',
    parse: parseWhole,
    help: 'piles to load ahead',
    default: '2',
  }),
});

export const LOADER_OPTIONS = { ...RANKS, ...RESUME_LOADER_OPTIONS };

/** The records that a loader gives, and their order. */
export interface LoaderOptions extends OptionsOf<typeof RANKS>, OptionsOf<typeof RESUME_LOADER_OPTIONS> {}

const WRITE = optionGroup('Output', {
  /** True to write the byte length of each record before it, as u32, little-endian. Default false. */
  withLengths: option<boolean>({
    name: 'lengths',
    help: 'write the byte length of each record before it (u32, little-endian)',
  }),
  /** Ends the writing, even while the reader of the output is not reading. */
  signal: option<AbortSignal>({}),
});

export const WRITE_OPTIONS = { endEpoch: option({}), ...WRITE };

export interface WriteOptions extends OptionsOf<typeof WRITE> {
  /** Writes the epochs from the loader's position up to, not including, this one. */
  readonly endEpoch: number;
}
