/**
 * Plans the piles of the lines that list dropped records, when pass 1 is over: the memory for them, and how their places
 * choose their piles.
 */
import type { CopySettings } from '../../workers/settings.js';
import { counted, InputError } from '../errors.js';
import { type Compression, codecOfName, compressionOf } from '../formats/encoder-table.js';
import { type SharedInputNames, shareInputNames } from '../inputs/input-names.js';
import type { ScatterOutcome } from '../passes/scatter-pass.js';
import type { MemoryNeed, MemoryPlan } from '../plan/memory-plan.js';

/** What a line has besides the record and the names of its inputs, at most. */
const MOST_AROUND_BYTES = 128;
/** A control character takes six characters of JSON. */
const MOST_BYTES_A_BYTE = 6;
/** The part of the memory for lines that are longer than those that usually wait together. */
const LONG_LINES_SHARE = 1 / 2;
/** Of a usual text. */
const USUAL_BYTES_A_BYTE = 1.1;

/** What the plan needs of the outcome of pass 1. */
export type ListedRecords = Pick<ScatterOutcome, 'records' | 'bytes' | 'longestRecordBytes' | 'recordEnds'>;

export interface LinesPlan {
  readonly names: SharedInputNames;
  readonly longestLineBytes: number;
  readonly memoryNeed: MemoryNeed;
  readonly memory: MemoryPlan;
  /** For the tasks that make lines. */
  readonly sizes: Omit<CopySettings, 'layout' | 'ramPool' | 'keyScale'>;
  /** A place times this is its part of 2^64. */
  readonly keyScale: bigint;
}

/**
 * @param need that of the piles of records.
 * @param paths the names of the inputs, as lines have them.
 * @param compression of the list.
 */
export function planLines(
  need: MemoryNeed,
  paths: readonly string[],
  all: ListedRecords,
  compression: Compression | undefined,
  planMemory: (need: MemoryNeed) => MemoryPlan,
): LinesPlan {
  const names = shareInputNames(paths, all.recordEnds);
  const longestLineBytes = longestLineOf(all.longestRecordBytes, names);
  const memoryNeed = needOf(need, all, names, compression !== undefined);
  const { budgetBytes, workers } = memoryNeed;
  const windowBytes = Math.min(longestLineBytes, Math.floor((budgetBytes * LONG_LINES_SHARE) / workers));
  const memory = planMemory({ ...memoryNeed, budgetBytes: budgetBytes - workers * windowBytes });
  const sizes = {
    bufferBytes: memory.bufferBytes,
    readBytes: memory.readBytes + windowBytes,
    arenaBytes: memory.pass1ArenaBytes + windowBytes,
  };
  const inputBytes = all.recordEnds.reduce((sum, end) => sum + end, 0);
  const keyScale = 2n ** 64n / BigInt(Math.max(2, inputBytes));
  return { names, longestLineBytes, memoryNeed, memory, sizes, keyScale };
}

/** How a list of this name is compressed; undefined: not at all. */
export function compressionOfName(path: string): Compression | undefined {
  const codec = codecOfName(path);
  return codec === undefined ? undefined : compressionOf(codec);
}

/** @returns what to throw where the piles of lines cannot be opened. @param byteLength of the longest line. */
export function ofLongLine(error: unknown, byteLength: number): unknown {
  if (!(error instanceof InputError && error.code === 'ERR_RECORD_TOO_LONG')) return error;
  return new InputError(
    'ERR_RECORD_TOO_LONG',
    `the longest line of \`duplicates\` has ${counted(byteLength, 'byte')} and does not fit half of the memory budget; give more with \`memoryBytes\``,
  );
}

/** Nobody knows how many records will be dropped: the piles are planned as if nearly all were. */
function needOf(
  need: MemoryNeed,
  { records, bytes }: ListedRecords,
  names: SharedInputNames,
  outputWaits: boolean,
): MemoryNeed {
  const nameBytes = names.text.byteLength / Math.max(1, names.ends.byteLength / 8);
  const recordBytes = Math.max(1, USUAL_BYTES_A_BYTE * bytes + (MOST_AROUND_BYTES + 2 * nameBytes) * records);
  return {
    ...need,
    recordBytes,
    mostReadBytes: undefined,
    meanRecordBytes: recordBytes / Math.max(1, records),
    exact: false,
    hasStreams: false,
    // The note of the written file is all that a later attempt needs.
    isResumable: false,
    mostSlices: Number.POSITIVE_INFINITY,
    layout: undefined,
    keepsPlaces: false,
    outputWaits,
  };
}

function longestLineOf(longestRecordBytes: number, { longestBytes }: SharedInputNames): number {
  return MOST_BYTES_A_BYTE * longestRecordBytes + 2 * longestBytes + MOST_AROUND_BYTES;
}
