/**
 * Plans and checks a shuffle of aligned files before it writes its first byte: tuples become members, with one place for all
 * outputs, and what an earlier attempt has done is found.
 */
import { dirname, join } from 'node:path';
import { UsageError } from '../errors.js';
import { nameOfCompression } from '../formats/encoder-table.js';
import { nameOfFormat } from '../formats/record-format.js';
import { loadRowFormat } from '../formats/rows/registry.js';
import { listNames, statPath } from '../io/paths.js';
import { JobDirectory } from '../job-directory/job-directory.js';
import {
  type MemberNote,
  type MembersManifest,
  readMemberNote,
  readMembersManifest,
} from '../job-directory/job-manifest.js';
import { deriveJobPaths, idOfOutput, type JobPaths } from '../job-directory/job-paths.js';
import { isHead } from '../keep/head.js';
import { DeviceGates } from '../machine/devices.js';
import { areOnOneMount } from '../machine/renames.js';
import { resumedValues } from '../options/option.js';
import { SHUFFLE_OPTIONS, type ShuffleTogetherOptions } from '../options/shuffle-options.js';
import { linesOfFiles, requireNoObstacle } from '../places/outputs/output-files.js';
import { LOCAL_PLACES_ONLY } from '../places/outputs/output-kinds.js';
import { refuseForeignFiles } from '../sources/doubtful-records.js';
import { noteInputs } from '../sources/fingerprints.js';
import { type FileInput, type Input, type Inputs, isFileInput, storedBytesOf } from '../sources/input.js';
import { listInputs } from '../sources/list-inputs.js';
import { firstRowsInput } from '../sources/rows.js';
import { nameSome } from '../values/format-numbers.js';
import { requireSpace } from './disk-space.js';
import { type KnownOutput, refusalOrEnd } from './finished-job.js';
import type { JobScope } from './job.js';
import { requireSame, withSeedOf } from './job-description.js';
import type { ShuffleRequest } from './request.js';
import { completeTogether, type TupleMember } from './together-options.js';
import { RESUMABLE_FROM_BYTES } from './work-plan.js';

/** More than text usually compresses to. */
const MOST_RATIO = 8;

export interface OpenedTupleMember extends TupleMember {
  readonly ordinal: number;
  readonly inputs: readonly FileInput[];
}

export interface PreparedTogether {
  readonly members: readonly OpenedTupleMember[];
  /** The request that the shuffles of all members have in common, with the seed of a resumed attempt. */
  readonly common: ShuffleRequest;
  /** The path as the caller named it. */
  readonly output: string;
  readonly outputPath: string;
  readonly paths: JobPaths;
  readonly directory: JobDirectory;
  readonly earlier: MembersManifest | undefined;
  readonly isResumable: boolean;
}

/** @param isDryRun whether it must change nothing on disk, as for a preview. */
export async function prepareTogether(
  options: ShuffleTogetherOptions,
  { releases }: JobScope,
  isDryRun = false,
): Promise<PreparedTogether> {
  const { members: requestedMembers, output, common } = completeTogether(options);
  const members = await openFiles(requestedMembers, common);
  const place = LOCAL_PLACES_ONLY.resolve(output, { prefixes: [], extension: '' }, false);
  if (place.kind !== 'staged' || place.to.kind !== 'shards') throw new RangeError('aligned files go into a directory');
  const { path: outputPath, exists } = place.to;
  const paths = deriveJobPaths({
    outputIdentity: JSON.stringify(['together', outputPath]),
    outputPath,
    stagingParent: dirname(outputPath),
    tempDirs: [],
    jobDir: undefined,
    hasDataInJobDir: false,
  });
  const directory = new JobDirectory(paths, isDryRun);
  releases.push(() => directory.release());
  const earlier = findEarlier(directory, paths, common);
  const spec = earlier === undefined ? common.spec : withSeedOf(earlier.spec, common);
  const job = { members, common: { ...common, spec }, output, outputPath, paths, directory, earlier };
  if (earlier === undefined) await directory.clear();
  else await requireSameMembers(earlier, job);
  const isDone =
    earlier !== undefined &&
    members.every(({ ordinal }) => isInPlace(outputPath, readMemberNote(paths.jobDirectory, ordinal)));
  if (!isDone) {
    try {
      requireEmpty(output, outputPath, exists);
    } catch (error) {
      if (!common.resume || isDryRun) throw error;
      throw await refusalOrEnd(error, knownOutput(job), async (seed) => {
        const requested = withSeedOf({ ...spec, key: { ...spec.key, seed } }, common);
        const inputs = await noteInputs(inputsOf(job), true, common.signal);
        return finishedTogether({ ...job, common: { ...common, spec: requested } }, inputs);
      });
    }
    await place.requireReplaceable(output, [], isDryRun);
  }
  if (earlier === undefined) requireRoom(job);
  return { ...job, isResumable: earlier !== undefined || common.mustBeResumable || isLarge(members) };
}

export function finishedTogether(job: TogetherParts, inputs: MembersManifest['inputs']): object {
  const { spec, output: _, ...described } = describeMembers(job);
  return [described, resumedValues(SHUFFLE_OPTIONS, spec, true), inputs];
}

export function knownOutput({ paths, outputPath }: TogetherParts): KnownOutput {
  return { id: idOfOutput(paths), lines: () => linesOfFiles(outputPath, listNames(outputPath, 'output').sort()) };
}

