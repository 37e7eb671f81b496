/**
 * Decides between the passes, when all records are counted: which of them the output has, where its splits begin, how it
 * is cut into shards, and how many threads can hold the longest record. All of it follows from the piles. Where that
 * takes reading piles, a job that outlives its process notes what it finds (../job-directory/notes.ts).
 */

import { counted, InputError, StagedOutputError } from '../errors.js';
import type { Release } from '../floor/cleanup.js';
import type { JobControl } from '../floor/job-control.js';
import { openEncoder } from '../formats/encoder-table.js';
import { NOTHING } from '../formats/framing.js';
import { headerRuleOf } from '../formats/record-format.js';
import { loadRowFormat } from '../formats/rows/registry.js';
import { type JobNotes, type KeptNotes, notedOrFound } from '../job-directory/notes.js';
import { joinCuts, type PlannedSplit, type ShardSpec } from '../keep/splits.js';
import { type RamPoolHandle, takenBytes } from '../piles/ram-pool.js';
import type { MemoryNeed, MemoryPlan } from '../plan/memory-plan.js';
import { memoryFor, type Pass2Memory, planPass2 } from '../plan/pass2-memory.js';
import {
  type CutsToFit,
  cutsAt,
  fitCuts,
  type PlainCuts,
  planShardCuts,
  type ShardCuts,
  type ShardRule,
} from '../plan/shard-cuts.js';
import { planExactCuts, planUnitCuts } from '../plan/unit-cuts.js';
import { bytesAround, type OutputLayout, type ShardEnds, storedEnds } from '../sinks/output-layout.js';
import type { OutputSpec, ReadSpec } from '../spec.js';
import { type FoundSplit, findSplits } from './find-splits.js';
import type { FoundInInputs } from './gathered-slices.js';
import { measurePlaces, pileFinder } from './measure-piles.js';
import type { PilesWork, ScatteredPiles } from './shuffle-work.js';
import { takeHead } from './take-head.js';
import type { OnProfile } from './task-pool.js';
import { startThreads, type Threads } from './threads.js';

export const ONE_OUTPUT: ShardRule = { by: 'count', shardCount: 1 };

/** The bytes around the records of each output, as pass 1 found them in the inputs. */
export function foundEnds(
  { header: spec }: Pick<ReadSpec, 'header'>,
  { header, beginnings: { markOfOutput } }: Pick<FoundInInputs, 'header' | 'beginnings'>,
): ShardEnds {
  const rule = spec === undefined || header === undefined ? undefined : { ...headerRuleOf(spec), header };
  const headerOf = (recordBytes: number) =>
    Buffer.concat([markOfOutput, rule?.headerOf(rule.header, recordBytes) ?? NOTHING]);
  return { headerBytes: headerOf(0).byteLength, headerOf, trailer: rule?.trailer ?? NOTHING };
}

type CutsNote = JobNotes['cuts'];

/** What is decided of an output. */
export interface OutputPlan<Work extends PilesWork = PilesWork> {
  /** Its piles are those of the output alone. */
  readonly work: Work;
  readonly splits: readonly FoundSplit[] | undefined;
  /** Cuts it into shards. Where cuts depend on the order of the records, this measures piles, which takes a while. */
  cut(): Promise<OutputLayout>;
}

/** A job may read rows; the records of a store are no rows. */
type PlannedSpec = OutputSpec & { readonly read?: Pick<ReadSpec, 'rows'> };

/** @param kept undefined: if the job fails, its output is lost. */
export async function planOutput<Work extends PilesWork>(
  spec: PlannedSpec,
  ends: ShardEnds,
  work: Work,
  threads: Threads,
  kept: KeptNotes | undefined,
): Promise<OutputPlan<Work>> {
  const piles = await takeHead(spec, work, threads, kept);
  const inHead = { ...work, piles };
  const splits = await findSplits(spec, inHead, threads, kept);
  const parts = planParts(spec.cut, piles, ends, splits);
  const cut = async () => {
    const cutOfParts = await cutParts(parts, inHead, threads, kept);
    const [only] = cutOfParts;
    const cuts = splits === undefined && only !== undefined ? only.cuts : joinCuts(cutOfParts);
    return { cuts, recordBytes: piles.bytes, ...(await layoutOf(spec, cuts, inHead, ends)) };
  };
  return { work: inHead, splits, cut };
}

