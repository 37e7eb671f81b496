/**
 * What the phases of a job are expected to cost: by the sizes that the plan knows, and then by those that pass 1 found.
 */
import type { Input } from '../inputs/list-inputs.js';
import type { ScatterOutcome } from '../passes/scatter-pass.js';
import { STORED_HEADER_BYTES } from '../plan/arena-sizes.js';
import type { TimedJob } from '../plan/expected-time.js';
import { costsOfPass1, costsOfPass2, costsOfShuffle, type PhaseCost, unknownCosts } from '../plan/phase-costs.js';
import { staysInMemory } from '../plan/pile-levels.js';
import type { EarlierAttempt } from './earlier-attempt.js';
import type { ShuffleRequest } from './request.js';
import {
  type Amount,
  divisionOf,
  expectedFiles,
  type JobAmounts,
  type JobShape,
  levelsWith,
  longestTaskShare,
  type StoredFile,
  timedJob,
  usualDecoding,
  usualEncoding,
  workBetween,
} from './timed-job.js';
import type { ScatterPlan, WorkPlan } from './work-plan.js';

/** What decides the output of a job, and so its costs. */
interface CostlyOutput {
  readonly request: Pick<
    ShuffleRequest,
    'headCount' | 'repeat' | 'compression' | 'unique' | 'shards' | 'splits' | 'header' | 'duplicates'
  >;
  readonly site: { readonly kind: 'files' | 'stream' };
}

interface CostlyShuffle extends CostlyOutput {
  readonly inputsToRead: readonly Input[];
  readonly plan: ScatterPlan;
  readonly isCounted: boolean;
  /** Undefined: the job starts anew. */
  readonly earlier: Pick<EarlierAttempt, 'distinctNote'> | undefined;
}

/** The sizes of a job that its passes find. */
export interface FoundSizes {
  /** Of the inputs. */
  readonly storedBytes: number;
  readonly read: Amount;
  /** With all copies. */
  readonly onPiles: Amount;
  /** What stays of them where equal records are dropped. */
  readonly kept: Amount;
}

const NOTHING: Amount = { bytes: 0, records: 0 };

/**
 * The sizes that pass 1 has found. With weights, what it read is more or less than what it put on piles and left out.
 * @param kept what stays of its piles.
 */
export function foundSizes(
  all: Pick<ScatterOutcome, 'bytes' | 'records' | 'leftOut' | 'recordEnds'>,
  storedBytes: number,
  kept: Amount,
): FoundSizes {
  const madeBytes = all.bytes + all.leftOut.bytes;
  const bytes = all.recordEnds.reduce((sum, end) => sum + end, 0);
  const records = ((all.records + all.leftOut.records) * bytes) / Math.max(1, madeBytes);
  return { storedBytes, read: { bytes, records }, onPiles: all, kept };
}

/** Of a shuffle whose plan knows the size of records by samples alone. */
export function expectShuffle(job: CostlyShuffle): readonly PhaseCost[] {
  const sizes = expectedSizes(job.plan);
  return sizes === undefined ? unknownPhases(job) : expectOfSizes(job, sizes);
}

function unknownPhases({
  request,
  isCounted,
  earlier,
}: Pick<CostlyShuffle, 'request' | 'isCounted' | 'earlier'>): readonly PhaseCost[] {
  const counted = isCounted ? (['count'] as const) : [];
  return unknownCosts([...counted, 'scatter', ...workBetween(request, earlier), 'shuffle', 'commit']);
}

/** An output without end is never done by half, and no time is left to its end. */
function isEndless({ repeat, headCount }: Pick<ShuffleRequest, 'repeat' | 'headCount'>): boolean {
  return repeat && headCount === undefined;
}

/** The same for sizes that are known. */
export function expectOfSizes(job: CostlyShuffle, sizes: FoundSizes): readonly PhaseCost[] {
  const { request, site, inputsToRead, plan, isCounted, earlier } = job;
  if (isEndless(request)) return unknownPhases(job);
  const amounts = amountsOf(request, sizes, inputsToRead, staysInMemory(plan.memory));
  const between = workBetween(request, earlier);
  const isCompared = request.unique;
  const shape = { ...shapeOf(plan, inputsToRead, sizes.onPiles), isCounted, isCompared, between };
  return costsOfShuffle(timedJob(amounts, shape), site.kind === 'files');
}

/** The same before the job is planned, while its inputs are counted. @param workers threads of the job. */
export function expectCounted(
  { request, site }: CostlyOutput,
  inputs: readonly Input[],
  workers: number,
  storedBytes: number,
  read: Amount,
): readonly PhaseCost[] {
  if (isEndless(request)) return unknownPhases({ request, isCounted: true, earlier: undefined });
  const amounts = amountsOf(request, { storedBytes, read, onPiles: read, kept: read }, inputs, false);
  const shape = { threads: workers, tasks: workers, segments: 0, longestTaskShare: 0, levels: 1, ...ALL_LEFT };
  const between = workBetween(request, undefined);
  const job = { ...shape, inputFiles: inputs.length, isCounted: true, isCompared: request.unique, between };
  return costsOfShuffle(timedJob(amounts, job), site.kind === 'files');
}