async function openFiles(
  members: readonly TupleMember[],
  { fileChoice, signal, spec }: ShuffleRequest,
): Promise<readonly OpenedTupleMember[]> {
  const named = members.flatMap(({ paths }) => paths);
  const folder = named.find((path) => statPath(path, 'input')?.isDirectory() === true);
  if (folder !== undefined) throw new UsageError(`\`together\` names the directory ${folder}; expected files`);
  const opened: OpenedTupleMember[] = [];
  for (const [ordinal, member] of members.entries()) {
    const { paths, format } = member;
    // The shuffle of each member warns.
    const warn = () => {};
    const requested = paths.map((path) => ({ path }));
    const listed = await listInputs(requested, warn, { ...spec.read, fileChoice, signal, format, takesRows: true });
    await requireMates(listed.inputs);
    refuseForeignFiles(listed.inputs, format, true, warn);
    opened.push({ ...member, ordinal, inputs: listed.inputs.map(requireFile) });
  }
  return opened;
}

async function requireMates(inputs: Inputs): Promise<void> {
  const first = firstRowsInput(inputs);
  if (first === undefined || (await loadRowFormat(first.rows)).hasMates) return;
  const { format } = first.rows;
  throw new UsageError(
    `${first.path} holds ${format} data, and the rows of ${format} files have no mates; convert it to lines`,
  );
}

function requireFile(input: Input): FileInput {
  if (isFileInput(input)) return input;
  throw new UsageError(
    `\`together\` names ${input.path}, which is not a regular file; save it in a file: the files are read one after the other`,
  );
}

function findEarlier(
  directory: JobDirectory,
  { jobDirectory }: JobPaths,
  { force, resume }: ShuffleRequest,
): MembersManifest | undefined {
  if ((force && !resume) || !directory.hasJobDirectory) return undefined;
  const manifest = readMembersManifest(jobDirectory);
  // A killed job that cannot be resumed is of no use.
  if (manifest?.isResumable !== true) return undefined;
  if (resume) return manifest;
  throw new UsageError(
    `an unfinished job of ${manifest.output} exists in ${jobDirectory}: give \`resume\` to resume it, or \`force\` to discard it`,
    'ERR_JOB_UNFINISHED',
  );
}

type TogetherParts = Omit<PreparedTogether, 'isResumable'>;

async function requireSameMembers(manifest: MembersManifest, job: TogetherParts): Promise<void> {
  const words = ({ spec, names, framings, compressions }: DescribedMembers) =>
    [
      ['list of members', names],
      ['kind of records', framings],
      ['compression', compressions],
      ...resumedValues(SHUFFLE_OPTIONS, spec, true),
    ] as const;
  const compared = [words(manifest), words(describeMembers(job))] as const;
  await requireSame(job.paths.jobDirectory, job.common, manifest.inputs, inputsOf(job), compared);
}

type DescribedMembers = Omit<MembersManifest, 'isResumable' | 'inputs'>;

export function describeMembers({ members, output, common: { spec } }: TogetherParts): DescribedMembers {
  return {
    spec,
    output,
    names: members.map(({ name }) => name),
    framings: members.map(({ format }) => nameOfFormat(format)),
    compressions: members.map(({ compression }) => (compression === undefined ? null : nameOfCompression(compression))),
  };
}

/** Member by member. */
export function inputsOf({ members }: TogetherParts): readonly FileInput[] {
  return members.flatMap(({ inputs }) => inputs);
}

/** The directory must be able to appear by one rename. */
function requireEmpty(output: string, outputPath: string, exists: boolean): void {
  if (!exists) return;
  const names = listNames(outputPath, 'output');
  if (names.length > 0)
    throw new UsageError(
      `the output directory ${output} holds ${nameSome(names)} already; aligned files appear together, in a directory of their own: name a new or an empty one`,
      'ERR_OUTPUT_EXISTS',
    );
  if (!areOnOneMount(outputPath, dirname(outputPath)))
    throw new UsageError(
      `the output directory ${output} is a mount point, which cannot be replaced by one step; name a new directory in it`,
      'ERR_OUTPUT_PLACE',
    );
  requireNoObstacle([outputPath], () => output);
}

/** All members must fit beside each other; the shuffle of each asks only for its own room. */
function requireRoom({ members, common, paths }: TogetherParts): void {
  const { keep, read } = common.spec;
  if (isHead(keep) || read.decompressProgram !== undefined) return;
  // A compressed input hardly ever shrinks when it is decoded.
  const plain = members.filter(({ compression }) => compression === undefined);
  const byteLength = plain.reduce((sum, { inputs }) => sum + storedBytesOf(inputs), 0);
  const need = { tempBytes: 0, outputBytes: byteLength };
  const needs = [{ directory: dirname(paths.stagingDirectory), byteLength, what: 'output' }] as const;
  requireSpace(
    { least: need, expected: need },
    () => needs,
    1,
    new DeviceGates({}),
    () => {},
  );
}

function isLarge(members: readonly OpenedTupleMember[]): boolean {
  const mostBytesOf = ({ version, codec }: FileInput) => version.byteLength * (codec === undefined ? 1 : MOST_RATIO);
  const bytes = members.flatMap(({ inputs }) => inputs.map(mostBytesOf)).reduce((sum, each) => sum + each, 0);
  return bytes >= RESUMABLE_FROM_BYTES;
}

export function isInPlace(directory: string, note: MemberNote | undefined): boolean {
  return note?.files.every(({ name, byteLength }) => hasBytes(join(directory, name), byteLength)) === true;
}

export function hasBytes(path: string, byteLength: number): boolean {
  const stat = statPath(path, 'output');
  return stat?.isFile() === true && stat.size === BigInt(byteLength);
}
