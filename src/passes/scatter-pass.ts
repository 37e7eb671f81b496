/**
 * Pass 1, as the coordinator sees it: one task a slice, and the totals of the merged piles.
 */

import type { InputPart } from '../../workers/read/input-part.js';
import type { ScatterShare } from '../../workers/tasks/job-share.js';
import type { ScatterResult, ScatterTask } from '../../workers/tasks/scatter.js';
import { type FoundHeader, type Header, type HeaderRule, requireSameHeader } from '../formats/header.js';
import { headerRuleOf } from '../formats/record-format.js';
import { inputIdOf } from '../inputs/ids.js';
import { inputName } from '../io/input-source.js';
import { UNGATED } from '../job-control.js';
import {
  commitPileSets,
  committedIndexPath,
  type PileSetOfSlice,
  pileSetName,
} from '../job-directory/pile-set-commits.js';
import { deriveInputKey } from '../keys.js';
import type { PileTotals } from '../plan/pile-ranges.js';
import type { Slice, SlicePart } from '../plan/slices.js';
import { readCommittedSlices, removeLeftovers } from './committed-slices.js';
import { type CountBefore, countBeforeRanges } from './count-before-ranges.js';
import { committing, GroupCommit } from './group-commit.js';
import type { JobContext, ScatteredPileSet, ScatteredPiles } from './job-context.js';
import { runTasks } from './run-tasks.js';
import { CoverageCheck } from './verify.js';

/**
 * Scatters the slices that no earlier run of the job has.
 * @throws VerificationError when what the slices read does not tile every input, or was not all scattered.
 */
export async function scatterInputs(job: JobContext<ScatterShare>): Promise<ScatteredPiles> {
  const { layout } = job.share;
  const { slices } = job.plan;
  const gathered = new GatheredSlices(job);
  const names = new Set<string>();
  if (job.kept !== undefined) {
    const { isRemoved } = job.kept;
    const size = { sliceCount: slices.length, inputCount: job.inputs.length };
    const query = { layout, size, isRemoved, onDamage: job.onWarning, control: job.control };
    for await (const { slice, result } of readCommittedSlices(query)) {
      gathered.add(slice, result);
      names.add(result.pileSet.name);
      job.control.count('scatteredBytes', storedBytesOf(slices[slice] ?? []));
    }
    removeLeftovers(layout, names);
  }

  const countBefore = await countBeforeRanges(job, (slice) => gathered.has(slice));
  function* tasks(): Generator<{ slice: number; task: ScatterTask }> {
    for (const [slice, sliceParts] of slices.entries()) {
      if (gathered.has(slice)) continue;
      const parts = sliceParts.map((part) => inputPart(job, part, countBefore));
      yield { slice, task: { job: job.share, pileSetName: pileSetName(slice, job.attempt), parts } };
    }
  }
  const commits = job.kept === undefined ? undefined : commitsOf(job, gathered);
  const take = (result: ScatterResult, { slice }: { slice: number }) => {
    gathered.add(slice, result);
    commits?.add({ slice, pileSet: result.pileSet });
  };
  await committing(commits, () =>
    runTasks(tasks(), ({ task }) => job.pool.scatter(task), take, 2 * job.pool.threadCount, job.stop),
  );
  return gathered.all(names.size);
}

function commitsOf(job: JobContext<ScatterShare>, gathered: GatheredSlices): GroupCommit<PileSetOfSlice> {
  const { layout } = job.share;
  return new GroupCommit(
    async (pileSets) => {
      await commitPileSets(pileSets, layout, job.control);
      for (const { slice } of pileSets) gathered.indexMoved(slice, committedIndexPath(layout.indexDirectory, slice));
    },
    () => job.stop.request(),
  );
}

function storedBytesOf(slice: Slice): number {
  return slice.reduce((sum, { start, end, members }) => {
    return sum + (members === undefined ? (end ?? start) - start : members.storedEnd - members.storedStart);
  }, 0);
}

/** What the tasks of pass 1 gave, added up. */
class GatheredSlices {
  readonly #pileSets: ScatteredPileSet[] = [];
  readonly #totals: PileTotals;
  readonly #coverage: CoverageCheck;
  readonly #inputs: JobContext['inputs'];
  readonly #headerRule: HeaderRule | undefined;
  #firstHeader: FoundHeader | undefined;
  /** The input that it was found in. Streams end in any order, and headers may differ in what no rule compares. */
  #firstHeaderOrdinal: number;
  #longestRecordBytes = 0;

