/**
 * What callers of the store's jobs ask for and get back.
 */
import type { ShuffleOptions, ShuffleReport } from './options.js';

export interface AppendOptions
  extends Pick<
    ShuffleOptions,
    | 'inputs'
    | 'inputIds'
    | 'records'
    | 'zeroTerminated'
    | 'decompressProgram'
    | 'maxRecordBytes'
    | 'memoryBytes'
    | 'workers'
    | 'ioLimits'
    | 'signal'
    | 'onProgress'
    | 'onWarning'
  > {
  /** What the inputs are a part of. Default: the date, in UTC. */
  readonly generation?: string | undefined;
  /** Whether former commits of the same inputs are replaced; else an id that the store has is refused. */
  readonly replace?: boolean | undefined;
  /** That of the store. Absent: the one that it has, or one is drawn. */
  readonly seed?: string | undefined;
  /** How many the store has. Absent: as many as it has, or as `expectedBytes` say. */
  readonly piles?: number | undefined;
  /** What the store is expected to hold at most, for its number of piles. Default: four times these inputs. */
  readonly expectedBytes?: number | undefined;
}

export interface AppendReport extends Pick<ShuffleReport, 'records' | 'bytes' | 'checksum' | 'inputCount'> {
  /** Of the store. */
  readonly seed: string;
  /** Of the store. */
  readonly piles: number;
  readonly generation: string;
  /** Number of the state of the store that has them. */
  readonly state: number;
  /** Bytes that the store grew by. */
  readonly storedBytes: number;
  readonly workers: number;
  readonly seconds: Pick<ShuffleReport['seconds'], 'total' | 'pass1' | 'commit'>;
}

export interface ShuffleStoreOptions
  extends Pick<
    ShuffleOptions,
    | 'output'
    | 'shards'
    | 'compress'
    | 'shardPrefix'
    | 'force'
    | 'memoryBytes'
    | 'tempDirs'
    | 'tempCompress'
    | 'workers'
    | 'ioLimits'
    | 'signal'
    | 'onProgress'
    | 'onWarning'
    | 'onProfile'
  > {}