/** Adding to a store: pass 1 and a commit. */
export function expectAppend(inputs: readonly Input[], plan: ScatterPlan): readonly PhaseCost[] {
  const sizes = expectedSizes(plan);
  if (sizes === undefined) return unknownCosts(['scatter', 'commit']);
  const amounts = amountsOf(NO_OUTPUT, sizes, inputs, false);
  return costsOfPass1(timedJob(amounts, shapeOf(plan, inputs, sizes.onPiles)), storedBytesOf(sizes.onPiles));
}

const NO_OUTPUT = { headCount: 0, repeat: false, compression: undefined, shards: undefined, splits: undefined };

/** Reading a store: pass 2 and a commit. */
export function expectStoreShuffle(job: {
  readonly request: Omit<AmountsRequest, 'repeat'>;
  readonly site: CostlyOutput['site'];
  readonly plan: WorkPlan;
}): readonly PhaseCost[] {
  const { request, site, plan } = job;
  const { recordBytes, meanRecordBytes } = plan.memoryNeed;
  const stored = { bytes: recordBytes, records: recordBytes / meanRecordBytes };
  const sizes = { storedBytes: 0, read: NOTHING, onPiles: stored, kept: stored };
  const amounts = amountsOf({ ...request, repeat: false }, sizes, [], false);
  const shape = {
    ...divisionOf(plan, amounts.tempBytes, 0),
    ...{ inputFiles: 0, longestTaskShare: 0, levels: levelsWith(plan, stored), ...ALL_LEFT },
  };
  return costsOfPass2(
    timedJob(amounts, { ...shape, isCounted: false, isCompared: false, between: [] }),
    site.kind === 'files',
  );
}

const ALL_LEFT: Pick<TimedJob, 'shareLeft'> = { shareLeft: { pass1: 1, pass2: 1 } };

type AmountsRequest = Pick<ShuffleRequest, 'headCount' | 'repeat' | 'compression' | 'shards' | 'splits'>;

function amountsOf(
  { headCount, repeat, compression, shards, splits }: AmountsRequest,
  { storedBytes, read, onPiles, kept }: FoundSizes,
  inputs: readonly Input[],
  isHeld: boolean,
): JobAmounts {
  const output = repeat || (headCount ?? kept.records) < kept.records ? someOf(kept, headCount ?? kept.records) : kept;
  return {
    ...{ storedBytes, read, onPiles, output },
    writtenBytes: output.bytes,
    tempBytes: isHeld ? 0 : storedBytesOf(onPiles),
    outputFiles: expectedFiles({ shards, splits }, output) ?? 1,
    decodeSeconds: read.bytes * usualDecoding(storedFilesOf(inputs)),
    encodeSeconds: output.bytes * usualEncoding(compression),
  };
}

function storedFilesOf(inputs: readonly Input[]): readonly StoredFile[] {
  return inputs.flatMap((input) => {
    if (input.kind !== 'file') return [];
    return [{ byteLength: input.version.byteLength, codec: input.codec?.name }];
  });
}

function shapeOf(plan: ScatterPlan, inputs: readonly Input[], onPiles: Amount): JobShape {
  const storedBytesAt = (ordinal: number) => {
    const input = inputs[ordinal];
    return input?.kind === 'file' ? input.version.byteLength : 0;
  };
  return {
    ...divisionOf(plan, storedBytesOf(onPiles), plan.slices.length),
    inputFiles: inputs.length,
    longestTaskShare: longestTaskShare(plan.slices, inputs, storedBytesAt),
    levels: levelsWith(plan, onPiles),
    isCounted: false,
    isCompared: false,
    between: [],
    ...ALL_LEFT,
  };
}

function expectedSizes({ inputBytes, readBytes, memoryNeed }: ScatterPlan): FoundSizes | undefined {
  if (inputBytes === undefined) return undefined;
  const amount = (bytes: number) => ({ bytes, records: bytes / memoryNeed.meanRecordBytes });
  const onPiles = amount(memoryNeed.recordBytes);
  return { storedBytes: inputBytes, read: amount(readBytes), onPiles, kept: onPiles };
}

function storedBytesOf({ bytes, records }: Amount): number {
  return bytes + STORED_HEADER_BYTES * records;
}

/** So many records of the mean length. */
function someOf({ bytes, records }: Amount, count: number): Amount {
  return { records: count, bytes: (count * bytes) / Math.max(1, records) };
}
