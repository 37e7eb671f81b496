/**
 * The scatter pass: inputs become pile sets, one task a slice. A task is a pure function of the work and the number of
 * its slice (`scatterTask`); this pass runs the tasks on threads of this process. At the end, the tasks must have read
 * every byte of every input once, and the piles must hold as many bytes.
 */
import type { ScatterSettings } from '../../workers/settings.js';
import type { ScatterResult, ScatterTask } from '../../workers/tasks/scatter-slice.js';
import { afterFailure } from '../cleanup.js';
import { VerificationError } from '../errors.js';
import { type FoundHeader, type Header, type HeaderRule, requireSameHeader } from '../formats/header.js';
import { headerRuleOf } from '../formats/record-format.js';
import { inputPart, type ReadableInputs } from '../inputs/input-part.js';
import { KeySample } from '../inputs/key-sample.js';
import { removeFile } from '../io/files.js';
import { inputName } from '../io/input-source.js';
import {
  commitPileSets,
  committedIndexPath,
  type PileSetOfSlice,
  pileSetName,
} from '../job-directory/pile-set-commits.js';
import { pileSetFiles, roleOf } from '../pile-sets/pile-layout.js';
import { addTotals, emptyTotals, type PileTotals, sumTotals } from '../pile-sets/pile-totals.js';
import type { Slice } from '../plan/slices.js';
import { type KeptPileSets, readCommittedSlices, removeLeftovers } from './committed-slices.js';
import { type CountBefore, countBeforeRanges } from './count-before-ranges.js';
import { bytesMissing, CoverageCheck } from './coverage-check.js';
import { committing, GroupCommit } from './group-commit.js';
import { onceMore } from './once-more.js';
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
  readonly onWarning: (line: string) => void;
}

/** The result of a scatter pass. */
export interface ScatterOutcome extends ScatteredPiles {
  /** The header of all inputs; undefined when they have none. */
  readonly header: Header | undefined;
  /** Where the records of each input end, in decoded bytes. */
  readonly recordEnds: Float64Array;
  /** How many pile sets an earlier attempt at the job had committed. */
  readonly resumedCount: number;
  /** What decoded the parts of inputs that this attempt read, and how many parts each. */
  readonly decoders: Readonly<Record<string, number>>;
}

/**
 * @param kept undefined: the caller commits all pile sets together, or removes them when the job ends.
 * @throws VerificationError if the slices do not tile every input, or the piles did not get every byte; InputError
 *   ERR_SAMPLE_KEY_REPEATED if a key was seen twice.
 */
export async function scatterInputs(
  work: ScatterWork,
  threads: Threads,
  kept: KeptPileSets | undefined,
): Promise<ScatterOutcome> {
  const { pool, stop, control } = threads;
  const gathered = new GatheredSlices(work);
  const resumedCount = kept === undefined ? 0 : await takeOver(work, kept, gathered, threads);
  const countBefore = await countBeforeRanges(work, threads, (slice) => gathered.has(slice));
  const left = [...work.slices.keys()].filter((slice) => !gathered.has(slice));
  const commits = kept === undefined ? undefined : commitsOf(work, gathered, threads);
  const take = (result: ScatterResult, slice: number) => {
    gathered.add(slice, result);
    control.count('finishedSlices', 1);
    commits?.add({ slice, pileSet: result.pileSet });
  };
  const scatter = async (slice: number): Promise<ScatterResult> => {
    const task = scatterTask(work, slice, countBefore);
    const scatterOnce = async () => requireScattered(await pool.run('scatter', task));
    // A stream cannot be read again.
    if (task.parts.some(({ kind }) => kind === 'stream')) return scatterOnce();
    return onceMore(() => orRemoveFiles(scatterOnce, task), work.onWarning);
  };
  await committing(commits, () => runTasks(left, scatter, take, tasksAtOnce(threads), stop));
  const { header, recordEnds, decoders } = gathered;
  return { ...gathered.piles(), header, recordEnds, decoders, resumedCount };
}

/** The task that scatters one slice. */
export function scatterTask(work: ScatterWork, slice: number, countBefore: CountBefore): ScatterTask {
  const { settings, attempt, keyOf } = work;
  const parts = (work.slices[slice] ?? []).map((part) =>
    inputPart(work, part, keyOf(part.inputOrdinal), countBefore(part)),
  );
  return { job: settings, pileSetName: pileSetName(slice, attempt), parts };
}

/** @throws VerificationError if the pile set does not hold as many bytes as were read. */
function requireScattered(result: ScatterResult): ScatterResult {
  const readBytes = result.coverage.reduce((sum, { start, end, addedBytes }) => sum + end - start + addedBytes, 0);
  const { bytes } = sumTotals(result.totals);
  if (bytes === readBytes) return result;
  throw bytesMissing(bytes, readBytes);
}

/** Removes the files of a pile set that is wrong, so that it can be made again under the same name. */
async function orRemoveFiles<T>(scatter: () => Promise<T>, { job, pileSetName: name }: ScatterTask): Promise<T> {
  try {
    return await scatter();
  } catch (error) {
    if (!(error instanceof VerificationError)) throw error;
    const { layout } = job;
    throw afterFailure(error, () => {
      for (const path of pileSetFiles(layout, name)) removeFile(path, roleOf(layout));
    });
  }
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
    const storedBytes = storedBytesOf(slices[slice] ?? []);
    control.count('scatteredBytes', storedBytes);
    control.count('resumedBytes', storedBytes);
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
  readonly #keys = new KeySample();
  /** Where the records of each input end, in decoded bytes. */
  readonly recordEnds: Float64Array;
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
    this.recordEnds = new Float64Array(inputs.length);
  }

  get header(): Header | undefined {
    return this.#firstHeader?.header;
  }

  has(slice: number): boolean {
    return this.#pileSets[slice] !== undefined;
  }

  /** @throws InputError if the header of a stream differs from the others. */
  add(slice: number, result: ScatterResult): void {
    const { pileSet, coverage, totals, longestRecordBytes, keys = [], streamHeader, decoders } = result;
    for (const [name, count] of Object.entries(decoders)) {
      this.decoders[name] = (this.decoders[name] ?? 0) + count;
    }
    if (streamHeader !== undefined) this.#addHeader(coverage[0]?.inputOrdinal ?? 0, streamHeader);
    const { name, index, diskBytes } = pileSet;
    this.#pileSets[slice] = { name, index, diskBytes };
    for (const part of coverage) {
      this.#coverage.add(part);
      this.recordEnds[part.inputOrdinal] = Math.max(this.recordEnds[part.inputOrdinal] ?? 0, part.end);
    }
    this.#keys.addAll(keys);
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

  /** @throws VerificationError if the piles do not hold all of the inputs; InputError if a key was seen twice. */
  piles(): ScatteredPiles {
    const piles = scatteredPiles(this.#pileSets, this.#totals, this.#longestRecordBytes);
    this.#coverage.verify(piles.bytes);
    this.#keys.requireEachOnce((inputOrdinal) => this.#inputs[inputOrdinal]?.path ?? '');
    return piles;
  }
}
