/**
 * Shuffles aligned files: the members of tuples, each under the same permutation.
 *
 *     plan      tuples -> members, names, one place for all outputs          prepareTogether
 *     shuffle   each member by itself, with all threads and all memory       a whole shuffle, into staging
 *     check     as many records in the files of a tuple, the same names      between the passes of each member but the first
 *     commit    all outputs in one directory, which appears by one rename    #appear
 *
 * Keys come from ordinals, so record i of all files of a tuple has one key: only the counts must agree, and the names
 * if records have names. A shuffled member stays in the staging directory for a later attempt, with a note of it in the
 * job directory.
 */
import { dirname, join } from 'node:path';
import { AbortError, InputError, PileshufError, setUnfinishedJob, UsageError } from '../errors.js';
import { nameOfCompression } from '../formats/encoder-table.js';
import { framingOf } from '../formats/framing-table.js';
import { nameOfFormat } from '../formats/record-format.js';
import { refuseForeignFiles } from '../inputs/doubtful-records.js';
import { noteInputs } from '../inputs/fingerprints.js';
import { type Input, listInputs } from '../inputs/list-inputs.js';
import { makeOwnDirectory } from '../io/directories.js';
import { byteLengthOf, moveDirectoryIntoPlace, moveIntoPlace, openToOthers, syncPath } from '../io/durable.js';
import { listNames, nameExists, statPath } from '../io/paths.js';
import { JobDirectory, type JobFate } from '../job-directory/job-directory.js';
import { deriveJobPaths, type JobPaths } from '../job-directory/job-paths.js';
import {
  type MemberNote,
  type MembersManifest,
  memberName,
  readMemberNote,
  readMembersManifest,
  writeMemberNote,
  writeMembersManifest,
} from '../job-directory/members-manifest.js';
import { DeviceGates } from '../machine/devices.js';
import { areOnOneMount } from '../machine/renames.js';
import { PERHAPS_DONE, requireNoObstacle, requireReplaceable, resolveOutput } from '../output/output-place.js';
import { shardNames } from '../output/shard-names.js';
import { checksumTextOf } from '../pile-sets/pile-totals.js';
import type { Tuning } from '../plan/memory-plan.js';
import { nameSome } from '../quantity.js';
import { needsAtSite, requireSpace } from './disk-space.js';
import { findOtherNames, type NamedReads } from './find-other-names.js';
import { type JobScope, runJob } from './job.js';
import { requireSame, withSeedOf, wordsOf } from './job-description.js';
import { canNeverResume } from './job-files.js';
import type { MemberProgress, ShuffleOptions, ShuffleTogetherOptions, ShuffleTogetherReport } from './options.js';
import { shuffleCounted } from './shuffle.js';
import { reportShards } from './split-report.js';
import { tempDirOfEnvironment } from './temp-disks.js';
import { completeTogether, type Member, namingOfMember, type TogetherRequest } from './together-options.js';
import { RESUMABLE_FROM_BYTES } from './work-plan.js';

/** More than text usually compresses to. */
const MOST_RATIO = 8;
/** In the staging directory: the outputs under their names, before the directory gets its own name. */
const GATHERED_NAME = 'shards';

/**
 * Puts aligned files (mates of reads, parallel text, features and labels) into one uniformly random order, so that their
 * records stay aligned.
 *
 * @param tuning sizes for tests; they do not change the output.
 * @throws PileshufError as `shuffle`; InputError ERR_COUNTS_DIFFER if the files of a tuple have different numbers of
 *   records; ERR_NAMES_DIFFER if their reads have other names.
 */
export async function shuffleTogether(
  options: ShuffleTogetherOptions,
  tuning: Partial<Tuning> = {},
): Promise<ShuffleTogetherReport> {
  const { value, seconds } = await runJob(options, async (scope) => {
    const job = await prepareTogether(completeTogether(options), scope);
    return new TogetherJob(job, options, tuning).run(scope);
  });
  return { ...value, seconds: { total: seconds } };
}

interface PreparedTogether {
  /** With the seed of a resumed attempt. */
  readonly request: TogetherRequest;
  readonly inputs: readonly Input[];
  readonly outputPath: string;
  readonly paths: JobPaths;
  readonly directory: JobDirectory;
  readonly earlier: MembersManifest | undefined;
  readonly isResumable: boolean;
}

