/** The names of the options of the jobs, for `requireKnownOptions`. */
import type { OptionNames } from '../known-options.js';
import type { AppendOptions, IndexOptions, ShuffleOptions, ShuffleStoreOptions } from './options.js';

export const SHUFFLE_OPTIONS: OptionNames<ShuffleOptions> = {
  inputs: true,
  inputIds: true,
  output: true,
  shards: true,
  compress: true,
  shardPrefix: true,
  seed: true,
  memoryBytes: true,
  tempDirs: true,
  tempCompress: true,
  workers: true,
  ioLimits: true,
  records: true,
  zeroTerminated: true,
  header: true,
  decompressProgram: true,
  maxRecordBytes: true,
  force: true,
  resume: true,
  jobDir: true,
  keepTemp: true,
  signal: true,
  onProgress: true,
  onWarning: true,
  onProfile: true,
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
  records: true,
  zeroTerminated: true,
  header: true,
  decompressProgram: true,
  maxRecordBytes: true,
  memoryBytes: true,
  workers: true,
  ioLimits: true,
  signal: true,
  onProgress: true,
  onWarning: true,
};

export const SHUFFLE_STORE_OPTIONS: OptionNames<ShuffleStoreOptions> = {
  output: true,
  shards: true,
  compress: true,
  shardPrefix: true,
  force: true,
  memoryBytes: true,
  tempDirs: true,
  tempCompress: true,
  workers: true,
  ioLimits: true,
  signal: true,
  onProgress: true,
  onWarning: true,
  onProfile: true,
};

export const INDEX_OPTIONS: OptionNames<IndexOptions> = {
  index: true,
  records: true,
  zeroTerminated: true,
  header: true,
  maxRecordBytes: true,
  memoryBytes: true,
  workers: true,
  ioLimits: true,
  signal: true,
  onProgress: true,
  onWarning: true,
};
