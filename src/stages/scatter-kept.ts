/**
 * The second scatter of a job that keeps one of equal records, and then weighs the kept ones or puts them into splits by
 * another value: tasks order the piles, drop duplicates, and scatter what stays by its final keys. Each makes a pile set of a
 * range of piles, with a number after those of the slices.
 */
import type { KeptReport, KeptResult, ScatterPilesTask } from '../../workers/tasks/scatter-piles.js';
import { VerificationError } from '../errors.js';
import { list, object, optional, readShape, type Shape, text, wholeNumber } from '../io/json-shape.js';
import { commitIndex, committedIndexPath, pileSetName } from '../job-directory/pile-set-commits.js';
import { keptRuleOf } from '../keep/content-rule.js';
import { contentKeyOf } from '../keep/distinct.js';
import type { GroupAmount, Weighing } from '../keep/mix.js';
import type { PileSetLayout } from '../piles/pile-layout.js';
import { type Amount, addTotals, emptyTotals, sumOverPiles, totalsOfRange } from '../piles/pile-totals.js';
import { ENTRY_BYTES, SLACK_BYTES, storedHeaderBytes, TALLY_BYTES } from '../plan/arena-sizes.js';
import { planPileRanges } from '../plan/pile-ranges.js';
import type { ShuffleSpec } from '../spec.js';
import {
  type CheckpointPileSets,
  MADE,
  readCommittedSets,
  readPileSet,
  removeLeftovers,
  WEIGHTS,
} from './committed-slices.js';
import { runVerified } from './run-tasks.js';
import { committingEach } from './scatter-slices.js';
import { type PilePart, type PilesWork, pilesTask, type ScatteredPiles, scatteredPiles } from './shuffle-work.js';
import type { Threads } from './threads.js';

/** Pile buffers are at least as large: the plan of the memory counts them as a part of the longest record. */
const LEAST_BUFFER_BYTES = 256;
const WANTED_BUFFER_BYTES = 4096;
/** The other regions of the arena, and what scattering a pile again takes beside its window. */
const REGIONS_BYTES = 2 ** 17;

export interface KeptWork extends PilesWork {
  readonly spec: ShuffleSpec;
  /** The weights of inputs. Undefined: each record comes once. */
  readonly weighing: Weighing | undefined;
  /** The number of the first pile set that this scatter makes. */
  readonly firstSet: number;
  /** The ranges of piles, one for each task. */
  readonly parts: readonly PilePart[];
}

/** The records of a job that scatters twice, but for those on its last piles. */
export interface KeptRecords {
  /** The piles of the first scatter. */
  readonly read: ScatteredPiles;
  /** The records that stay of equal ones. */
  readonly kept: Amount;
  /** The records and copies that those of each group make, and their sums. Undefined: as many. */
  readonly groups: readonly (Pick<GroupAmount, 'weighed' | 'expected'> & { readonly sum: bigint })[] | undefined;
}

/** Returns where the second scatter puts records, which tell no groups. */
export function layoutOfKept(layout: PileSetLayout): PileSetLayout {
  return { ...layout, hasSecondKeys: false };
}

/** Returns the piles with room in their longest record for the buffers of a second scatter, to plan memory with. */
export function withRoomForBuffers(piles: ScatteredPiles): ScatteredPiles {
  const bufferBytes = piles.totals.records.length * (LEAST_BUFFER_BYTES + SLACK_BYTES + TALLY_BYTES) + REGIONS_BYTES;
  return { ...piles, longestRecordBytes: piles.longestRecordBytes + bufferBytes };
}

/** Divides the piles among tasks: each takes about so many bytes of records. */
export function partsOfPiles({ totals }: ScatteredPiles, rangeBytes: number): readonly PilePart[] {
  const none = () => false;
  return planPileRanges(totals, Math.max(1, rangeBytes), none, none);
}

/** Scatters all parts that have no pile set yet. @param checkpoint undefined: the job does not outlive its process. */
export async function scatterKept(
  work: KeptWork,
  threads: Threads,
  checkpoint: CheckpointPileSets | undefined,
): Promise<ReturnType<typeof gatherKept>> {
  const { firstSet, parts, settings } = work;
  const results = checkpoint === undefined ? [] : await takeOver(work, checkpoint, threads);
  const left = [...parts.keys()].filter((part) => results[part] === undefined);
  const { layout } = settings;
  const giveName = checkpoint && ((done: DonePart) => commitIndex(layout, done));
  const take = (done: DonePart) => {
    const index = checkpoint && { path: committedIndexPath(layout.indexDirectory, done.slice) };
    results[done.slice - firstSet] = { ...done, pileSet: { ...done.pileSet, ...(index && { index }) } };
  };
  await scatterParts(work, threads, left, { giveName, take });
  return gatherKept(work, results);
}

type DonePart = KeptResult & { readonly slice: number };

type Fate = Parameters<typeof committingEach<DonePart>>[3];

/** Scatters parts, and commits each when it is done. @param fate as that of slices; `take` gets each result once. */
export function scatterParts(
  work: KeptWork,
  threads: Threads,
  parts: readonly number[],
  { take, ...fate }: Fate & { readonly take?: (done: DonePart) => void },
): Promise<void> {
  const tasks = tasksOf(work, parts, fate.giveName !== undefined);
  const slices = tasks.map(({ slice }) => slice);
  return committingEach<DonePart>(work, threads, slices, fate, (add) =>
    runVerified(threads, 'scatter-piles', tasks, work.onWarning, (result, { slice }) => {
      take?.({ ...result, slice });
      add({ ...result, slice });
    }),
  );
}

