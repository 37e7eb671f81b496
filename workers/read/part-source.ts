/**
 * The contract of a source: it gives the decoded bytes of one part of an input. Whoever reads from it knows neither where
 * the bytes lie nor how they are stored: in a file, a stream, memory, or members of a compressed file.
 */

import type { JobControl } from '../../src/floor/job-control.js';
import type { Doubt } from '../../src/formats/first-bytes.js';
import { contextBytesAt, type Framing, readerStart } from '../../src/formats/framing.js';
import type { Header } from '../../src/formats/header.js';
import type { RecordSource } from '../../src/formats/record-source.js';
import type { ReadSpec } from '../../src/spec.js';
import type { ThreadDecoderMemory } from '../thread-state.js';

export interface PartSource extends RecordSource {
  readonly begin: ReadBegin;
  /** The part has the records that begin before this place. Infinity: all that the source gives. */
  readonly end: number;
  /** The header of a stream, which is read for the first time here. */
  readonly header?: Header | undefined;
}

/** Reads from a source, which is closed afterwards. */
export type UseOfSource<T> = (source: PartSource) => Promise<T>;

/** The facts that sources need beside the part. */
export interface ReadContext {
  readonly read: ReadSpec;
  /** The framing. Undefined: only the header of a stream declares it. */
  readonly framing: Framing | undefined;
  readonly control: JobControl;
  readonly decoderMemory: ThreadDecoderMemory;
  readonly sourceFacts: SourceFacts;
}

/** The facts that are known while the bytes are read. */
export interface SourceFacts {
  /** The library or program that decodes the bytes; undefined for plain ones. */
  decoder?: string;
  /** The doubt that the first bytes raise, if nothing looked at them before. */
  doubt?: Doubt;
}

/** The place where a reader begins. */
export interface ReadBegin {
  /** The decoded position of the first byte that it gets. */
  readonly firstByte: number;
  /** The start of the first one that it scans. */
  readonly scanStart: number;
  /** True if the first bytes belong to another part. */
  readonly isBefore: boolean;
  /** How often the byte that the framing counts occurs before `scanStart`. */
  readonly countBefore: number;
}

/**
 * Returns where to begin for a part from decoded byte `start` on: as far back as shows whether a record begins there.
 */
export function beginAt(framing: Framing, start: number, headerBytes: number, countBefore = 0): ReadBegin {
  const scanStart = readerStart(framing, start, headerBytes);
  const firstByte = scanStart - contextBytesAt(framing, scanStart, headerBytes);
  return { firstByte, scanStart, isBefore: scanStart < start, countBefore };
}
