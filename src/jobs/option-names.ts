import type { OptionNames } from '../known-options.js';
import type {
  AppendOptions,
  IndexOptions,
  ShuffleOptions,
  ShuffleStoreOptions,
  ShuffleTogetherOptions,
} from './options.js';

const RECORDS = { records: true, zeroTerminated: true, header: true, maxRecordBytes: true } as const;
export const CHOICE_OPTIONS = { hidden: true, include: true, exclude: true } as const;
const DECODING = { decompressProgram: true, igzip: true } as const;
const OUTPUT = {
  output: true,
  headCount: true,
  splits: true,
  shards: true,
  compress: true,
  shardPrefix: true,
  force: true,
} as const;
const TEMP = { tempDirs: true, tempCompress: true } as const;
const MACHINE = { memoryBytes: true, workers: true, ioLimits: true } as const;
const TALK = { signal: true, onProgress: true, onWarning: true } as const;
/** How records are read, and what the call may use. */
export const READING_OPTIONS = { ...RECORDS, ...DECODING, ...MACHINE, ...TALK } as const;

export const SHUFFLE_OPTIONS: OptionNames<ShuffleOptions> = {
  inputs: true,
  inputIds: true,
  keys: true,
  seed: true,
  repeat: true,
  splitBy: true,
  missing: true,
  weights: true,
  mix: true,
  unique: true,
  uniqueBy: true,
  skipBlank: true,
  resume: true,
  jobDir: true,
  keepTemp: true,
  onProfile: true,
  report: true,
  ...CHOICE_OPTIONS,
  ...RECORDS,
  ...DECODING,
  ...OUTPUT,
  ...TEMP,
  ...MACHINE,
  ...TALK,
};

/** `header` is refused in words of its own. */
export const APPEND_OPTIONS: OptionNames<AppendOptions & Pick<ShuffleOptions, 'header'>> = {
  inputs: true,
  inputIds: true,
  generation: true,
  replace: true,
  seed: true,
  piles: true,
  expectedBytes: true,
  ...CHOICE_OPTIONS,
  skipBlank: true,
  ...RECORDS,
  ...DECODING,
  ...MACHINE,
  ...TALK,
};

export const SHUFFLE_STORE_OPTIONS: OptionNames<ShuffleStoreOptions> = {
  onProfile: true,
  ...OUTPUT,
  ...TEMP,
  ...MACHINE,
  ...TALK,
};

export const INDEX_OPTIONS: OptionNames<IndexOptions> = { index: true, ...RECORDS, ...MACHINE, ...TALK };

export const SHUFFLE_TOGETHER_OPTIONS: OptionNames<ShuffleTogetherOptions> = {
  together: true,
  output: true,
  headCount: true,
  splits: true,
  shards: true,
  compress: true,
  force: true,
  seed: true,
  resume: true,
  ...RECORDS,
  ...DECODING,
  ...TEMP,
  ...MACHINE,
  ...TALK,
};
