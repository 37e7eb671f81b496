/**
 * The scatter pass: inputs become pile sets, one task a slice. A task is a pure function of the work and the number of
 * its slice (`scatterTask`); this pass has them done on the threads of this process. In the end every input must be
 * covered without a gap or an overlap, and the piles must hold as many bytes as were read.
 */
import type { ScatterShare } from '../../workers/shares.js';
import type { ScatterResult, ScatterTask } from '../../workers/tasks/scatter-slice.js';
import { type FoundHeader, type Header, type HeaderRule, requireSameHeader } from '../formats/header.js';
import { headerRuleOf } from '../formats/record-format.js';
import { inputPart, type ReadableInputs } from '../inputs/input-part.js';
import { inputName } from '../io/input-source.js';
import {
  commitPileSets,
  committedIndexPath,
  type PileSetOfSlice,
  pileSetName,
} from '../job-directory/pile-set-commits.js';
import { addTotals, emptyTotals, type PileTotals } from '../pile-sets/pile-totals.js';
import type { Slice } from '../plan/slices.js';
import { readCommittedSlices, removeLeftovers } from './committed-slices.js';
import { type CountBefore, countBeforeRanges } from './count-before-ranges.js';
import { CoverageCheck } from './coverage-check.js';
import { committing, GroupCommit } from './group-commit.js';
import { runTasks, tasksAtOnce } from './run-tasks.js';
import { type ScatteredPileSet, type ScatteredPiles, scatteredPiles } from './scattered-piles.js';
import type { Threads } from './threads.js';

/** What a scatter pass is to do. */
export interface ScatterWork extends ReadableInputs {
  readonly slices: readonly Slice[];
  /** The generator key of an input. */
  readonly keyOf: (inputOrdinal: number) => bigint;
  readonly share: ScatterShare;
  /** Part of the names of pile sets; no other attempt at the job has the same. */
  readonly attempt: string;
}

/** How the pile sets of a job that can be resumed are committed one by one, and taken over from an earlier attempt. */
export interface KeptPileSets {
  /** Whether all piles of a stripe are written out, so that its data may be gone. */
  readonly isStripeDone: (stripe: number) => boolean;
  /** Called with one line for each pile set that is made again. */
  readonly onDamage: (line: string) => void;
}

/** What a scatter pass leaves. */
export interface ScatterOutcome extends ScatteredPiles {
  /** The header of all inputs; undefined when they have none. */
  readonly header: Header | undefined;
  /** How many pile sets an earlier attempt at the job had committed. */
  readonly resumedCount: number;
}

/**
 * @param kept undefined: the pile sets end with the job, or are committed together when all are there.
 * @throws VerificationError when the slices do not tile every input, or the piles did not get all of it.
 */
export async function scatterInputs(
  work: ScatterWork,
  threads: Threads,
  kept: KeptPileSets | undefined,
): Promise<ScatterOutcome> {
  const { pool, stop } = threads;
  const gathered = new GatheredSlices(work);
  const resumedCount = kept === undefined ? 0 : await takeOver(work, kept, gathered, threads);
  const countBefore = await countBeforeRanges(work, threads, (slice) => gathered.has(slice));
  const left = [...work.slices.keys()].filter((slice) => !gathered.has(slice));
  const commits = kept === undefined ? undefined : commitsOf(work, gathered, threads);
  const take = (result: ScatterResult, slice: number) => {
    gathered.add(slice, result);
    commits?.add({ slice, pileSet: result.pileSet });
  };
  const scatter = (slice: number) => pool.run('scatter', scatterTask(work, slice, countBefore));
  await committing(commits, () => runTasks(left, scatter, take, tasksAtOnce(threads), stop));
  return { ...gathered.piles(), header: gathered.header, resumedCount };
}

/** The task that scatters one slice. */
export function scatterTask(work: ScatterWork, slice: number, countBefore: CountBefore): ScatterTask {
  const { share, attempt, keyOf } = work;
  const parts = (work.slices[slice] ?? []).map((part) =>
    inputPart(work, part, keyOf(part.inputOrdinal), countBefore(part)),
  );
  return { job: share, pileSetName: pileSetName(slice, attempt), parts };
}

