/**
 * A task of a loader: reads a pile of a store, or the records of one range of its keys, puts them in the order of an
 * epoch, and copies the selected ones to memory that the loader shares with its threads.
 *
 *     shared    ends of records u32 | their bytes, without gaps
 */

import { VerificationError } from '../../src/errors.js';
import { zstdExpander } from '../../src/formats/codecs/zstd-writer.js';
import { type MergedPile, MergedPileReader, mergePiles } from '../../src/piles/merged-pile.js';
import type { StoredPileSet } from '../../src/piles/pile-set-writer.js';
import { STORED_HEADER_BYTES } from '../../src/plan/arena-sizes.js';
import { type Portion, PortionOrderer } from '../piles/portion-orderer.js';
import type { LoadSettings } from '../settings.js';
import { threadStateOf } from '../thread-state.js';

/** Selects `count` ordered records of a pile, every `step`th from `first` on. */
interface Selection {
  readonly first: number;
  readonly step: number;
  readonly count: number;
}

export interface LoadTask extends Portion, Selection {
  readonly job: LoadSettings;
  readonly pile: number;
  /** The merged pile. Undefined: the task reads the segments from the indexes of `pileSets`. */
  readonly merged?: MergedPile | undefined;
  readonly pileSets?: readonly StoredPileSet[];
  /** The checksum of all records of the pile. */
  readonly checksum: bigint;
  /** The key of the epoch, mixed with the stored keys; undefined: the stored keys give the order. */
  readonly epochKey: bigint | undefined;
  /** A used buffer for the records, if it is large enough; its old contents are no longer needed. */
  readonly buffer: SharedArrayBuffer | undefined;
}

export interface LoadResult {
  /** The given buffer, or a larger one. */
  readonly buffer: SharedArrayBuffer;
  readonly records: number;
  /** The place in the buffer where the records begin. */
  readonly bytesAt: number;
  readonly byteLength: number;
}

export async function loadPortion(task: LoadTask): Promise<LoadResult> {
  const { job, pileSets = [], pile, epochKey } = task;
  const { control, arena, hasher } = threadStateOf(job);
  const reader = new MergedPileReader(undefined, hasher, zstdExpander, control);
  const orderer = new PortionOrderer({ arena, control, reader, layout: job.layout, epochKey });
  const merged = task.merged ?? mergePiles(pileSets, pile, pile + 1)[0];
  if (merged === undefined) throw new RangeError(`there is no pile ${pile}`);
  const { records, recordsBefore, storedBytes } = await orderer.order(merged, task);
  const selected = selectionWithin(task, recordsBefore, recordsBefore + records);

  const bytesAt = alignedBytes(4 * selected.count);
  const buffer = roomyBuffer(task.buffer, bytesAt + storedBytes - STORED_HEADER_BYTES * records);
  const sharedBytes = new Uint8Array(buffer);
  const sharedEnds = new Uint32Array(buffer, 0, selected.count);
  const first = selected.first - recordsBefore;
  const byteLength = orderer.copy(first, selected.step, selected.count, (bytes, ends, bytesBefore, countBefore) => {
    sharedBytes.set(bytes, bytesAt + bytesBefore);
    sharedEnds.set(ends, countBefore);
  });
  if (selected.count === merged.records && orderer.checksum !== task.checksum) {
    throw new VerificationError(
      `the records of pile ${pile} have other checksums than when they were written; check the memory of this machine`,
    );
  }
  return { buffer, records: selected.count, bytesAt, byteLength };
}

/** The part of the selection that lies in [from, end) of the order of the pile. */
export function selectionWithin({ first, step, count }: Selection, from: number, end: number): Selection {
  const before = Math.min(count, Math.max(0, Math.ceil((from - first) / step)));
  const upTo = Math.min(count, Math.max(0, Math.ceil((end - first) / step)));
  return { first: first + before * step, step, count: upTo - before };
}

function alignedBytes(byteLength: number): number {
  return Math.ceil(byteLength / 16) * 16;
}

/** Piles differ a little: a buffer for one should suffice for the others. Pages that are never written take no memory. */
const SPARE_SHARE = 1 / 8;

function roomyBuffer(buffer: SharedArrayBuffer | undefined, byteLength: number): SharedArrayBuffer {
  if (buffer !== undefined && buffer.byteLength >= byteLength) return buffer;
  return new SharedArrayBuffer(Math.ceil(byteLength * (1 + SPARE_SHARE)));
}
