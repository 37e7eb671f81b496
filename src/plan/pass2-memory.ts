/**
 * The memory of pass 2, once the longest record and the size of the memory pool are known. Every thread must be able to
 * hold the longest record, so long records mean fewer threads.
 *
 * Also the budget that an error message recommends for a long record or a decoder. The search plans with larger and
 * larger budgets until one suffices, so the advice is true by construction. Pure.
 */
import type { PileTotals } from '../piles/pile-totals.js';
import { wholeChunks } from '../piles/ram-pool.js';
import { ENTRY_BYTES, LARGEST_ARENA_BYTES, OUTPUT_BUFFER_COUNT, STORED_HEADER_BYTES } from './arena-sizes.js';
import { leastMemory } from './given-memory.js';
import { planIndex } from './index-plan.js';
import { type MemoryNeed, type MemoryPlan, planMemory, SMALLEST_SHARE_BYTES, type Tuning } from './memory-plan.js';

const KIB = 1024;

export interface Pass2Memory {
  readonly workers: number;
  /** The size that each worker's arena may reach. */
  readonly arenaBytes: number;
  /** The bytes that pages of columns may take beside it; 0: there are no columns. */
  readonly columnBytes: number;
  /** Further bytes that all arenas together may take. */
  readonly spareBytes: number;
}

/**
 * The planned figures if the longest record allows them, else figures for fewer threads; undefined when not even one
 * thread can hold it. The memory pool holds `poolBytes`.
 */
export function planPass2(
  plan: MemoryPlan,
  budgetBytes: number,
  poolBytes: number,
  longestRecordBytes: number,
): Pass2Memory | undefined {
  const { workers, pass2ArenaBytes } = plan;
  const availableBytes = budgetBytes - poolBytes;
  const columnBytes = memoryOfColumns(plan, longestRecordBytes);
  const besideArena = bytesOfColumns(plan, longestRecordBytes);
  const fitted = (threads: number, arenaBytes: number): Pass2Memory => {
    const takenBytes = threads * (arenaBytes + besideArena);
    const spareBytes = plan.pass2MayGrow ? Math.max(0, availableBytes - takenBytes) : 0;
    return { workers: threads, arenaBytes, columnBytes, spareBytes };
  };
  const neededBytes = arenaBytesForRecord(plan, longestRecordBytes);
  const isPlanned = columnBytes === 0 || workers * (pass2ArenaBytes + besideArena) <= availableBytes;
  if (neededBytes <= pass2ArenaBytes && isPlanned) return fitted(workers, pass2ArenaBytes);
  const affordable = Math.min(workers, Math.floor(availableBytes / (neededBytes + besideArena)));
  if (affordable < 1 || neededBytes > LARGEST_ARENA_BYTES) return undefined;
  const roomy = Math.min(Math.floor(availableBytes / affordable) - besideArena, LARGEST_ARENA_BYTES);
  return fitted(affordable, Math.min(Math.max(neededBytes, pass2ArenaBytes), roomy));
}

/**
 * Plans a job so that pass 2 has room for the pages of columns, if need be without a memory pool. Undefined: it has no
 * room, unless rows are much shorter than expected.
 */
export function planWithColumns(need: MemoryNeed, tuning: Tuning = {}): MemoryPlan | undefined {
  const plan = planMemory(need, tuning);
  const hasRoom = (planned: MemoryPlan) =>
    planned.columnBytes === 0 ||
    planPass2(planned, need.budgetBytes, wholeChunks(planned.ramPoolBytes), need.meanRecordBytes) !== undefined;
  if (hasRoom(plan)) return plan;
  const onDisk = planMemory(need, { ...tuning, mayUseRamPool: false });
  return hasRoom(onDisk) ? onDisk : undefined;
}

/** Returns what pass 2 has beside its threads and the pool, if no record is longer than the others. */
export function spareOfPass2(plan: MemoryPlan, { budgetBytes, meanRecordBytes }: MemoryNeed): number {
  const poolBytes = wholeChunks(Math.min(plan.ramPoolBytes, plan.storedBytes));
  return planPass2(plan, budgetBytes, poolBytes, meanRecordBytes)?.spareBytes ?? 0;
}

/** A long row is copied to be split into its columns; each of these and a page have a copy of it, too. */
const COPIES_OF_ROW = 5;

function memoryOfColumns({ columnBytes = 0 }: ColumnsNeed, recordBytes: number): number {
  return columnBytes === 0 ? 0 : columnBytes + COPIES_OF_ROW * recordBytes;
}

/** Returns what a thread of pass 2 needs for pages of columns, and to compress them, if no row is longer. */
export function bytesOfColumns(need: ColumnsNeed, recordBytes: number): number {
  return memoryOfColumns(need, recordBytes) + bytesToCompress(need, recordBytes);
}

type ColumnsNeed = Pick<MemoryNeed, 'columnBytes' | 'tableLogs'>;

/** Pages of shorter rows are compressed in what a thread takes beside the budget. */
const USUAL_PAGE_BYTES = 1024 * 1024;
const TABLE_ENTRY_BYTES = 4;