async function layoutOf(
  { write: { compression, rows: write }, read }: PlannedSpec,
  cuts: ShardCuts,
  { piles, onWarning }: PilesWork,
  ends: ShardEnds,
): Promise<Omit<OutputLayout, 'cuts' | 'recordBytes'>> {
  const rows = read?.rows;
  if (rows !== undefined && write !== undefined) {
    const output = { rows, write };
    const format = await loadRowFormat(rows);
    const unit = format.unitOf(output);
    const units =
      'exactly' in unit ? planExactCuts(cuts, piles, unit.exactly, unit.rowBytes) : planUnitCuts(cuts, piles, unit);
    return { kind: 'appended', ends: format.endsOf(output, onWarning), compression, rows: output, units };
  }
  const encoder = compression === undefined ? undefined : openEncoder(compression);
  return { kind: compression === undefined ? 'placed' : 'appended', ends: storedEnds(ends, encoder), compression };
}

/** A split, or the whole order. */
interface PartPlan extends Omit<PlannedSplit, 'cuts'> {
  /** These may depend on the order of the records. */
  readonly cuts: PlainCuts | CutsToFit;
}

function planParts(
  { shards, splits }: ShardSpec,
  piles: ScatteredPiles,
  ends: ShardEnds,
  found: readonly FoundSplit[] | undefined,
): readonly PartPlan[] {
  const { longestRecordBytes } = piles;
  const planPart = (rule: ShardRule, { firstRank, firstByte, records, bytes }: Omit<FoundSplit, 'name'>): PartPlan => {
    const totals = { records, bytes, longestRecordBytes, bytesAround: bytesAround(ends) };
    return { firstRank, firstByte, bytes, cuts: planShardCuts(rule, totals) };
  };
  if (found === undefined) return [planPart(shards ?? ONE_OUTPUT, { firstRank: 0, firstByte: 0, ...piles })];
  return found.map((split, i) => planPart(splits?.[i]?.shards ?? ONE_OUTPUT, split));
}

async function cutParts(
  parts: readonly PartPlan[],
  work: PilesWork,
  threads: Threads,
  kept: KeptNotes | undefined,
): Promise<readonly PlannedSplit[]> {
  if (parts.every(isCut)) return parts;
  const fitAll = async (): Promise<CutsNote> => {
    const found: CutsNote['starts'][] = [];
    for (const { cuts, firstByte } of parts) {
      const fitted = isToFit(cuts) ? await fitPart(cuts, firstByte, work, threads) : cuts;
      found.push('starts' in fitted ? [...fitted.starts] : null);
    }
    const [starts = null, ...ofOthers] = found;
    return { starts, ofOthers: ofOthers.length === 0 ? undefined : ofOthers };
  };
  return cutsOfNote(await notedOrFound(kept, 'cuts', fitAll), parts);
}

function isToFit(cuts: PartPlan['cuts']): cuts is CutsToFit {
  return 'roomBytes' in cuts;
}

function isCut(part: PartPlan): part is PlannedSplit {
  return !isToFit(part.cuts);
}

function fitPart(cuts: CutsToFit, firstByte: number, work: PilesWork, threads: Threads): Promise<PlainCuts> {
  return fitCuts(cuts, async (bytes) => {
    const find = pileFinder(work.piles.totals, 'byte');
    const places = bytes.map((byte) => find(firstByte + byte));
    const crossings = await measurePlaces(work, threads, 'byte', places);
    return crossings.map(({ start, end }) => ({ start: start - firstByte, end: end - firstByte }));
  });
}

function cutsOfNote({ starts, ofOthers = [] }: CutsNote, parts: readonly PartPlan[]): readonly PlannedSplit[] {
  const noted = [starts, ...ofOthers];
  if (noted.length !== parts.length) {
    throw new StagedOutputError(
      `the unfinished job noted the cuts of ${noted.length} parts of its output, expected ${parts.length}`,
    );
  }
  return parts.map((part, i) => {
    const { cuts } = part;
    return { ...part, cuts: isToFit(cuts) ? cutsOf(noted[i] ?? null, cuts) : cuts };
  });
}