/** @param isLook whether nothing may change, as for a preview. */
export async function prepareTogether(
  asked: TogetherRequest,
  { releases }: JobScope,
  isLook = false,
): Promise<PreparedTogether> {
  const { members, output, common } = asked;
  const inputs = await openFiles(asked);
  const place = resolveOutput(output, { prefixes: [], extension: '' }, false);
  if (place.kind !== 'shards') throw new RangeError('aligned files go into a directory');
  const outputPath = place.path;
  const paths = deriveJobPaths({
    outputIdentity: JSON.stringify(['together', outputPath]),
    outputPath,
    outputDirectory: dirname(outputPath),
    tempDirs: [],
    jobDir: undefined,
    keepsDataInJobDir: false,
  });
  const directory = new JobDirectory(paths, isLook);
  releases.push(() => directory.release());
  const earlier = findEarlier(directory, paths, asked);
  if (earlier === undefined) await directory.clear();
  else await requireSameMembers(earlier, asked, inputs, paths);
  const isDone =
    earlier !== undefined &&
    members.every((_, member) => isInPlace(outputPath, readMemberNote(paths.jobDirectory, member)));
  if (!isDone) {
    requireEmpty(output, outputPath, place.exists, common.resume);
    requireReplaceable(place, output, []);
  }
  if (earlier === undefined) requireRoom(asked, inputs, paths.stagingDirectory);
  const request =
    earlier === undefined ? asked : { ...asked, common: { ...common, spec: withSeedOf(earlier.spec, common) } };
  const isResumable = earlier !== undefined || common.mustBeResumable || isLarge(inputs);
  return { request, inputs, outputPath, paths, directory, earlier, isResumable };
}

/** The inputs come member by member. */
async function openFiles({ members, common }: TogetherRequest): Promise<readonly Input[]> {
  const named = members.flatMap(({ paths }) => paths.map((path) => ({ path })));
  const folder = named.find(({ path }) => statPath(path, 'input')?.isDirectory() === true);
  if (folder !== undefined) throw new UsageError(`\`together\` names the directory ${folder.path}; expected files`);
  const inputs: Input[] = [];
  for (const { paths, format } of members) {
    // The shuffle of each member warns.
    const warn = () => {};
    const asked = paths.map((path) => ({ path }));
    const { fileChoice, signal, spec } = common;
    const listed = await listInputs(asked, warn, { ...spec.read, fileChoice, signal, format });
    refuseForeignFiles(listed.inputs, format, warn);
    inputs.push(...listed.inputs);
  }
  const stream = inputs.find(({ kind }) => kind !== 'file');
  if (stream === undefined) return inputs;
  throw new UsageError(
    `\`together\` names ${stream.path}, which is not a regular file; save it in a file: the files are read one after the other`,
  );
}

function findEarlier(
  directory: JobDirectory,
  { jobDirectory }: JobPaths,
  { common }: TogetherRequest,
): MembersManifest | undefined {
  const discards = common.force && !common.resume;
  if (discards || !directory.hasJobDirectory) return undefined;
  const manifest = readMembersManifest(jobDirectory);
  // A killed job that cannot be resumed is of no use.
  if (manifest?.isResumable !== true) return undefined;
  if (common.resume) return manifest;
  throw new UsageError(
    `an unfinished job of ${manifest.output} exists in ${jobDirectory}: give \`resume\` to resume it, or \`force\` to discard it`,
    'ERR_JOB_UNFINISHED',
  );
}

async function requireSameMembers(
  manifest: MembersManifest,
  request: TogetherRequest,
  inputs: readonly Input[],
  { jobDirectory }: JobPaths,
): Promise<void> {
  const words = ({ spec, names, framings, compressions }: DescribedMembers) =>
    [
      ['list of members', names],
      ['kind of records', framings],
      ['compression', compressions],
      ...wordsOf(spec, true),
    ] as const;
  const now = { ...describeMembers(request), spec: withSeedOf(manifest.spec, request.common) };
  await requireSame(jobDirectory, request.common, manifest.inputs, inputs, [words(manifest), words(now)]);
}

type DescribedMembers = Omit<MembersManifest, 'isResumable' | 'inputs'>;

function describeMembers({ members, output, common: { spec } }: TogetherRequest): DescribedMembers {
  return {
    spec,
    output,
    names: members.map(({ name }) => name),
    framings: members.map(({ format }) => nameOfFormat(format)),
    compressions: members.map(({ compression }) => (compression === undefined ? null : nameOfCompression(compression))),
  };
}

