/**
 * A task of a job that keeps one of equal records, and then weighs the kept ones or puts them into splits by another value:
 * puts piles in order, which drops duplicates, and scatters what stays once more, by the final keys. It makes one pile set.
 *
 *     arena    tallies | boundary table | pile buffers | stored records of one pile | its tables
 */
import { VerificationError } from '../../src/errors.js';
import { inPhase } from '../../src/floor/phase-clock.js';
import { framingOf } from '../../src/formats/framing-table.js';
import { ONCE, type Weight } from '../../src/keep/weights.js';
import {
  addRecordTotals,
  areSameTotals,
  NO_TOTALS,
  type RecordTotals,
  subtractRecordTotals,
  sumOverPiles,
} from '../../src/piles/pile-totals.js';
import { BOUNDARY_COUNT, storedHeaderBytes } from '../../src/plan/arena-sizes.js';
import type { Coverage } from '../../src/sources/input-part.js';
import { openPileOrderer, type PilesTask } from '../piles/open-pile-orderer.js';
import { prepareKeys, prepareStoredValues } from '../piles/record-values.js';
import type { ScatterArena } from '../piles/scatter-arena.js';
import { requireNumber, requireValue, shownText } from '../read/unfit-record.js';
import { readSums, WeighedSum } from '../read/weighed-sum.js';
import type { PileSetSettings } from '../settings.js';
import { makePileSet, type ScatterResult } from './scatter-slice.js';

/** A stored record begins with its key, and then its length. */
const KEY_BYTES = 8;

export interface ScatterPilesTask extends PilesTask {
  /** Merged piles [first, end), and all that they hold. */
  readonly first: number;
  readonly end: number;
  readonly expected: RecordTotals;
  /** How the records that are kept are put on piles. */
  readonly target: PileSetSettings;
  /** No other attempt may use it. */
  readonly pileSetName: string;
  /** The generator key of the records that are kept. */
  readonly contentKey: bigint;
  /** The weights of groups of inputs; stored records tell theirs, if there are several. Undefined: each record comes once. */
  readonly weights: readonly Weight[] | undefined;
}

/** The coverage has a part for each group, whose number is in the place of an input's, of these piles. */
export function scatterPiles(task: ScatterPilesTask): Promise<ScatterResult> {
  const { job, first, end, expected, weights } = task;
  return makePileSet(task.target, task.pileSetName, async (target) => {
    const ordering = { ...task, job: { ...job, outputBytes: 0 } };
    const { order, control } = await openPileOrderer(ordering, undefined, target.window.recordStart);
    const groups = weights?.map(() => new WeighedSum());
    const emit = async (count: number) => {
      control.throwIfAborted();
      inPhase('scatter', () => scatterOrdered(task, target, count, groups));
      // The next pile is put in order by another rule.
      prepareStoredValues(target.kernel, job.content);
    };
    let dropped = NO_TOTALS;
    for (const { order: orderPile } of order.piles(first, end))
      dropped = addRecordTotals(dropped, await orderPile(emit));
    const kept = subtractRecordTotals(expected, dropped);
    const found = sumOverPiles(target.totals());
    const part = { start: first, end, inputBytes: undefined, addedBytes: 0, trailerBytes: 0 };
    const coverage: Coverage[] = groups?.map(({ records, made, expected, sums: { read, made: ofMade } }, group) => {
      const weighed = { records, made, expected, sums: { read: `${read}`, made: `${ofMade}` } };
      return { inputOrdinal: group, ...part, rowBytes: made.readBytes, weighed };
    }) ?? [{ inputOrdinal: 0, ...part, rowBytes: kept.bytes }];
    const isWhole =
      groups === undefined
        ? areSameTotals(found, kept)
        : coverage.reduce((sum, { rowBytes = 0 }) => sum + rowBytes, 0) === kept.bytes &&
          groups.reduce((sum, { records }) => sum + records, 0) === kept.records;
    if (isWhole) return { coverage };
    throw new VerificationError(
      `piles ${first} to ${end - 1} have ${kept.records} different records with ${kept.bytes} bytes, and other ones were scattered again; check the memory of this machine`,
    );
  });
}

/** Scatters the records that are in order. */
function scatterOrdered(
  { job, target: { content }, contentKey, weights = [ONCE] }: ScatterPilesTask,
  target: ScatterArena,
  count: number,
  groups: readonly WeighedSum[] | undefined,
): void {
  const { kernel, table } = target;
  const { wasm } = kernel;
  const { hasSecondKeys = false } = job.layout;
  const values = content?.values ?? [];
  const delimiterBytes = (job.framing && framingOf(job.framing).delimiter?.byteLength) ?? 0;
  const placeOf = (address: number) => {
    const byteLength = kernel.view.getUint32(address - storedHeaderBytes(job.layout) + KEY_BYTES, true);
    return `the record ${shownText(kernel.bytes.subarray(address, address + byteLength))}, kept of equal ones,`;
  };
  target.resume();
  prepareKeys(kernel, content, true);
  for (const [group, weight] of weights.entries()) {
    wasm.setCopies(weight.copies, weight.chance);
    wasm.clearSums();
    const sum = groups?.[group];
    if (sum !== undefined) wasm.weighEach();
    for (let index = 0; index < count; index += BOUNDARY_COUNT) {
      wasm.useSecondKeys(hasSecondKeys, false);
      const marked = wasm.markOrdered(index, Math.min(BOUNDARY_COUNT, count - index), BigInt(group), table) >>> 0;
      wasm.useSecondKeys(false, false);
      wasm.scatterRecords(table, marked, 0, 0n, contentKey);
      for (const use of values) requireValue({ kernel, table, delimiterBytes }, use, placeOf);
      requireNumber(kernel, values, placeOf, weight);
      if (sum !== undefined) sum.records += marked;
    }
    if (sum === undefined) continue;
    sum.add(wasm);
    const { read, made } = readSums(kernel);
    sum.sums = { read: sum.sums.read + read, made: sum.sums.made + made };
  }
  wasm.useSecondKeys(hasSecondKeys, false);
}
