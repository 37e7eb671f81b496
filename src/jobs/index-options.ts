/**
 * What a caller asks for who wants a file indexed, and what it gets back.
 */
import type { ShuffleOptions } from './options.js';

type SharedOptions =
  | 'records'
  | 'zeroTerminated'
  | 'header'
  | 'maxRecordBytes'
  | 'memoryBytes'
  | 'workers'
  | 'ioLimits';

export interface IndexOptions extends Pick<ShuffleOptions, SharedOptions | 'signal' | 'onProgress' | 'onWarning'> {
  /** Where the index goes. Default: beside the file, named `FILE.pileshuf-index`. */
  readonly index?: string | undefined;
}

export interface IndexReport {
  readonly records: number;
  /** Path of the index. */
  readonly index: string;
  readonly indexBytes: number;
  readonly seconds: number;
}
