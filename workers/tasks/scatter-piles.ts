/**
 * A task of a job that keeps one of equal records, and then weighs the kept ones or puts them into splits by another value:
 * puts piles in order, which drops duplicates, and scatters what stays once more, by the final keys. It makes one pile set.
 *
 *     arena    tallies | boundary table | pile buffers | stored records of one pile | its tables
 */
import { VerificationError } from '../../src/errors.js';
import { thenAlwaysAsync } from '../../src/floor/cleanup.js';
import { inPhase } from '../../src/floor/phase-clock.js';
import { framingOf } from '../../src/formats/framing-table.js';
import { removeFile } from '../../src/io/files.js';
import type { ContentRule } from '../../src/keep/content-rule.js';
import { ONCE, type Weight } from '../../src/keep/weights.js';
import { pileSetFiles, roleOf } from '../../src/piles/pile-layout.js';
import { type PileSet, PileSetWriter } from '../../src/piles/pile-set-writer.js';
import {
  type Amount,
  addRecordTotals,
  areSameTotals,
  NO_TOTALS,
  type PileTotals,
  type RecordTotals,
  subtractRecordTotals,
  sumOverPiles,
} from '../../src/piles/pile-totals.js';
import { BOUNDARY_COUNT, storedHeaderBytes } from '../../src/plan/arena-sizes.js';
import { openPileOrderer, type PilesTask } from '../piles/open-pile-orderer.js';
import { prepareKeys, prepareStoredValues } from '../piles/record-values.js';
import { ScatterArena } from '../piles/scatter-arena.js';
import { readSums, shownText } from '../read/field-sum.js';
import { requireNumber, requireValue } from '../read/unfit-record.js';
import { WeighedSum } from '../read/weighed-sum.js';
import { pileStateOf } from '../thread-state.js';

/** A stored record begins with its key, and then its length. */
const KEY_BYTES = 8;

export interface ScatterPilesTask extends PilesTask {
  /** Merged piles [first, end), and all that they hold. */
  readonly first: number;
  readonly end: number;
  readonly expected: RecordTotals;
  /** No other attempt may use it. */
  readonly pileSetName: string;
  readonly commitsPileSets: boolean;
  /** How records that are kept get their keys, and the generator key of these. */
  readonly rule: ContentRule;
  readonly contentKey: bigint;
  /** The weights of groups of inputs; stored records tell theirs, if there are several. Undefined: each record comes once. */
  readonly weights: readonly Weight[] | undefined;
  readonly bufferBytes: number;
}

/** The report of a task on its piles. The index of a committed pile set stores it for a later attempt at the job. */
export interface KeptReport {
  readonly first: number;
  readonly end: number;
  /** The records that stay of equal ones. */
  readonly kept: Amount;
  /**
   * The records and copies that those of each group make, the sums of their weights, and `made` of `ReadSums`. Absent: each comes
   * once.
   */
  readonly groups?: readonly (Pick<WeighedSum, 'made' | 'expected'> & { readonly sum: string })[] | undefined;
}

export interface KeptResult {
  readonly pileSet: PileSet;
  readonly totals: PileTotals;
  readonly report: KeptReport;
}

export async function scatterPiles(task: ScatterPilesTask): Promise<KeptResult> {
  const { job, pileSetName: name } = task;
  const { layout } = job;
  const { control, hasher, compressor, ramPool } = await pileStateOf(job);
  const indexInFile = task.commitsPileSets;
  const writer = new PileSetWriter({ name, layout, ramPool, indexInFile, hasher, compressor, control });
  try {
    return await thenAlwaysAsync(
      () => scatterKept(task, writer),
      () => writer.close(),
    );
  } catch (error) {
    // The task may be done once more.
    for (const path of pileSetFiles(layout, name)) removeFile(path, roleOf(layout));
    throw error;
  }
}

async function scatterKept(task: ScatterPilesTask, writer: PileSetWriter): Promise<KeptResult> {
  const { job, first, end, expected, rule, bufferBytes } = task;
  const { arena } = await pileStateOf(job);
  const { pileCount } = job.layout;
  const sizes = { pileCount, bufferBytes, windowBytes: 0, keyScale: 1n, content: rule };
  const target = new ScatterArena(arena, writer, sizes);
  const { order, control } = await openPileOrderer(
    { ...task, job: { ...job, outputBytes: 0 } },
    async () => {},
    target.window.recordStart,
  );
  const groups = task.weights?.map(() => new WeighedSum());
  const emit = async (count: number) => {
    control.throwIfAborted();
    inPhase('scatter', () => scatterOrdered(task, target, count, groups));
    // The next pile is put in order by another rule.
    prepareStoredValues(target.kernel, job.content);
  };
  let dropped = NO_TOTALS;
  for (const { order: orderPile } of order.piles(first, end)) {
    dropped = addRecordTotals(dropped, await orderPile(emit));
  }
  const kept = subtractRecordTotals(expected, dropped);
  const found = sumOverPiles(target.totals());
  const sumOf = (name: keyof WeighedSum['made']) => groups?.reduce((sum, { made }) => sum + made[name], 0);
  const isWhole =
    groups === undefined
      ? areSameTotals(found, kept)
      : sumOf('records') === found.records && sumOf('bytes') === found.bytes && sumOf('readBytes') === kept.bytes;
  if (!isWhole)
    throw new VerificationError(
      `piles ${first} to ${end - 1} have ${kept.records} different records with ${kept.bytes} bytes, and other ones were scattered again; check the memory of this machine`,
    );
  const report: KeptReport = {
    first,
    end,
    kept: { records: kept.records, bytes: kept.bytes },
    groups: groups?.map(({ made, expected: weights, sum }) => ({ made, expected: weights, sum: `${sum}` })),
  };
  const committed = target.commit(task.commitsPileSets ? report : null);
  control.count('orderedBytes', expected.bytes);
  return { ...committed, report };
}

/** Scatters the records that are in order. */
function scatterOrdered(
  { job, rule, contentKey, weights = [ONCE] }: ScatterPilesTask,
  target: ScatterArena,
  count: number,
  groups: readonly WeighedSum[] | undefined,
): void {
  const { kernel, table } = target;
  const { wasm } = kernel;
  const { hasSecondKeys = false } = job.layout;
  const delimiterBytes = (job.framing && framingOf(job.framing).delimiter?.byteLength) ?? 0;
  const placeOf = (address: number) => {
    const byteLength = kernel.view.getUint32(address - storedHeaderBytes(job.layout) + KEY_BYTES, true);
    return `the record ${shownText(kernel.bytes.subarray(address, address + byteLength))}, kept of equal ones,`;
  };
  target.resume();
  prepareKeys(kernel, rule, true);
  for (const [group, weight] of weights.entries()) {
    wasm.setCopies(weight.copies, weight.chance);
    wasm.clearSums();
    if (groups !== undefined) wasm.weighEach();
    for (let index = 0; index < count; index += BOUNDARY_COUNT) {
      wasm.useSecondKeys(hasSecondKeys);
      const marked = wasm.markOrdered(index, Math.min(BOUNDARY_COUNT, count - index), BigInt(group), table) >>> 0;
      wasm.useSecondKeys(false);
      wasm.scatterRecords(table, marked, 0, 0n, contentKey);
      for (const use of rule.values) requireValue({ kernel, table, delimiterBytes }, use, placeOf);
      requireNumber(kernel, rule.values, placeOf, weight);
    }
    const sum = groups?.[group];
    if (sum === undefined) continue;
    sum.add(wasm);
    sum.sum += readSums(kernel).made;
  }
  wasm.useSecondKeys(hasSecondKeys);
}