type NumberedTask = ScatterPilesTask & { readonly slice: number };

function tasksOf(work: KeptWork, parts: readonly number[], commitsPileSets: boolean): NumberedTask[] {
  const { spec, weighing, piles, firstSet, attempt } = work;
  const rule = keptRuleOf(spec);
  const contentKey = contentKeyOf(spec.keep, spec.key.seed);
  if (rule === undefined || contentKey === undefined) throw new RangeError('the job scatters its records once');
  const bufferBytes = planBufferBytes(work);
  return parts.map((part) => {
    const { first, end } = work.parts[part] ?? { first: 0, end: 0 };
    const slice = firstSet + part;
    return {
      ...pilesTask(work, `kept-${part}`),
      slice,
      first,
      end,
      expected: sumOverPiles(totalsOfRange(piles.totals, first, end)),
      pileSetName: pileSetName(slice, attempt),
      commitsPileSets,
      rule,
      weights: weighing?.groups.map(({ weight }) => weight),
      contentKey,
      bufferBytes,
    };
  });
}

/** Leaves room for the largest pile if it can, and always for the longest record and to scatter its pile again. */
function planBufferBytes({ piles, settings }: KeptWork): number {
  const { totals, longestRecordBytes } = piles;
  const { arenaBytes, readBytes, bufferBytes } = settings;
  const largest = totals.records.reduce(
    (most, records, pile) =>
      Math.max(most, (totals.recordBytes[pile] ?? 0) + (storedHeaderBytes(settings.layout) + ENTRY_BYTES) * records),
    0,
  );
  const beside = (byteLength: number) =>
    Math.floor((arenaBytes - byteLength - REGIONS_BYTES) / totals.records.length) - SLACK_BYTES - TALLY_BYTES;
  return Math.min(bufferBytes, beside(readBytes + longestRecordBytes), Math.max(WANTED_BUFFER_BYTES, beside(largest)));
}

const keptShape: Shape<KeptReport> = object({
  first: wholeNumber(),
  end: wholeNumber(),
  kept: object({ records: wholeNumber(), bytes: wholeNumber() }),
  groups: optional(list(object({ made: MADE, expected: WEIGHTS, sum: text }))),
});

/** Returns the result of a part that is done. @throws VerificationError if it is damaged. */
export function readKept(
  { settings: { layout }, parts, firstSet }: Pick<KeptWork, 'settings' | 'parts' | 'firstSet'>,
  part: number,
  isStripeDone?: (stripe: number) => boolean,
): KeptResult {
  const path = committedIndexPath(layout.indexDirectory, firstSet + part);
  const { pileSet, totals, report } = readPileSet(layout, path, isStripeDone);
  const read = readShape(keptShape, report, path);
  const { first, end } = parts[part] ?? {};
  if (read.first !== first || read.end !== end) throw new VerificationError(`the index ${path} is of other piles`);
  return { pileSet, totals, report: read };
}

async function takeOver(
  work: KeptWork,
  { isStripeDone }: CheckpointPileSets,
  { control }: Threads,
): Promise<(KeptResult | undefined)[]> {
  const { settings, firstSet, onWarning: onDamage } = work;
  const { layout } = settings;
  const results: (KeptResult | undefined)[] = [];
  const isAsked = (set = 0) => set >= firstSet;
  const read = (set: number) => readKept(work, set - firstSet, isStripeDone);
  for await (const { slice, result } of readCommittedSets({ layout, onDamage, control }, isAsked, read))
    results[slice - firstSet] = result;
  removeLeftovers(layout, new Set(results.flatMap((result) => result?.pileSet.name ?? [])), isAsked);
  return results;
}

/** Returns the piles of all parts, which must be done, and what is known of their records. */
export function gatherKept(
  { piles: read, settings, parts, weighing }: Pick<KeptWork, 'piles' | 'settings' | 'parts' | 'weighing'>,
  results: readonly (KeptResult | undefined)[],
): { readonly piles: ScatteredPiles; readonly twice: KeptRecords } {
  const totals = emptyTotals(settings.layout.pileCount);
  const kept = { records: 0, bytes: 0 };
  const groups = weighing?.groups.map(() => ({
    weighed: { records: 0, bytes: 0 },
    expected: { records: 0n, bytes: 0n },
    sum: 0n,
  }));
  const pileSets = [...parts.keys()].map((part) => {
    const result = results[part];
    if (result === undefined) throw new RangeError(`part ${part} of the second scatter is not done`);
    const { pileSet, report } = result;
    addTotals(totals, result.totals);
    addAmount(kept, report.kept);
    for (const [i, { made, expected, sum }] of (report.groups ?? []).entries()) {
      const group = groups?.[i];
      if (group === undefined) throw new RangeError(`the job has no group ${i}`);
      addAmount(group.weighed, made);
      group.expected.records += BigInt(expected.records);
      group.expected.bytes += BigInt(expected.bytes);
      group.sum += BigInt(sum);
    }
    return { name: pileSet.name, index: pileSet.index, diskBytes: pileSet.diskBytes };
  });
  return { piles: scatteredPiles(pileSets, totals, read.longestRecordBytes), twice: { read, kept, groups } };
}

function addAmount(sum: { -readonly [Name in keyof Amount]: Amount[Name] }, { records, bytes }: Amount): void {
  sum.records += records;
  sum.bytes += bytes;
}