/** Takes over the pile sets that an earlier attempt committed, and removes what else it left. @returns how many. */
async function takeOver(
  { slices, inputs, share: { layout } }: ScatterWork,
  { isStripeDone, onDamage }: KeptPileSets,
  gathered: GatheredSlices,
  { control }: Threads,
): Promise<number> {
  const names = new Set<string>();
  const size = { sliceCount: slices.length, inputCount: inputs.length };
  for await (const { slice, result } of readCommittedSlices({ layout, size, isStripeDone, onDamage, control })) {
    gathered.add(slice, result);
    names.add(result.pileSet.name);
    control.count('scatteredBytes', storedBytesOf(slices[slice] ?? []));
  }
  removeLeftovers(layout, names);
  return names.size;
}

function commitsOf(
  { share: { layout } }: ScatterWork,
  gathered: GatheredSlices,
  { control, stop }: Threads,
): GroupCommit<PileSetOfSlice> {
  return new GroupCommit(
    async (pileSets) => {
      await commitPileSets(pileSets, layout, control);
      for (const { slice } of pileSets) gathered.indexMoved(slice, committedIndexPath(layout.indexDirectory, slice));
    },
    () => stop.request(),
  );
}

function storedBytesOf(slice: Slice): number {
  return slice.reduce((sum, { start, end, members }) => {
    return sum + (members === undefined ? (end ?? start) - start : members.storedEnd - members.storedStart);
  }, 0);
}

/** The results of the tasks, added up. */
class GatheredSlices {
  readonly #pileSets: ScatteredPileSet[] = [];
  readonly #totals: PileTotals;
  readonly #coverage: CoverageCheck;
  readonly #inputs: ScatterWork['inputs'];
  readonly #headerRule: HeaderRule | undefined;
  #firstHeader: FoundHeader | undefined;
  /** The input with the first header. Streams end in any order, and headers may differ in what no rule compares. */
  #firstHeaderOrdinal: number;
  #longestRecordBytes = 0;

  constructor({ inputs, firstHeader, share }: ScatterWork) {
    this.#inputs = inputs;
    this.#headerRule = share.header === undefined ? undefined : headerRuleOf(share.header);
    this.#firstHeader = firstHeader;
    this.#firstHeaderOrdinal = inputs.findIndex((input) => input.kind === 'file');
    this.#totals = emptyTotals(share.layout.pileCount);
    this.#coverage = new CoverageCheck(inputs);
  }

  get header(): Header | undefined {
    return this.#firstHeader?.header;
  }

  has(slice: number): boolean {
    return this.#pileSets[slice] !== undefined;
  }

  /** @throws InputError when the header of a stream is not the header of the others. */
  add(slice: number, { pileSet, coverage, totals, longestRecordBytes, streamHeader }: ScatterResult): void {
    if (streamHeader !== undefined) this.#addHeader(coverage[0]?.inputOrdinal ?? 0, streamHeader);
    const { name, index, diskBytes } = pileSet;
    this.#pileSets[slice] = { name, index, diskBytes };
    for (const part of coverage) this.#coverage.add(part);
    this.#longestRecordBytes = Math.max(this.#longestRecordBytes, longestRecordBytes);
    addTotals(this.#totals, totals);
  }

  #addHeader(inputOrdinal: number, header: Header): void {
    const found = { path: inputName(this.#inputs[inputOrdinal]?.path ?? ''), header };
    if (this.#headerRule === undefined) throw new RangeError('a task read a header that no option asks for');
    if (this.#firstHeader !== undefined) requireSameHeader(this.#headerRule, this.#firstHeader, found);
    if (this.#firstHeader === undefined || inputOrdinal < this.#firstHeaderOrdinal) {
      this.#firstHeader = found;
      this.#firstHeaderOrdinal = inputOrdinal;
    }
    this.#coverage.setHeader(inputOrdinal, header);
  }

  /** The index of a pile set has another name from now on. */
  indexMoved(slice: number, path: string): void {
    const pileSet = this.#pileSets[slice];
    if (pileSet !== undefined) this.#pileSets[slice] = { ...pileSet, index: { path } };
  }

  /** @throws VerificationError when they do not hold all of the inputs. */
  piles(): ScatteredPiles {
    const piles = scatteredPiles(this.#pileSets, this.#totals, this.#longestRecordBytes);
    this.#coverage.verify(piles.bytes);
    return piles;
  }
}
