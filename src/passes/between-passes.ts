/**
 * Decides between the passes, when all records are counted: how the output is cut into shards, and how many threads can
 * hold the longest record.
 */
import type { Release } from '../cleanup.js';
import { counted, InputError } from '../errors.js';
import { type Compression, openEncoder } from '../formats/encoder-table.js';
import { NOTHING } from '../formats/framing.js';
import { type HeaderSpec, headerRuleOf } from '../formats/record-format.js';
import type { JobControl } from '../job-control.js';
import { bytesAround, type OutputLayout, type ShardEnds, storedEnds } from '../output/output-layout.js';
import { type RamPoolHandle, takenBytes } from '../pile-sets/ram-pool.js';
import type { MemoryNeed, MemoryPlan } from '../plan/memory-plan.js';
import { memoryFor, type Pass2Memory, planPass2 } from '../plan/pass2-memory.js';
import { type CutsToFit, type PlainCuts, planShardCuts, type ShardRule } from '../plan/shard-cuts.js';
import type { FoundSplit } from './find-splits.js';
import type { ScatterOutcome } from './scatter-pass.js';
import type { ScatteredPiles } from './scattered-piles.js';
import type { OnProfile } from './task-pool.js';
import { startThreads, type Threads } from './threads.js';

export const ONE_OUTPUT: ShardRule = { by: 'count', shardCount: 1 };

export interface OutputForm {
  /** Undefined: one output. */
  readonly shards: ShardRule | undefined;
  readonly splits: readonly { readonly shards: ShardRule }[] | undefined;
  readonly compression: Compression | undefined;
}

/** The bytes around the records of each output, as pass 1 found them in the inputs. */
export function foundEnds(
  { header: spec }: { readonly header: HeaderSpec | undefined },
  { header, beginnings: { markOfOutput } }: Pick<ScatterOutcome, 'header' | 'beginnings'>,
): ShardEnds {
  const rule = spec === undefined || header === undefined ? undefined : { ...headerRuleOf(spec), header };
  const headerOf = (recordBytes: number) =>
    Buffer.concat([markOfOutput, rule?.headerOf(rule.header, recordBytes) ?? NOTHING]);
  return { headerBytes: headerOf(0).byteLength, headerOf, trailer: rule?.trailer ?? NOTHING };
}

/** The layout of an output, whose cuts may depend on the order of the records. */
export interface OutputPlan extends Omit<OutputLayout, 'cuts'> {
  /** The splits, or the whole order as one part. */
  readonly parts: readonly PartPlan[];
  readonly isSplit: boolean;
}

export interface PartPlan extends Pick<FoundSplit, 'firstRank' | 'firstByte' | 'bytes'> {
  readonly cuts: PlainCuts | CutsToFit;
}

export function planOutput(
  { shards, splits, compression }: OutputForm,
  piles: ScatteredPiles,
  ends: ShardEnds,
  found: readonly FoundSplit[] = [],
): OutputPlan {
  const { bytes: recordBytes, longestRecordBytes } = piles;
  const planPart = (rule: ShardRule, { firstRank, firstByte, records, bytes }: Omit<FoundSplit, 'name'>): PartPlan => {
    const totals = { records, bytes, longestRecordBytes, bytesAround: bytesAround(ends) };
    return { firstRank, firstByte, bytes, cuts: planShardCuts(rule, totals) };
  };
  const parts =
    splits === undefined
      ? [planPart(shards ?? ONE_OUTPUT, { firstRank: 0, firstByte: 0, ...piles })]
      : found.map((split, i) => planPart(splits[i]?.shards ?? ONE_OUTPUT, split));
  const encoder = compression === undefined ? undefined : openEncoder(compression);
  return { parts, isSplit: splits !== undefined, ends: storedEnds(ends, encoder), recordBytes, compression };
}

interface MemoryOfPass1 {
  readonly memory: MemoryPlan;
  readonly memoryNeed: MemoryNeed;
  readonly ramPool: RamPoolHandle | undefined;
  readonly control: JobControl;
}

interface FittedMemory extends Pick<Pass2Memory, 'workers' | 'arenaBytes'> {
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
    throw new InputError(
      'ERR_RECORD_TOO_LONG',
      `the longest record has ${counted(longestRecordBytes, 'byte')} and does not fit the memory budget; expected \`memoryBytes\` of at least ${memoryFor(memoryNeed, { recordBytes: longestRecordBytes, decoderBytes: 0 })}`,
    );
  }
  const { workers, arenaBytes, spareBytes } = fitted;
  const grownBytes = memory.pass1SpareBytes - poolBytes - control.spareBytes;
  control.setSpare(spareBytes);
  const canStay = grownBytes <= 0 && workers === memory.workers && arenaBytes >= memory.pass2ArenaBytes;
  return { workers, arenaBytes, needsNewThreads: !canStay };
}

/** The threads of pass 1, or new ones if `fitPass2` says so. */
export async function threadsOfPass2(
  threads: Threads,
  { memory, memoryNeed, inline }: Pick<MemoryOfPass1, 'memory' | 'memoryNeed'> & { readonly inline: boolean },
  ramPool: RamPoolHandle | undefined,
  piles: ScatteredPiles,
  onProfile: OnProfile,
  releases: Release[],
): Promise<{ readonly threads: Threads; readonly arenaBytes: number }> {
  const { control } = threads;
  const { workers, arenaBytes, needsNewThreads } = fitPass2({ memory, memoryNeed, ramPool, control }, piles);
  if (!needsNewThreads) return { threads, arenaBytes };
  await threads.pool.destroy();
  const threadCount = inline ? 0 : workers;
  const others = await startThreads({ threadCount, startCount: threadCount }, threads, onProfile, releases);
  return { threads: others, arenaBytes };
}