  constructor({ plan, inputs, share, firstHeader }: JobContext<ScatterShare>) {
    this.#inputs = inputs;
    this.#headerRule = share.header === undefined ? undefined : headerRuleOf(share.header);
    this.#firstHeader = firstHeader;
    this.#firstHeaderOrdinal = inputs.findIndex((input) => input.kind === 'file');
    const { pileCount } = plan.memory;
    this.#totals = {
      records: new Float64Array(pileCount),
      recordBytes: new Float64Array(pileCount),
      checksums: new BigUint64Array(pileCount),
    };
    this.#coverage = new CoverageCheck(inputs);
  }

  has(slice: number): boolean {
    return this.#pileSets[slice] !== undefined;
  }

  /** @throws InputError when the header of a stream is not that of the others. */
  add(slice: number, { pileSet, coverage, tallies, longestRecordBytes, streamHeader }: ScatterResult): void {
    if (streamHeader !== undefined) this.#addHeader(coverage[0]?.inputOrdinal ?? 0, streamHeader);
    const { name, index, diskBytes } = pileSet;
    this.#pileSets[slice] = { name, index, diskBytes };
    for (const part of coverage) this.#coverage.add(part);
    this.#longestRecordBytes = Math.max(this.#longestRecordBytes, longestRecordBytes);
    const totals = this.#totals;
    for (let pile = 0; pile < totals.records.length; pile++) {
      totals.records[pile] = (totals.records[pile] ?? 0) + (tallies.records[pile] ?? 0);
      totals.recordBytes[pile] = (totals.recordBytes[pile] ?? 0) + (tallies.recordBytes[pile] ?? 0);
      // The array keeps sums modulo 2^64.
      totals.checksums[pile] = (totals.checksums[pile] ?? 0n) + (tallies.checksums[pile] ?? 0n);
    }
  }

  #addHeader(inputOrdinal: number, header: Header): void {
    const found = { path: inputName(this.#inputs[inputOrdinal]?.path ?? ''), header };
    if (this.#headerRule === undefined) throw new RangeError('a header was read that nobody asked for');
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

  /** @throws VerificationError when it is not all of the inputs. */
  all(takenOverCount: number): ScatteredPiles {
    const totals = this.#totals;
    const bytes = totals.recordBytes.reduce((sum, recordBytes) => sum + recordBytes, 0);
    this.#coverage.verify(bytes);
    return {
      pileSets: this.#pileSets,
      totals,
      records: totals.records.reduce((sum, records) => sum + records, 0),
      bytes,
      checksum: BigInt.asUintN(
        64,
        totals.checksums.reduce((sum, checksum) => sum + checksum, 0n),
      ),
      longestRecordBytes: this.#longestRecordBytes,
      header: this.#firstHeader?.header,
      tempBytes: this.#pileSets.reduce((sum, pileSet) => sum + pileSet.diskBytes, 0),
      takenOverCount,
    };
  }
}

function inputPart(job: JobContext<ScatterShare>, part: SlicePart, countBefore: CountBefore): InputPart {
  const { inputOrdinal, start, end, members } = part;
  const input = job.inputs[inputOrdinal];
  if (input === undefined) throw new RangeError(`the plan names input ${inputOrdinal}, which does not exist`);
  const { path } = input;
  const inputKey = deriveInputKey(job.seed, inputIdOf(job.inputIds, inputOrdinal));
  if (input.kind === 'stream') {
    return { kind: 'stream', inputOrdinal, path, inputKey, firstHeader: job.firstHeader };
  }
  const { version, codec } = input;
  const headerBytes = input.header.byteLength;
  const gate = job.inputGates[inputOrdinal] ?? UNGATED;
  const file = { inputOrdinal, path, inputKey, headerBytes, version, gate };
  if (codec !== undefined && members !== undefined)
    return { kind: 'members', ...file, codec: codec.name, start, end: end ?? members.decodedEnd, members };
  if (codec !== undefined) return { kind: 'compressed', ...file, codec: codec.name };
  const range = { start, end: end ?? version.byteLength, countBefore: countBefore(part) };
  return { kind: 'range', ...file, ...range };
}