function cutsOf(starts: CutsNote['starts'], cuts: CutsToFit): PlainCuts {
  if (starts === null) {
    if (cuts.even !== undefined) return cuts.even;
    throw new StagedOutputError('the unfinished job noted that its shards are nearly equal, but some would be empty');
  }
  requireFits(starts, cuts);
  return cutsAt(starts);
}

function requireFits(starts: readonly number[], { totalBytes, roomBytes }: CutsToFit): void {
  const shard = starts.findIndex((start, i) => {
    const byteLength = (starts[i + 1] ?? totalBytes) - start;
    return byteLength < 1 || byteLength > roomBytes;
  });
  if (shard === -1) return;
  throw new StagedOutputError(
    `the unfinished job noted that shard ${shard} begins at byte ${starts[shard]} and the next one at ${starts[shard + 1] ?? totalBytes}, expected 1 to ${roomBytes} bytes of records in a shard`,
  );
}

interface MemoryOfPass1 {
  readonly memory: MemoryPlan;
  readonly memoryNeed: MemoryNeed;
  readonly ramPool: RamPoolHandle | undefined;
  readonly control: JobControl;
}

interface FittedMemory extends Pick<Pass2Memory, 'workers' | 'arenaBytes' | 'columnBytes'> {
  readonly needsNewThreads: boolean;
}

/**
 * Fits the memory of pass 2 to the longest record. If pass 2 has room for fewer threads than planned, or arenas have
 * grown in pass 1, the threads must end to free their memory, and as many new ones start as the budget allows. Sets the
 * spare memory of the job.
 */
export function fitPass2(
  { memory, memoryNeed, ramPool, control }: MemoryOfPass1,
  { longestRecordBytes }: ScatteredPiles,
): FittedMemory {
  const poolBytes = ramPool === undefined ? 0 : takenBytes(ramPool);
  const fitted = planPass2(memory, memoryNeed.budgetBytes, poolBytes, longestRecordBytes);
  if (fitted === undefined) {
    const beside = memory.columnBytes === 0 ? '' : ` beside ${counted(memory.columnBytes, 'byte')} of pages of columns`;
    throw new InputError(
      'ERR_RECORD_TOO_LONG',
      `the longest record has ${counted(longestRecordBytes, 'byte')} and does not fit the memory budget${beside}; expected \`memoryBytes\` of at least ${memoryFor(memoryNeed, { recordBytes: longestRecordBytes, decoderBytes: 0 })}`,
    );
  }
  const { workers, arenaBytes, columnBytes, spareBytes } = fitted;
  const grownBytes = memory.pass1SpareBytes - poolBytes - control.spareBytes;
  control.setSpare(spareBytes);
  // What pass 1 took for columns is there for those of pass 2.
  const hasGrown = grownBytes > workers * columnBytes;
  const canStay = !hasGrown && workers === memory.workers && arenaBytes >= memory.pass2ArenaBytes;
  return { workers, arenaBytes, columnBytes, needsNewThreads: !canStay };
}

/** The threads of pass 1, or new ones if `fitPass2` says so. */
export async function threadsOfPass2(
  threads: Threads,
  { memory, memoryNeed, inline }: Pick<MemoryOfPass1, 'memory' | 'memoryNeed'> & { readonly inline: boolean },
  ramPool: RamPoolHandle | undefined,
  piles: ScatteredPiles,
  onProfile: OnProfile,
  releases: Release[],
): Promise<Pick<FittedMemory, 'arenaBytes' | 'columnBytes'> & { readonly threads: Threads }> {
  const { control } = threads;
  const { workers, needsNewThreads, ...bytes } = fitPass2({ memory, memoryNeed, ramPool, control }, piles);
  if (!needsNewThreads) return { threads, ...bytes };
  await threads.pool.destroy();
  const threadCount = inline ? 0 : workers;
  const others = await startThreads({ threadCount, startCount: threadCount }, threads, onProfile, releases);
  return { threads: others, ...bytes };
}
