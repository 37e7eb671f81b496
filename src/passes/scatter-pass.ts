/**
 * The scatter pass: inputs become pile sets, one task a slice. A task is a pure function of the work and the number of
 * its slice (`scatterTask`); this pass runs the tasks on threads of this process. At the end, the tasks must have read
 * every byte of every input once, and the piles must hold as many bytes.
 */
import type { ScatterSettings } from '../../workers/settings.js';
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
import { type KeptPileSets, readCommittedSlices, removeLeftovers } from './committed-slices.js';
import { type CountBefore, countBeforeRanges } from './count-before-ranges.js';
import { CoverageCheck } from './coverage-check.js';
import { committing, GroupCommit } from './group-commit.js';
import { runTasks, tasksAtOnce } from './run-tasks.js';
import { type ScatteredPileSet, type ScatteredPiles, scatteredPiles } from './scattered-piles.js';
import type { Threads } from './threads.js';

/** The work of a scatter pass. */
export interface ScatterWork extends ReadableInputs {
  readonly slices: readonly Slice[];
  /** The generator key of an input. */
  readonly keyOf: (inputOrdinal: number) => bigint;
  readonly settings: ScatterSettings;
  /** Part of the names of pile sets, unique to this attempt at the job. */
  readonly attempt: string;
}

/** The result of a scatter pass. */
export interface ScatterOutcome extends ScatteredPiles {
  /** The header of all inputs; undefined when they have none. */
  readonly header: Header | undefined;
  /** How many pile sets an earlier attempt at the job had committed. */
  readonly resumedCount: number;
  /** What decoded the parts of inputs that this attempt read, and how many parts each. */
  readonly decoders: Readonly<Record<string, number>>;
}

/**
 * @param kept undefined: the caller commits all pile sets together, or removes them when the job ends.
 * @throws VerificationError if the slices do not tile every input, or the piles did not get every byte.
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
  return { ...gathered.piles(), header: gathered.header, decoders: gathered.decoders, resumedCount };
}

/** The task that scatters one slice. */
export function scatterTask(work: ScatterWork, slice: number, countBefore: CountBefore): ScatterTask {
  const { settings, attempt, keyOf } = work;
  const parts = (work.slices[slice] ?? []).map((part) =>
    inputPart(work, part, keyOf(part.inputOrdinal), countBefore(part)),
  );
  return { job: settings, pileSetName: pileSetName(slice, attempt), parts };
}

/** Takes over the committed pile sets of an earlier attempt, and removes its other files. @returns the number of pile sets. */
async function takeOver(
  { slices, inputs, settings: { layout } }: ScatterWork,
  kept: KeptPileSets,
  gathered: GatheredSlices,
  { control }: Threads,
): Promise<number> {
  const names = new Set<string>();
  const size = { sliceCount: slices.length, inputCount: inputs.length };
  for await (const { slice, result } of readCommittedSlices({ ...kept, layout, size, control })) {
    gathered.add(slice, result);
    names.add(result.pileSet.name);
    control.count('scatteredBytes', storedBytesOf(slices[slice] ?? []));
  }
  removeLeftovers(layout, names);
  return names.size;
}

function commitsOf(
  { settings: { layout } }: ScatterWork,
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
  readonly decoders: Record<string, number> = {};
  readonly #pileSets: ScatteredPileSet[] = [];
  readonly #totals: PileTotals;
  readonly #coverage: CoverageCheck;
  readonly #inputs: ScatterWork['inputs'];
  readonly #headerRule: HeaderRule | undefined;
  #firstHeader: FoundHeader | undefined;
  /** The input with the first header. Streams end in any order, and headers may differ in parts that no rule compares. */
  #firstHeaderOrdinal: number;
  #longestRecordBytes = 0;

  constructor({ inputs, firstHeader, settings }: ScatterWork) {
    this.#inputs = inputs;
    this.#headerRule = settings.header === undefined ? undefined : headerRuleOf(settings.header);
    this.#firstHeader = firstHeader;
    this.#firstHeaderOrdinal = inputs.findIndex((input) => input.kind === 'file');
    this.#totals = emptyTotals(settings.layout.pileCount);
    this.#coverage = new CoverageCheck(inputs);
  }

  get header(): Header | undefined {
    return this.#firstHeader?.header;
  }

  has(slice: number): boolean {
    return this.#pileSets[slice] !== undefined;
  }

  /** @throws InputError if the header of a stream differs from the others. */
  add(slice: number, { pileSet, coverage, totals, longestRecordBytes, streamHeader, decoders }: ScatterResult): void {
    for (const [name, count] of Object.entries(decoders)) {
      this.decoders[name] = (this.decoders[name] ?? 0) + count;
    }
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

  /** Notes the new path of the index of a pile set. */
  indexMoved(slice: number, path: string): void {
    const pileSet = this.#pileSets[slice];
    if (pileSet !== undefined) this.#pileSets[slice] = { ...pileSet, index: { path } };
  }

  /** @throws VerificationError if the piles do not hold all of the inputs. */
  piles(): ScatteredPiles {
    const piles = scatteredPiles(this.#pileSets, this.#totals, this.#longestRecordBytes);
    this.#coverage.verify(piles.bytes);
    return piles;
  }
}