/** The directory must be able to appear by one rename. */
function requireEmpty(output: string, outputPath: string, exists: boolean, resume: boolean): void {
  if (!exists) return;
  const names = listNames(outputPath, 'output');
  if (names.length > 0)
    throw new UsageError(
      `the output directory ${output} holds ${nameSome(names)} already${resume ? PERHAPS_DONE : ''}; aligned files appear together, in a directory of their own: name a new or an empty one`,
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
function requireRoom({ members, common }: TogetherRequest, inputs: readonly Input[], stagingDirectory: string): void {
  const { keep, read } = common.spec;
  if (keep.headCount !== undefined || read.decompressProgram !== undefined) return;
  const outputBytes = inputs.reduce((sum, input, i) => {
    const member = members[Math.floor(i / (inputs.length / members.length))];
    // A compressed input hardly ever shrinks when it is decoded.
    return sum + (input.kind === 'file' && member?.compression === undefined ? input.version.byteLength : 0);
  }, 0);
  const need = { tempBytes: 0, outputBytes };
  const site = { tempDirs: [], outputDirectory: dirname(stagingDirectory) };
  const needsOf = (each: typeof need) => needsAtSite(each, site);
  requireSpace({ least: need, expected: need }, needsOf, 1, new DeviceGates({}), () => {});
}

function isLarge(inputs: readonly Input[]): boolean {
  const bytes = inputs.reduce((sum, input) => {
    if (input.kind !== 'file') return sum;
    return sum + input.version.byteLength * (input.codec === undefined ? 1 : MOST_RATIO);
  }, 0);
  return bytes >= RESUMABLE_FROM_BYTES;
}

function isInPlace(directory: string, note: MemberNote | undefined): boolean {
  return note?.files.every(({ name, byteLength }) => hasBytes(join(directory, name), byteLength)) === true;
}

function hasBytes(path: string, byteLength: number): boolean {
  const stat = statPath(path, 'output');
  return stat?.isFile() === true && stat.size === BigInt(byteLength);
}

/** The options of the shuffle of a member, but for its output. */
export function optionsOfMember(
  { isResumable, request, inputs }: PreparedTogether,
  options: ShuffleTogetherOptions,
  ordinal: number,
): ShuffleOptions {
  const { together: _, output: __, compress: ___, force: ____, onProgress, ...rest } = options;
  const member = request.members[ordinal];
  if (member === undefined) throw new RangeError(`there is no member ${ordinal}`);
  const place = placeOfMember(inputs, request.members.length, ordinal);
  const fromEnvironment = tempDirOfEnvironment();
  // Beside a job directory the environment does not count.
  const tempDirs =
    isResumable && rest.tempDirs === undefined && fromEnvironment !== undefined ? [fromEnvironment] : rest.tempDirs;
  return {
    ...rest,
    ...member.records,
    inputs: member.paths.map((path) => ({ path })),
    keys: 'ordinal',
    compress: member.compression ?? 'none',
    force: true,
    resume: undefined,
    tempDirs,
    seed: request.common.spec.key.seed,
    shardPrefix: request.common.spec.cut.splits === undefined ? 'part' : undefined,
    onProgress: onProgress && ((progress) => onProgress({ ...progress, member: place })),
  };
}

/** @param inputs of all members, as many of each. */
function placeOfMember(inputs: readonly Input[], memberCount: number, ordinal: number): MemberProgress {
  // An empty input counts, too: a member has a share.
  const bytesOf = (some: readonly Input[]) =>
    some.reduce((sum, input) => sum + 1 + (input.kind === 'file' ? input.version.byteLength : 0), 0);
  const inputCount = inputs.length / memberCount;
  const shareBefore = (member: number) => bytesOf(inputs.slice(0, member * inputCount)) / bytesOf(inputs);
  return {
    number: ordinal + 1,
    of: memberCount,
    startShare: shareBefore(ordinal),
    endShare: shareBefore(ordinal + 1),
  };
}

class TogetherJob {
  readonly #job: PreparedTogether;
  readonly #options: ShuffleTogetherOptions;
  readonly #tuning: Tuning;
  /** One for each member that is shuffled. */
  readonly #notes: MemberNote[] = [];
  #fate: JobFate;

  constructor(job: PreparedTogether, options: ShuffleTogetherOptions, tuning: Tuning) {
    this.#job = job;
    this.#options = options;
    this.#tuning = tuning;
    this.#fate = job.earlier === undefined ? 'discarded' : 'kept';
  }

  async run({ releases }: JobScope): Promise<Omit<ShuffleTogetherReport, 'seconds'>> {
    const { directory, request, earlier } = this.#job;
    releases.push(() => directory.end(this.#fate));
    await this.#openFiles();
    let resumedMembers = 0;
    try {
      for (const [member] of request.members.entries()) {
        const done = earlier === undefined ? undefined : this.#findShuffled(member);
        if (done !== undefined) resumedMembers += 1;
        this.#notes.push(done ?? (await this.#shuffle(member)));
      }
      await this.#appear();
    } catch (error) {
      this.#decideFate(error);
      throw error;
    }
    this.#fate = 'completed';
    return { ...this.#report(), resumedMembers };
  }

  get #stagingDirectory(): string {
    return this.#job.paths.stagingDirectory;
  }

  async #openFiles(): Promise<void> {
    const { directory, paths, request, inputs, earlier, isResumable } = this.#job;
    await directory.makeDirectories(isResumable);
    if (earlier !== undefined) return;
    const noted = await noteInputs(inputs, isResumable, request.common.signal);
    await writeMembersManifest(paths.jobDirectory, { isResumable, ...describeMembers(request), inputs: noted });
  }

  #findShuffled(member: number): MemberNote | undefined {
    const note = readMemberNote(this.#job.paths.jobDirectory, member);
    const isThere = note?.files.every((file) => this.#placesOf(file).some((path) => hasBytes(path, file.byteLength)));
    return isThere === true ? note : undefined;
  }

  /** Where an output may be: staged, gathered, or in place. */
  #placesOf({ staged, name }: MemberNote['files'][number]): readonly [string, string, string] {
    const staging = this.#stagingDirectory;
    return [join(staging, staged), join(staging, GATHERED_NAME, name), join(this.#job.outputPath, name)];
  }

  async #shuffle(member: number): Promise<MemberNote> {
    const { earlier, isResumable, paths } = this.#job;
    const directory = memberName(member);
    makeOwnDirectory(join(this.#stagingDirectory, directory), 'output');
    if (isResumable) await syncPath(this.#stagingDirectory);
    const note =
      (await this.#shuffleInto(directory, member, earlier !== undefined)) ??
      (await this.#shuffleInto(directory, member, false));
    if (note === undefined) throw new RangeError('a shuffle from its beginning counts its records');
    if (isResumable) await writeMemberNote(paths.jobDirectory, member, note);
    return note;
  }

  /** Undefined if an earlier attempt had written all of the output: then nobody knows the counts of each file. */
  async #shuffleInto(directory: string, ordinal: number, resume: boolean): Promise<MemberNote | undefined> {
    const { request, isResumable } = this.#job;
    const { shards } = request.common.spec.cut;
    const member = request.members[ordinal];
    if (member === undefined) throw new RangeError(`there is no member ${ordinal}`);
    const name = join(directory, shards === undefined ? 'out' : 'shards');
    const output = join(this.#stagingDirectory, name);
    let counted: Pick<MemberNote, 'recordCounts' | 'nameSums'> | undefined;
    const report = await shuffleCounted(
      {
        ...optionsOfMember(this.#job, this.#options, ordinal),
        output,
        ...(isResumable && { resume, jobDir: join(this.#stagingDirectory, directory, 'job') }),
      },
      this.#tuning,
      async ({ records, nameSums }) => {
        const sums = hasNames(member) ? [...nameSums].map(checksumTextOf) : undefined;
        counted = { recordCounts: [...records], nameSums: sums };
        this.#requireSameCounts(member, counted.recordCounts);
        await this.#requireSameNames(ordinal, sums);
      },
    );
    if (counted === undefined) return undefined;
    const staged = shards === undefined ? [output] : report.shards;
    const splits = report.splits?.map(({ shards: paths, name, records, bytes, checksum }) => {
      return { name, records, bytes, checksum, shardCount: paths.length };
    });
    const names = shards === undefined ? [member.name] : this.#shardNames(member, splits, staged.length);
    const files = staged.map((path, shard) => ({
      staged: path.slice(this.#stagingDirectory.length + 1),
      name: names[shard] ?? '',
      byteLength: byteLengthOf(path),
    }));
    const { records, bytes, checksum } = report;
    return { files, ...counted, records, bytes, checksum, splits };
  }

  #shardNames(member: Member, splits: MemberNote['splits'], shardCount: number): readonly string[] {
    const { prefixes, extension } = namingOfMember(member, this.#job.request.common.spec.cut.splits);
    const groups = prefixes.map((prefix, i) => ({ prefix, shardCount: splits?.[i]?.shardCount ?? shardCount }));
    return shardNames({ extension }, groups);
  }

  #requireSameCounts({ paths }: Member, recordCounts: readonly number[]): void {
    const first = this.#notes[0];
    if (first === undefined) return;
    const tuple = recordCounts.findIndex((count, ordinal) => count !== first.recordCounts[ordinal]);
    if (tuple === -1) return;
    const [one, other] = [this.#job.request.tuples[tuple]?.[0], paths[tuple]];
    throw new InputError(
      'ERR_COUNTS_DIFFER',
      `${one} has ${inRecords(first.recordCounts[tuple])} and ${other} has ${inRecords(recordCounts[tuple])}; expected as many in both, since record i of one belongs to record i of the other`,
    );
  }

  /** @param sums undefined: the records of the member have no names. */
  async #requireSameNames(member: number, sums: MemberNote['nameSums']): Promise<void> {
    const earlier = this.#notes.findIndex(({ nameSums }) => nameSums !== undefined);
    const tuple = this.#notes[earlier]?.nameSums?.findIndex((sum, i) => sum !== sums?.[i]) ?? -1;
    if (sums === undefined || tuple === -1) return;
    const { request, inputs } = this.#job;
    const readsOf = (each: number): NamedReads => {
      const input = inputs[each * request.tuples.length + tuple];
      const format = request.members[each]?.format;
      if (input?.kind !== 'file' || format === undefined) throw new RangeError(`there is no file ${tuple} of ${each}`);
      return { input, format };
    };
    throw await findOtherNames(readsOf(earlier), readsOf(member), request.common.signal);
  }

  /** Makes all outputs appear by one step. */
  async #appear(): Promise<void> {
    const { outputPath, request } = this.#job;
    const { signal } = request.common;
    const gathered = join(this.#stagingDirectory, GATHERED_NAME);
    const files = this.#notes.flatMap((note) => note.files);
    if (!this.#notes.every((note) => isInPlace(outputPath, note))) {
      if (signal?.aborted === true) throw new AbortError(signal.reason);
      makeOwnDirectory(gathered, 'output');
      for (const file of files) {
        const [staged, named] = this.#placesOf(file);
        if (nameExists(staged, 'output')) moveIntoPlace(staged, named);
      }
      openToOthers(gathered);
      await syncPath(gathered);
      this.#rename(gathered);
    }
    await syncPath(dirname(outputPath));
  }

  #rename(gathered: string): void {
    const { outputPath } = this.#job;
    try {
      moveDirectoryIntoPlace(gathered, outputPath);
    } catch (error) {
      if (!(error instanceof UsageError)) throw error;
      throw new UsageError(
        `the output directory ${outputPath} got other files during the job and was left alone; move them away, and resume the job if it can be resumed`,
        'ERR_OUTPUT_EXISTS',
      );
    }
  }

  #decideFate(error: unknown): void {
    const { isResumable, paths, earlier } = this.#job;
    const hasWork =
      this.#notes.length > 0 ||
      earlier !== undefined ||
      (error instanceof PileshufError && error.unfinishedJob !== undefined);
    const isKept = isResumable && hasWork && !canNeverResume(error);
    this.#fate = isKept ? 'kept' : 'discarded';
    if (isKept && error instanceof PileshufError) setUnfinishedJob(error, { directory: paths.jobDirectory });
  }

  #report(): Omit<ShuffleTogetherReport, 'seconds' | 'resumedMembers'> {
    const { request, outputPath } = this.#job;
    const members = this.#notes.map(({ files, bytes, checksum, splits }, member) => {
      const paths = files.map(({ name }) => join(outputPath, name));
      const name = request.members[member]?.name ?? '';
      const { shards } = request.common.spec.cut;
      const reported = reportShards(
        { records: this.#notes[0]?.records ?? 0, splits },
        shards === undefined ? [] : paths,
      );
      return { name, files: paths, bytes, checksum, splits: reported.splits, emptyShards: reported.emptyShards };
    });
    return { records: this.#notes[0]?.records ?? 0, seed: request.common.spec.key.seed, members };
  }
}

function hasNames({ format: { framing } }: Member): boolean {
  return framing !== undefined && framingOf(framing).hasNames === true;
}

function inRecords(count = 0): string {
  return `${count} ${count === 1 ? 'record' : 'records'}`;
}
