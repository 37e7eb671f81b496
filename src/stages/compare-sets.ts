/**
 * Compares sets of records, in two passes. The first reads every record and tallies it. If the tallies differ, the
 * second reads again and compares the records of the slots that differ, one by one. Neither writes anything.
 */

import type { FoundPlace, FoundRecords } from '../../workers/tasks/find-records.js';
import type { SetSettings, TalliedRecords } from '../../workers/tasks/tally-records.js';
import type { FoundHeader } from '../formats/header.js';
import type { Slice } from '../plan/slices.js';
import { MAX_SHOWN_PLACES, SlotTally } from '../plan/slot-tally.js';
import { type InputPart, inputPart } from '../sources/input-part.js';
import { CoverageCheck } from './coverage-check.js';
import { runTasks, tasksAtOnce } from './run-tasks.js';
import { type CountBefore, countByteBeforeParts, type SlicedInputs } from './start-states.js';
import type { Threads } from './threads.js';

export interface RecordSet extends SlicedInputs {
  readonly settings: SetSettings;
}

export interface TalliedSet {
  readonly tally: SlotTally;
  /** The header of the first input, if there are headers. */
  readonly header: FoundHeader | undefined;
}

export async function tallySets(sets: readonly RecordSet[], threads: Threads): Promise<readonly TalliedSet[]> {
  const tallied = sets.map((set) => ({
    tally: new SlotTally(),
    check: new CoverageCheck(set.inputs),
    header: set.firstHeader,
  }));
  const tally = ({ settings, parts }: PartsOfSet) => threads.pool.run('tally-records', { job: settings, parts });
  const take = (result: TalliedRecords, { set, parts: [part] }: PartsOfSet) => {
    const ofSet = tallied[set];
    if (ofSet === undefined) throw new RangeError(`there is no set ${set}`);
    ofSet.tally.add(result);
    if (result.streamHeader !== undefined && part !== undefined) {
      ofSet.check.setHeader(part.inputOrdinal, result.streamHeader);
      ofSet.header ??= { path: part.path, header: result.streamHeader };
    }
    for (const covered of result.coverage) ofSet.check.add(covered);
  };
  await runTasks(await partsOf(sets, threads), tally, take, tasksAtOnce(threads), threads.stop);
  return tallied.map(({ tally: whole, check, header }) => {
    check.verify(whole.bytes);
    return { tally: whole, header };
  });
}

/** Equal records, of all sets. */
export interface ComparedRecord extends Pick<FoundRecords, 'byteLength' | 'excerpt'> {
  /** The number in each set, and the places of the first. */
  readonly inSets: readonly { readonly count: number; readonly places: readonly FoundPlace[] }[];
}

/** Returns those records of the wanted slots that do not come equally often in all sets. */
export async function findDifferences(
  sets: readonly RecordSet[],
  wanted: Uint8Array,
  threads: Threads,
): Promise<readonly ComparedRecord[]> {
  const compared = new Map<string, ComparedRecord & { readonly inSets: { count: number; places: FoundPlace[] }[] }>();
  const find = ({ settings, parts }: PartsOfSet) => threads.pool.run('find-records', { job: settings, parts, wanted });
  const take = (found: readonly FoundRecords[], { set }: PartsOfSet) => {
    for (const { digest, count, byteLength, excerpt, places } of found) {
      let record = compared.get(digest);
      if (record === undefined) {
        record = { byteLength, excerpt, inSets: sets.map(() => ({ count: 0, places: [] })) };
        compared.set(digest, record);
      }
      const ofSet = record.inSets[set];
      if (ofSet === undefined) throw new RangeError(`there is no set ${set}`);
      ofSet.count += count;
      ofSet.places = [...ofSet.places, ...places].sort(comparePlaces).slice(0, MAX_SHOWN_PLACES);
    }
  };
  await runTasks(await partsOf(sets, threads), find, take, tasksAtOnce(threads), threads.stop);
  return [...compared.values()].filter(({ inSets: [first, ...others] }) =>
    others.some(({ count }) => count !== first?.count),
  );
}

export function comparePlaces(a: FoundPlace, b: FoundPlace): number {
  return a.inputOrdinal - b.inputOrdinal || a.position - b.position;
}

interface PartsOfSet {
  readonly set: number;
  readonly settings: SetSettings;
  readonly parts: readonly InputPart[];
}

async function partsOf(sets: readonly RecordSet[], threads: Threads): Promise<Iterable<PartsOfSet>> {
  const countsBefore: CountBefore[] = [];
  for (const set of sets) countsBefore.push(await countByteBeforeParts(set, threads, () => false));
  // Keys play no part in a comparison.
  const read = (set: RecordSet, slice: Slice, i: number) =>
    slice.map((part) => inputPart(set, part, 0n, countsBefore[i]?.(part) ?? 0));
  return (function* () {
    for (const [i, set] of sets.entries())
      for (const slice of set.slices) yield { set: i, settings: set.settings, parts: read(set, slice, i) };
  })();
}
