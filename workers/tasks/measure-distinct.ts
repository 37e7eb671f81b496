/**
 * A task before the shuffle pass of a job that keeps one of equal records: puts piles in order as that pass does, and finds
 * what stays of each. If the job lists what it drops, it scatters a line for each such record.
 */
import { thenAlwaysAsync } from '../../src/cleanup.js';
import { InputNames, type SharedInputNames } from '../../src/inputs/input-names.js';
import { type PileSet, PileSetWriter } from '../../src/pile-sets/pile-set-writer.js';
import { differenceOf, emptyTotals, type PileTotals, setTally, tallyOf } from '../../src/pile-sets/pile-totals.js';
import { STORED_HEADER_BYTES } from '../../src/plan/arena-sizes.js';
import { DuplicateLines } from '../piles/duplicate-lines.js';
import { PileOrderer } from '../piles/pile-orderer.js';
import { ScatterArena } from '../piles/scatter-arena.js';
import type { CopySettings } from '../settings.js';
import { drawStateOf } from '../thread-state.js';
import { openOrder, type PilesTask } from './open-order.js';

export interface MeasureDistinctTask extends PilesTask {
  /** Piles [first, end). */
  readonly first: number;
  readonly end: number;
  /** What its piles hold. */
  readonly expected: PileTotals;
  /** Undefined: nobody asks for what is dropped. */
  readonly listing?: ListingSettings | undefined;
}

/** How the lines of dropped records are scattered. */
export interface ListingSettings {
  readonly lines: CopySettings;
  readonly names: SharedInputNames;
  readonly longestLineBytes: number;
  /** The name of the pile set of the lines; no other attempt may use it. */
  readonly pileSetName: string;
}

export interface DistinctResult {
  /** The totals of what stays, for each pile. The shuffle pass verifies them. */
  readonly distinct: PileTotals;
  readonly listed: ListedLines | undefined;
}

export interface ListedLines {
  readonly pileSet: PileSet;
  readonly totals: PileTotals;
  readonly longestRecordBytes: number;
}

export async function measureDistinct(task: MeasureDistinctTask): Promise<DistinctResult> {
  const { first, end, expected, listing } = task;
  const { order, control } = await openOrder(task, async () => {});
  let countedBytes = 0;
  const measure = async (): Promise<PileTotals> => {
    const distinct = emptyTotals(end - first);
    for (const { pile, order: orderPile } of order.piles(first, end)) {
      const held = tallyOf(expected, pile - first);
      const dropped = await orderPile(async () => {});
      setTally(distinct, pile - first, differenceOf(held, dropped));
      control.count('orderedBytes', held.recordBytes);
      countedBytes += held.recordBytes;
    }
    return distinct;
  };
  try {
    if (listing === undefined) return { distinct: await measure(), listed: undefined };
    if (!(order instanceof PileOrderer)) throw new RangeError('held records do not tell where they come from');
    return await list(task, listing, order, measure);
  } catch (error) {
    // The task may be done once more.
    control.count('orderedBytes', -countedBytes);
    throw error;
  }
}

async function list(
  { job }: MeasureDistinctTask,
  { lines, names, longestLineBytes, pileSetName: name }: ListingSettings,
  order: PileOrderer,
  measure: () => Promise<PileTotals>,
): Promise<DistinctResult> {
  const state = drawStateOf(job, lines);
  const { hasher, compressor, control } = state;
  const { layout, bufferBytes, readBytes, keyScale = 1n } = lines;
  const parts = { name, layout, ramPool: await state.ramPool, indexInFile: false };
  const writer = new PileSetWriter({ ...parts, hasher, compressor, control });
  const scatter = async (): Promise<DistinctResult> => {
    const sizes = {
      bufferBytes,
      windowBytes: readBytes,
      maxRecordBytes: longestLineBytes + STORED_HEADER_BYTES,
      keyScale,
    };
    const scatterArena = new ScatterArena(state.arena, writer, { pileCount: layout.pileCount, ...sizes });
    const duplicates = new DuplicateLines(order.kernel, scatterArena, new InputNames(names));
    order.onDropped(() => duplicates.take());
    const distinct = await measure();
    duplicates.flush();
    const { longestRecordBytes } = scatterArena;
    return { distinct, listed: { ...scatterArena.commit(null), longestRecordBytes } };
  };
  return thenAlwaysAsync(scatter, () => writer.close());
}
