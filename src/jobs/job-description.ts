/**
 * Writes the manifest of a job, and compares it when a later attempt resumes the job. The manifest has everything that
 * decides the bytes of the output and the paths of files. Options that change only the speed may differ.
 */
import type { ValueRule } from '../../workers/settings.js';
import { InputError, START_ANEW_ADVICE, UsageError } from '../errors.js';
import { nameOfCompression } from '../formats/encoder-table.js';
import { LINES } from '../formats/framing-table.js';
import { nameOfFormat } from '../formats/record-format.js';
import { findInputChange, noteInputs } from '../inputs/fingerprints.js';
import { describeInputIds, type InputIds } from '../inputs/ids.js';
import type { Input } from '../inputs/list-inputs.js';
import type { Weighing } from '../inputs/weigh-inputs.js';
import type { JobManifest } from '../job-directory/job-manifest.js';
import type { ShardRule } from '../plan/shard-cuts.js';
import type { OutputRequest, ShuffleRequest } from './request.js';
import { type FilesSite, realTempDirsOf } from './site.js';
import { noteShareWeights } from './weigh-job.js';
import type { KeptLayout } from './work-plan.js';

type DescribedRequest = OutputRequest & Pick<ShuffleRequest, keyof typeof NO_RULES | 'seed' | 'skipsBlank'>;

export interface DescribedJob {
  readonly request: DescribedRequest;
  readonly inputs: readonly Input[];
  readonly inputIds: InputIds;
  readonly weighing?: Weighing | undefined;
}

export interface DescribedPlan {
  readonly isResumable: boolean;
  readonly layout: KeptLayout | undefined;
}

/** The order of the fields is the order in the file. */
export async function describeJob(
  job: DescribedJob,
  { isResumable, layout }: DescribedPlan,
  site: FilesSite,
  removesJobDirectory: boolean,
): Promise<JobManifest> {
  const { request, inputs } = job;
  return {
    isResumable,
    seed: request.seed,
    ...describeRecords(job),
    shareWeights: request.shares && job.weighing && noteShareWeights(job.weighing),
    ...describeOutput(request, site),
    splitBy: describeRule(request.splitBy),
    removesJobDirectory,
    tempDirs: describeTempDirs(site),
    inputs: await noteInputs(inputs, isResumable, request.signal),
    layout: layout ?? null,
  };
}

/** The manifest of a job that reads a store or makes its records: it only says whose files these are. */
export function describeWithoutInputs(
  request: OutputRequest,
  seed: string,
  site: FilesSite,
  removesJobDirectory: boolean,
): Promise<JobManifest> {
  const noInputs = { request: { ...NO_RULES, ...request, seed }, inputs: [], inputIds: undefined };
  return describeJob(noInputs, { isResumable: false, layout: undefined }, site, removesJobDirectory);
}

const NO_RULES = {
  framing: LINES,
  header: undefined,
  decompressProgram: undefined,
  keys: 'position',
  mixWords: [],
  shares: undefined,
  unique: false,
  uniqueBy: undefined,
  splitBy: undefined,
  signal: undefined,
} as const;

function describeRecords({
  request,
  inputIds,
}: DescribedJob): Pick<
  JobManifest,
  'inputIds' | 'keys' | 'framing' | 'decompressProgram' | 'weights' | 'unique' | 'uniqueBy'
> {
  const { decompressProgram, keys, mixWords, unique, uniqueBy } = request;
  return {
    unique: unique || undefined,
    uniqueBy: describeRule(uniqueBy),
    inputIds: describeInputIds(inputIds),
    keys: keys === 'position' ? undefined : keys,
    framing: nameOfFormat(request),
    decompressProgram: decompressProgram === undefined ? null : [...decompressProgram],
    weights: mixWords.length === 0 ? undefined : [...mixWords],
  };
}

function keepsOf({ unique }: Pick<JobManifest, 'unique'>): string {
  return unique === true ? 'one is kept' : 'all are kept';
}

function describeOutput(
  { headCount, shards, shardPrefix, splits, compression }: OutputRequest,
  { output }: FilesSite,
): Pick<JobManifest, 'headCount' | 'shards' | 'shardPrefix' | 'splits' | 'compression' | 'output'> {
  return {
    headCount,
    shards: describeShards(shards),
    shardPrefix,
    splits: describeSplits(splits),
    compression: compression === undefined ? null : nameOfCompression(compression),
    output: output.path,
  };
}

export function describeSplits(splits: OutputRequest['splits']): JobManifest['splits'] {
  return splits?.map(({ rule, shards }) => ({
    name: rule.name,
    amount: 'share' in rule ? `${rule.share}` : 'records' in rule ? `${rule.records} records` : 'rest',
    shards: JSON.stringify(describeShards(shards)),
  }));
}

