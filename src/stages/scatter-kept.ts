/**
 * The second scatter of a job that keeps one of equal records, and then weighs the kept ones or puts them into splits by
 * another value: tasks order the piles, drop duplicates, and scatter what stays by its final keys. A slice is a range of piles
 * here, and has a number after those of the slices of inputs.
 */
import type { ShuffleSettings } from '../../workers/settings.js';
import type { ScatterResult } from '../../workers/tasks/scatter-slice.js';
import { VerificationError } from '../errors.js';
import { pileSetName } from '../job-directory/pile-set-commits.js';
import { keptRuleOf } from '../keep/content-rule.js';
import { contentKeyOf } from '../keep/distinct.js';
import type { GroupAmount, Weighing } from '../keep/mix.js';
import { type Amount, addAmounts, addTotals, emptyTotals, sumOverPiles, totalsOfRange } from '../piles/pile-totals.js';
import { ENTRY_BYTES, SLACK_BYTES, storedHeaderBytes, TALLY_BYTES } from '../plan/arena-sizes.js';
import { planPileRanges } from '../plan/pile-ranges.js';
import type { ShuffleSpec } from '../spec.js';
import { GroupAmounts } from './pass1-results.js';
import { runTasks, tasksAtOnce } from './run-tasks.js';
import { committingEach, type SliceFate, type TakeSlice, takeVerified } from './scatter-slices.js';
import {
  bytesOfPart,
  type PilePart,
  type PilesWork,
  pilesTask,
  type ScatteredPiles,
  scatteredPiles,
} from './shuffle-work.js';
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
  /** The number of the first slice of piles. */
  readonly firstSlice: number;
  readonly parts: readonly PilePart[];
}

/** The records of a job that scatters twice, but for those on its last piles. */
export interface KeptRecords {
  /** The piles of the first scatter. */
  readonly read: ScatteredPiles;
  /** The records that stay of equal ones. */
  readonly kept: Amount;
  /** The kept records of each group, and what they make. Undefined: the inputs have no weights. */
  readonly groups: readonly GroupAmount[] | undefined;
}

/** Returns the piles with room in their longest record for the buffers of a second scatter, to plan memory with. */
export function withRoomForBuffers(piles: ScatteredPiles): ScatteredPiles {
  const bufferBytes = piles.totals.records.length * (LEAST_BUFFER_BYTES + SLACK_BYTES + TALLY_BYTES) + REGIONS_BYTES;
  return { ...piles, longestRecordBytes: piles.longestRecordBytes + bufferBytes };
}

/** Returns how the records of the second scatter are put in order: none of them is dropped, and none tells its group. */
export function settingsOfKept({ layout, content, ...settings }: ShuffleSettings): ShuffleSettings {
  return {
    ...settings,
    layout: { ...layout, hasSecondKeys: false },
    content: content && { ...content, isDistinct: false },
  };
}

/** Divides the piles among tasks: each takes about so many bytes of records. */
export function partsOfPiles({ totals }: ScatteredPiles, rangeBytes: number): readonly PilePart[] {
  const none = () => false;
  return planPileRanges(totals, Math.max(1, rangeBytes), none, none);
}

/** Scatters slices of piles, and commits each when it is done. */
export function scatterKept(
  work: KeptWork,
  threads: Threads,
  slices: readonly number[],
  fate: SliceFate,
): Promise<void> {
  const { spec, weighing, piles, parts, firstSlice, settings, attempt, onWarning } = work;
  const { pool, stop, control } = threads;
  const contentKey = contentKeyOf(spec.keep, spec.key.seed);
  if (contentKey === undefined) throw new RangeError('the job scatters its records once');
  const commitsPileSets = fate.giveName !== undefined;
  const rest = { bufferBytes: planBufferBytes(work), readBytes: 0, commitsPileSets, content: keptRuleOf(spec) };
  const target = { ...settingsOfKept(settings), ...rest };
  const weights = weighing?.groups.map(({ weight }) => weight);
  const run = (slice: number) => {
    const { first, end } = parts[slice - firstSlice] ?? { first: 0, end: 0 };
    const expected = sumOverPiles(totalsOfRange(piles.totals, first, end));
    const ofPiles = { ...pilesTask(work, `kept-${slice}`), first, end, expected };
    const name = pileSetName(slice, attempt);
    const task = { ...ofPiles, target, pileSetName: name, contentKey, weights };
    return takeVerified(target.layout, name, () => pool.run('scatter-piles', task), onWarning);
  };
  const scatter = (take: TakeSlice) => {
    const done: TakeSlice = (result, slice) => {
      control.count('orderedBytes', bytesOfPart(piles.totals, parts[slice - firstSlice]));
      take(result, slice);
    };
    return runTasks(slices, run, done, tasksAtOnce(threads), stop);
  };
  return committingEach(work, threads, slices, fate, scatter);
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

/** Returns the state after the second scatter. @param results of all parts, each of which must have read its piles. */
export function gatherKept<From extends { readonly piles: ScatteredPiles }>(
  { parts, weighing, firstSlice }: KeptWork,
  from: From,
  results: readonly (ScatterResult | undefined)[],
): From & { readonly twice: KeptRecords } {
  const { piles: read } = from;
  const totals = emptyTotals(read.totals.records.length);
  const groups = weighing && new GroupAmounts({ ...weighing, groupOf: [...weighing.groups.keys()] });
  const pileSets = parts.map(({ first, end }, part) => {
    const { coverage = [], totals: more, pileSet } = results[part] ?? {};
    const isOfPart = coverage.every((each) => each.start === first && each.end === end);
    if (pileSet === undefined || more === undefined || !isOfPart)
      throw new VerificationError(
        `pile set ${firstSlice + part} of the second scatter is not of piles ${first} to ${end - 1}; start the job again`,
      );
    addTotals(totals, more);
    for (const each of coverage) groups?.add(each);
    return { name: pileSet.name, index: pileSet.index, diskBytes: pileSet.diskBytes };
  });
  const piles = scatteredPiles(pileSets, totals, read.longestRecordBytes);
  const kept = groups?.amounts.map((group) => group.read).reduce(addAmounts) ?? piles;
  return { ...from, piles, twice: { read, kept, groups: groups?.amounts } };
}
