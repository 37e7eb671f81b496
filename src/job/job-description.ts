/**
 * Writes the manifest of a job, and compares it when a later attempt resumes the job. The manifest has everything that
 * decides the bytes of the output and the paths of files. Options that change only the speed may differ.
 */
import { join } from 'node:path';
import { InputError, START_ANEW_ADVICE, UsageError } from '../errors.js';
import { damagedFileError } from '../io/sealed-file.js';
import { type JobManifest, MANIFEST_NAME } from '../job-directory/job-manifest.js';
import type { Weighing } from '../keep/mix.js';
import { resumedValues } from '../options/option.js';
import { SHUFFLE_OPTIONS } from '../options/shuffle-options.js';
import { withCompanions } from '../sources/companions.js';
import { findInputChange, noteInputs } from '../sources/fingerprints.js';
import { describeInputIds, type InputIds } from '../sources/ids.js';
import type { Inputs } from '../sources/input.js';
import type { OutputSpec, ShuffleSpec } from '../spec.js';
import { type FilePlaces, realTempDirsOf } from './job-places.js';
import type { ShuffleRequest } from './request.js';
import type { NotedLayout } from './work-plan.js';

export interface DescribedJob {
  readonly request: { readonly spec: ShuffleSpec | OutputSpec; readonly signal?: AbortSignal | undefined };
  readonly inputs: Inputs;
  readonly inputIds: InputIds;
  readonly weighing?: Weighing | undefined;
  readonly companions?: Inputs | undefined;
  readonly plan: { readonly isResumable: boolean; readonly layout: NotedLayout | undefined };
}

/** The inputs of a job that reads a store: its manifest only says whose files these are. */
export const WITHOUT_INPUTS: Omit<DescribedJob, 'request'> = {
  inputs: [],
  inputIds: undefined,
  plan: { isResumable: false, layout: undefined },
};

export async function describeJob(
  { request: { spec, signal }, inputs, inputIds, weighing, companions, plan }: DescribedJob,
  places: FilePlaces,
  removesJobDirectory: boolean,
): Promise<JobManifest> {
  const { isResumable, layout = null } = plan;
  const hasShares = 'read' in spec && spec.keep.mix.shares !== undefined;
  return {
    spec,
    output: places.output.path,
    tempDirs: tempDirsOf(places),
    removesJobDirectory,
    isResumable,
    inputIds: describeInputIds(inputIds),
    // A later attempt need not count again.
    shareWeights: hasShares ? weighing?.groups.map(({ weight, amount }) => ({ weight, amount })) : undefined,
    inputs: await noteInputs(withCompanions(inputs, companions), isResumable, signal),
    layout,
  };
}

/** Empty if they follow from the job directory. */
function tempDirsOf(places: FilePlaces): string[] {
  return places.tempChoice === 'jobDir' ? [] : realTempDirsOf(places.paths);
}

type Words = readonly (readonly [what: string, value: unknown])[];

/** Returns the requested spec. If its seed was drawn, it has that of the earlier attempt. */
export function withSeedOf(
  earlier: ShuffleSpec,
  { spec, isSeedDrawn }: Pick<ShuffleRequest, 'spec' | 'isSeedDrawn'>,
): ShuffleSpec {
  return isSeedDrawn ? { ...spec, key: { ...spec.key, seed: earlier.key.seed } } : spec;
}

export type ManifestOfShuffle = JobManifest & { readonly spec: ShuffleSpec };

/** Its inputs have their companions with them. */
export interface ComparedJob extends Pick<DescribedJob, 'inputs' | 'inputIds'> {
  readonly request: Pick<ShuffleRequest, 'spec' | 'signal' | 'isSeedDrawn'>;
}