function describeRule(rule: Pick<ValueRule, 'selector' | 'missing'> | undefined): JobManifest['uniqueBy'] {
  return rule === undefined ? undefined : { field: rule.selector.text, missing: rule.missing };
}

/** Empty if they follow from the job directory. */
function describeTempDirs(site: FilesSite): string[] {
  return site.keepsDataInJobDir ? [] : realTempDirsOf(site.paths);
}

export function describeShards(shards: ShardRule | undefined): JobManifest['shards'] {
  switch (shards?.by) {
    case 'count':
      return { by: 'count', amount: shards.shardCount };
    case 'records':
      return { by: 'records', amount: shards.recordsPerShard };
    case 'bytes':
      return { by: 'bytes', amount: shards.maxShardBytes };
    default:
      return null;
  }
}

type DescribedCuts = Pick<JobManifest, 'shards' | 'splits'>;

/** Leaves out the amounts that may turn out to be impossible: such a job may be resumed with others. */
function withoutAmounts({ shards, splits }: DescribedCuts): DescribedCuts {
  const without = (rule: JobManifest['shards']) =>
    rule === null || rule.by === 'count' ? rule : { ...rule, amount: 0 };
  return {
    shards: without(shards),
    splits: splits?.map((split) => ({ ...split, shards: JSON.stringify(without(JSON.parse(split.shards))) })),
  };
}

/** Returns the manifest, with the cuts of the request. `isCut`: a part of the output is written, or its place noted. */
export async function requireSameJob(
  manifest: JobManifest,
  job: DescribedJob & { readonly request: Pick<ShuffleRequest, 'isSeedDrawn'> },
  site: FilesSite,
  isCut: boolean,
): Promise<JobManifest> {
  const { request, inputs } = job;
  const now = { ...describeRecords(job), ...describeOutput(request, site), tempDirs: describeTempDirs(site) };
  const [cutsThen, cutsNow] = isCut ? [manifest, now] : [withoutAmounts(manifest), withoutAmounts(now)];
  await requireSame(site.paths.jobDirectory, request, manifest.inputs, inputs, [
    ['seed', manifest.seed, request.isSeedDrawn ? manifest.seed : request.seed],
    ['kind of records', manifest.framing, now.framing],
    ['kind of keys', manifest.keys ?? 'position', now.keys ?? 'position'],
    ['program to decompress', manifest.decompressProgram, now.decompressProgram],
    ['number of records', manifest.headCount ?? 'all', now.headCount ?? 'all'],
    ['list of weights', manifest.weights ?? 'none', now.weights ?? 'none'],
    ['rule for equal records', keepsOf(manifest), keepsOf(now)],
    ['cut into shards', cutsThen.shards, cutsNow.shards],
    ['prefix', manifest.shardPrefix, now.shardPrefix],
    ['list of splits', cutsThen.splits ?? 'none', cutsNow.splits ?? 'none'],
    ['selector of splits', manifest.splitBy ?? 'none', describeRule(request.splitBy) ?? 'none'],
    ['selector of equal records', manifest.uniqueBy ?? 'none', now.uniqueBy ?? 'none'],
    ['compression', manifest.compression, now.compression],
    ['output', manifest.output, now.output],
    ['list of temp directories', manifest.tempDirs, now.tempDirs],
    ['number of inputs', manifest.inputs.count, inputs.length],
    ['list of input ids', manifest.inputIds, now.inputIds],
  ]);
  return { ...manifest, shards: now.shards, splits: now.splits };
}

/** Refuses to resume a job that started with other options, or whose inputs have changed. */
export async function requireSame(
  jobDirectory: string,
  { signal }: Pick<ShuffleRequest, 'signal'>,
  noted: JobManifest['inputs'],
  inputs: readonly Input[],
  pairs: readonly (readonly [what: string, then: unknown, now: unknown])[],
): Promise<void> {
  for (const [what, ...values] of pairs) {
    const [before, after] = values.map((value) => JSON.stringify(value));
    if (before === after) continue;
    throw new UsageError(
      `the unfinished job in ${jobDirectory} started with another ${what} (${before}, now ${after}); give the same to resume it, or \`force\` without \`resume\` to discard it`,
      'ERR_JOB_DIFFERS',
    );
  }
  const changed = await findInputChange(noted, inputs, signal);
  if (changed === undefined) return;
  const input = inputs[changed.ordinal];
  throw new InputError(
    'ERR_INPUT_CHANGED',
    `${input === undefined ? '' : `${input.path}: `}the input changed since the unfinished job in ${jobDirectory} started (${changed.change}); ${START_ANEW_ADVICE}`,
  );
}