/** Returns what compressing a page with a long row takes: a copy, room for as much, and tables larger than it. */
function bytesToCompress({ tableLogs = [], columnBytes = 0 }: ColumnsNeed, recordBytes: number): number {
  if (columnBytes === 0 || tableLogs.length === 0 || recordBytes < USUAL_PAGE_BYTES) return 0;
  const pageBytes = recordBytes + USUAL_PAGE_BYTES;
  const mostLog = Math.ceil(Math.log2(pageBytes)) + 1;
  const tableBytes = tableLogs.reduce((sum, log) => sum + TABLE_ENTRY_BYTES * 2 ** Math.min(log, mostLog), 0);
  return 2 * pageBytes + tableBytes;
}

/** The arena of pass 2 that can hold a record of this length, and can scatter its pile again. */
function arenaBytesForRecord(plan: Pick<MemoryPlan, 'outputBytes' | 'readBytes'>, recordBytes: number): number {
  return OUTPUT_BUFFER_COUNT * plan.outputBytes + plan.readBytes + recordBytes + 64 * KIB;
}

const MIB = 1024 * KIB;
/** A window grows by at least 1 MiB, and needs 1 MiB more than the record. */
const WINDOW_GROWTH_BYTES = 2 * MIB;

export interface LongestNeed {
  /** The bytes of one record. */
  readonly recordBytes: number;
  /** The bytes of the windows of decoders. */
  readonly decoderBytes: number;
}

/**
 * About the least budget above the present one, in whole MiB, with which a job is sure to have room for this: it passes
 * the same check as the plan of that budget. In the form that `memoryBytes` takes, such as 512M.
 */
export function memoryFor(need: MemoryNeed, long: LongestNeed): string {
  const { unlessLarge } = need;
  const memoryBytes = leastMemory(need, Number.POSITIVE_INFINITY, (budgetBytes) => {
    const isEnough = (planned: MemoryNeed) => hasRoomFor({ ...planned, budgetBytes }, long);
    return isEnough(need) && (unlessLarge === undefined || isEnough(unlessLarge));
  });
  return `${(memoryBytes ?? 0) / MIB}M`;
}

/**
 * Returns whether all passes have room for this, whatever else they hold. A slice of files that finds none beside the
 * other threads is read again by one thread alone; streams, and jobs that only read, have no second chance, so each
 * thread must have room.
 * @param growthBytes what a window takes beyond the record at the most.
 */
export function hasRoomFor(
  need: MemoryNeed,
  { recordBytes, decoderBytes }: LongestNeed,
  growthBytes = WINDOW_GROWTH_BYTES,
): boolean {
  const { budgetBytes, exact, reads } = need;
  const neededBytes = (recordBytes > 0 ? recordBytes + growthBytes : 0) + decoderBytes;
  if (reads !== undefined) {
    const memoryBytes = budgetBytes / (need.shareOfMemory ?? 1);
    const { spareBytes, workers } = planIndex({ ...need, budgetBytes: memoryBytes }, Number.POSITIVE_INFINITY, {});
    if (spareBytes < workers * neededBytes) return false;
    if (reads === 'only') return true;
  }
  if (budgetBytes < SMALLEST_SHARE_BYTES) return false;
  const plan = planWithColumns(need);
  if (plan === undefined) return false;
  const fullPoolBytes = wholeChunks(plan.ramPoolBytes);
  // An exact pool size counts the bytes of the record, which are not in the pool yet.
  const poolBytes = exact ? Math.max(0, fullPoolBytes - recordBytes) : fullPoolBytes;
  const threads = need.hasStreams ? Math.min(plan.workers, need.mostSlices) : 1;
  if (budgetBytes - poolBytes < threads * (plan.pass1ArenaBytes + neededBytes)) return false;
  return planPass2(plan, budgetBytes, fullPoolBytes, recordBytes) !== undefined;
}

/** Returns whether it is worth a try: a thread alone may have room. */
export function mayHaveRoomFor(need: MemoryNeed, long: LongestNeed): boolean {
  return hasRoomFor(need, long, 0);
}

interface RescatterBytes {
  /** Some thread writes at least this much, however much of the spare memory it gets. */
  readonly least: number;
  /** The bytes if all threads scatter their largest piles at the same time. */
  readonly most: number;
}

/** @param outputBytes of one output buffer. */
export function planRescatter(
  totals: Pick<PileTotals, 'records' | 'recordBytes'>,
  { workers, arenaBytes, spareBytes }: Omit<Pass2Memory, 'columnBytes'>,
  outputBytes: number,
): RescatterBytes {
  const roomOf = (byteLength: number) => Math.min(byteLength, LARGEST_ARENA_BYTES) - OUTPUT_BUFFER_COUNT * outputBytes;
  const [room, mostRoom] = [roomOf(arenaBytes), roomOf(arenaBytes + spareBytes)];
  const tooLarge: number[] = [];
  let least = 0;
  for (const [pile, records] of totals.records.entries()) {
    const storedBytes = (totals.recordBytes[pile] ?? 0) + STORED_HEADER_BYTES * records;
    const neededBytes = storedBytes + ENTRY_BYTES * records;
    // A pile of one record is never scattered.
    if (neededBytes <= room || records < 2) continue;
    tooLarge.push(storedBytes);
    if (neededBytes > mostRoom) least = Math.max(least, storedBytes);
  }
  const together = tooLarge.sort((a, b) => b - a).slice(0, workers);
  return { least, most: together.reduce((sum, bytes) => sum + bytes, 0) };
}