/** Returns the manifest, with the cuts of the request. `isCut`: a part of the output is written, or its place noted. */
export async function requireSameJob(
  manifest: JobManifest,
  { request, inputs, inputIds }: ComparedJob,
  places: FilePlaces,
  isCut: boolean,
): Promise<ManifestOfShuffle> {
  const { jobDirectory } = places.paths;
  const spec = requireSpec(manifest, jobDirectory);
  const specWithSeed = withSeedOf(spec, request);
  const now = { output: places.output.path, tempDirs: tempDirsOf(places), inputIds: describeInputIds(inputIds) };
  await requireSame(jobDirectory, request, manifest.inputs, inputs, [
    [...resumedValues(SHUFFLE_OPTIONS, spec, isCut), ...wordsOfPlace(manifest)],
    [...resumedValues(SHUFFLE_OPTIONS, specWithSeed, isCut), ...wordsOfPlace(now)],
  ]);
  return {
    ...manifest,
    spec: { ...spec, cut: { ...specWithSeed.cut, splitBy: spec.cut.splitBy, each: spec.cut.each } },
  };
}

/** A seal shows that bytes are as they were written, not who wrote them: a spec that cannot be put in words is damaged. */
function requireSpec({ spec }: JobManifest, jobDirectory: string): ShuffleSpec {
  try {
    if ('read' in spec && typeof spec.key.seed === 'string' && resumedValues(SHUFFLE_OPTIONS, spec, true).length > 0)
      return spec;
  } catch (error) {
    if (!(error instanceof TypeError)) throw error;
  }
  throw damagedFileError(join(jobDirectory, MANIFEST_NAME), 'expected the spec of a shuffle in it');
}

function wordsOfPlace({ output, tempDirs, inputIds }: Pick<JobManifest, 'output' | 'tempDirs' | 'inputIds'>): Words {
  return [
    ['output', output],
    ['list of temp directories', tempDirs],
    ['list of input ids', inputIds],
  ];
}

/** Everything that decides the bytes of a job that has ended. */
export function finishedJob({
  spec,
  inputIds,
  inputs,
}: Pick<JobManifest, 'inputIds' | 'inputs'> & { readonly spec: ShuffleSpec }): object {
  return [resumedValues(SHUFFLE_OPTIONS, spec, true), inputIds, inputs];
}

/** Returns what `finishedJob` does, for a job that is asked for. @param seed its seed, if it has drawn one. */
export async function jobWithSeed({ request, inputs, inputIds }: ComparedJob, seed: string): Promise<object> {
  const { spec, isSeedDrawn, signal } = request;
  const specWithSeed = withSeedOf({ ...spec, key: { ...spec.key, seed } }, { spec, isSeedDrawn });
  const noted = await noteInputs(inputs, true, signal);
  return finishedJob({ spec: specWithSeed, inputIds: describeInputIds(inputIds), inputs: noted });
}

/** Refuses to resume a job that started with other options, or whose inputs have changed. */
export async function requireSame(
  jobDirectory: string,
  { signal }: Pick<ShuffleRequest, 'signal'>,
  noted: JobManifest['inputs'],
  inputs: Inputs,
  [then, now]: readonly [then: Words, now: Words],
): Promise<void> {
  const requireEqual = (what: string, ...values: readonly unknown[]) => {
    const [before = 'null', after = 'null'] = values.map((value) => JSON.stringify(value));
    if (before === after) return;
    throw new UsageError(
      `the unfinished job in ${jobDirectory} started with another ${what} (${before}, now ${after}); give the same to resume it, or \`force\` without \`resume\` to discard it`,
      'ERR_JOB_DIFFERS',
    );
  };
  for (const [i, [what, value]] of then.entries()) requireEqual(what, value, now[i]?.[1]);
  requireEqual('number of inputs', noted.count, inputs.length);
  const changed = await findInputChange(noted, inputs, signal);
  if (changed === undefined) return;
  const input = inputs.at(changed.ordinal);
  throw new InputError(
    'ERR_INPUT_CHANGED',
    `${input === undefined ? '' : `${input.path}: `}the input changed since the unfinished job in ${jobDirectory} started (${changed.change}); ${START_ANEW_ADVICE}`,
  );
}
