/**
 * Shuffles aligned files: the members of tuples, each under the same permutation.
 *
 *     plan      tuples -> members, names, one place for all outputs          prepare-together.ts
 *     shuffle   each member by itself, with all threads and all memory       a whole shuffle, into staging
 *     check     as many records in the files of a tuple, the same names      between the passes of each member but the first
 *     commit    all outputs in one directory, which appears by one rename    #appear
 *
 * Keys come from ordinals, so record i of all files of a tuple has one key: only the counts must agree, and the names
 * if records have names. A shuffled member stays in the staging directory for a later attempt, with a note of it in the
 * job directory.
 */
import { dirname, join } from 'node:path';
import { AbortError, counted, InputError, PileshufError, setUnfinishedJob, UsageError } from '../errors.js';
import { framingOf } from '../formats/framing-table.js';
import { makeOwnDirectory } from '../io/directories.js';
import { nameExists } from '../io/paths.js';
import { applyUmask, byteLengthOf, moveDirectoryIntoPlace, moveIntoPlace, syncPath } from '../io/rename-and-sync.js';
import type { JobFate } from '../job-directory/job-directory.js';
import {
  type MemberNote,
  memberName,
  readMemberNote,
  readMembersManifest,
  removeMemberNote,
  writeMemberNote,
  writeMembersManifest,
} from '../job-directory/job-manifest.js';
import type { ShardSpec } from '../keep/splits.js';
import type { MemberProgress } from '../options/progress.js';
import type { ShuffleTogetherReport } from '../options/reports.js';
import type { ShuffleOptions, ShuffleTogetherOptions } from '../options/shuffle-options.js';
import { checksumTextOf } from '../piles/pile-totals.js';
import { shardNames } from '../places/outputs/shard-names.js';
import type { Tuning } from '../plan/memory-plan.js';
import { noteInputs } from '../sources/fingerprints.js';

import { storedBytesOf } from '../sources/input.js';
import { findDifferingNames } from './find-differing-names.js';
import { noteFinished, reportOfFinished } from './finished-job.js';
import { type JobScope, runJob } from './job.js';
import {
  describeMembers,
  finishedTogether,
  hasBytes,
  inputsOf,
  isInPlace,
  knownOutput,
  type OpenedTupleMember,
  type PreparedTogether,
  prepareTogether,
} from './prepare-together.js';
import { shuffleCounted } from './shuffle.js';
import { reportShards } from './split-report.js';
import { canNeverResume } from './staging.js';
import { tempDirOfEnvironment } from './temp-disks.js';
import { namingOfMember, type TupleMember } from './together-options.js';

/** The directory of the outputs under their names in the staging directory, before it gets its own name. */
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
  given: ShuffleTogetherOptions,
  tuning: Partial<Tuning> = {},
): Promise<ShuffleTogetherReport> {
  const warned = new Set<string>();
  // What is true of every member is told once.
  const onWarning = (line: string) => {
    if (!warned.has(line)) given.onWarning?.(line);
    warned.add(line);
  };
  const options = { ...given, onWarning };
  const { value, seconds } = await runJob(options, async (scope) => {
    const job = async () => new TogetherJob(await prepareTogether(options, scope), options, tuning).run(scope);
    return job().catch(reportOfFinished<Omit<ShuffleTogetherReport, 'seconds'>>);
  });
  return { ...value, seconds: { total: seconds } };
}

/** The options of the shuffle of a member, but for its output. */
export function optionsOfMember(
  job: PreparedTogether,
  options: ShuffleTogetherOptions,
  member: OpenedTupleMember,
): ShuffleOptions {
  const { together: _, output: __, compress: ___, force: ____, onProgress, ...rest } = options;
  const { spec } = job.common;
  const place = placeOfMember(job, member);
  const fromEnvironment = tempDirOfEnvironment();
  // Beside a job directory the environment does not count.
  const tempDirs =
    job.isResumable && rest.tempDirs === undefined && fromEnvironment !== undefined ? [fromEnvironment] : rest.tempDirs;
  return {
    ...rest,
    ...member.records,
    inputs: member.paths.map((path) => ({ path })),
    keys: 'ordinal',
    compress: member.compression ?? 'none',
    force: true,
    resume: undefined,
    tempDirs,
    seed: spec.key.seed,
    shardPrefix: spec.cut.splits === undefined ? 'part' : undefined,
    onProgress: onProgress && ((progress) => onProgress({ ...progress, member: place })),
  };
}

function placeOfMember({ members }: PreparedTogether, { ordinal }: OpenedTupleMember): MemberProgress {
  // An empty input counts, too: a member has a share.
  const bytesOf = (some: readonly OpenedTupleMember[]) =>
    some.reduce((sum, { inputs }) => sum + inputs.length + storedBytesOf(inputs), 0);
  const shareBefore = (end: number) => bytesOf(members.slice(0, end)) / bytesOf(members);
  const [startShare, endShare] = [shareBefore(ordinal), shareBefore(ordinal + 1)];
  return { number: ordinal + 1, of: members.length, startShare, endShare };
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
    this.#fate = job.earlier === undefined ? 'discarded' : 'preserved';
  }

  async run({ releases }: JobScope): Promise<Omit<ShuffleTogetherReport, 'seconds'>> {
    const { directory, members, earlier } = this.#job;
    releases.push(() => directory.end(this.#fate));
    await this.#openDirectories();
    let resumedMembers = 0;
    try {
      for (const member of members) {
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
    const report = { ...this.#report(), resumedMembers };
    const inputs = readMembersManifest(this.#job.paths.jobDirectory)?.inputs;
    if (this.#job.isResumable && inputs !== undefined)
      await noteFinished(knownOutput(this.#job), report.seed, finishedTogether(this.#job, inputs), report);
    return report;
  }

  get #stagingDirectory(): string {
    return this.#job.paths.stagingDirectory;
  }

  get #shards(): ShardSpec {
    return this.#job.common.spec.cut;
  }

  async #openDirectories(): Promise<void> {
    const { directory, paths, common, earlier, isResumable } = this.#job;
    await directory.makeDirectories(isResumable);
    if (earlier !== undefined) return;
    const inputs = await noteInputs(inputsOf(this.#job), isResumable, common.signal);
    await writeMembersManifest(paths.jobDirectory, { isResumable, ...describeMembers(this.#job), inputs });
  }

  #findShuffled({ ordinal }: OpenedTupleMember): MemberNote | undefined {
    const note = readMemberNote(this.#job.paths.jobDirectory, ordinal);
    const isThere = note?.files.every((file) => this.#placesOf(file).some((path) => hasBytes(path, file.byteLength)));
    return isThere === true ? note : undefined;
  }

  /** Returns where an output may be: staged, gathered, or in place. */
  #placesOf({ staged, name }: MemberNote['files'][number]): readonly [string, string, string] {
    const staging = this.#stagingDirectory;
    return [join(staging, staged), join(staging, GATHERED_NAME, name), join(this.#job.outputPath, name)];
  }

  async #shuffle(member: OpenedTupleMember): Promise<MemberNote> {
    const { earlier, isResumable, paths } = this.#job;
    makeOwnDirectory(join(this.#stagingDirectory, memberName(member.ordinal)), 'output');
    if (isResumable) await syncPath(this.#stagingDirectory);
    // A member with a note was done. What is gone of it since, a power failure took: its own job knows nothing of that.
    const isLost = removeMemberNote(paths.jobDirectory, member.ordinal);
    const resumes = earlier !== undefined && !isLost;
    const note = (await this.#shuffleOnce(member, resumes)) ?? (await this.#shuffleOnce(member, false));
    if (note === undefined) throw new RangeError('a shuffle from its beginning counts its records');
    if (isResumable) await writeMemberNote(paths.jobDirectory, member.ordinal, note);
    return note;
  }

  /** Undefined if an earlier attempt had written all of the output: then nobody knows the counts of each file. */
  async #shuffleOnce(member: OpenedTupleMember, resume: boolean): Promise<MemberNote | undefined> {
    const { isResumable } = this.#job;
    const isCut = this.#shards.shards !== undefined;
    const directory = join(this.#stagingDirectory, memberName(member.ordinal));
    const output = join(directory, isCut ? 'shards' : 'out');
    let found: Pick<MemberNote, 'recordCounts' | 'nameSums'> | undefined;
    const report = await shuffleCounted(
      {
        ...optionsOfMember(this.#job, this.#options, member),
        output,
        ...(isResumable && { resume, jobDir: join(directory, 'job') }),
      },
      this.#tuning,
      async ({ records, nameSums }) => {
        const sums = hasNames(member) ? [...nameSums].map(checksumTextOf) : undefined;
        found = { recordCounts: [...records], nameSums: sums };
        this.#requireSameCounts(member, found.recordCounts);
        await this.#requireSameNames(member, sums);
      },
    );
    if (found === undefined) return undefined;
    const staged = isCut ? report.shards : [output];
    const splits = report.splits?.map(({ shards: paths, name, records, bytes, checksum, emptyShards }) => {
      return { name, records, bytes, checksum, shardCount: paths.length, emptyShards };
    });
    const names = isCut ? this.#shardNames(member, splits, staged.length) : [member.name];
    const files = staged.map((path, shard) => ({
      staged: path.slice(this.#stagingDirectory.length + 1),
      name: names[shard] ?? '',
      byteLength: byteLengthOf(path),
    }));
    const { records, bytes, checksum, emptyShards } = report;
    return { files, ...found, records, bytes, checksum, splits, emptyShards };
  }

  #shardNames(member: TupleMember, splits: MemberNote['splits'], shardCount: number): readonly string[] {
    const { prefixes, extension } = namingOfMember(member, this.#shards.splits);
    const groups = prefixes.map((prefix, i) => ({ prefix, shardCount: splits?.[i]?.shardCount ?? shardCount }));
    return shardNames({ extension }, groups);
  }

  #requireSameCounts({ paths }: TupleMember, recordCounts: readonly number[]): void {
    const first = this.#notes[0];
    if (first === undefined) return;
    const tuple = recordCounts.findIndex((count, ordinal) => count !== first.recordCounts[ordinal]);
    if (tuple === -1) return;
    const [one, other] = [this.#job.members[0]?.paths[tuple], paths[tuple]];
    const [inOne, inOther] = [first.recordCounts, recordCounts].map((counts) => counted(counts[tuple] ?? 0, 'record'));
    throw new InputError(
      'ERR_COUNTS_DIFFER',
      `${one} has ${inOne} and ${other} has ${inOther}; give files with equal numbers of records, because record i of one belongs to record i of the other`,
    );
  }

  /** @param sums undefined: the records of the member have no names. */
  async #requireSameNames(member: OpenedTupleMember, sums: MemberNote['nameSums']): Promise<void> {
    const earlier = this.#notes.findIndex(({ nameSums }) => nameSums !== undefined);
    const tuple = this.#notes[earlier]?.nameSums?.findIndex((sum, i) => sum !== sums?.[i]) ?? -1;
    if (sums === undefined || tuple === -1) return;
    const { members, common } = this.#job;
    const readsOf = (each: OpenedTupleMember | undefined) => {
      const input = each?.inputs[tuple];
      if (each === undefined || input === undefined) throw new RangeError('members have as many files and notes');
      return { input, format: each.format };
    };
    throw await findDifferingNames(readsOf(members[earlier]), readsOf(member), common.signal);
  }

  /** Makes all outputs appear by one step. */
  async #appear(): Promise<void> {
    const { outputPath, common } = this.#job;
    const gathered = join(this.#stagingDirectory, GATHERED_NAME);
    if (!this.#notes.every((note) => isInPlace(outputPath, note))) {
      if (common.signal?.aborted === true) throw new AbortError(common.signal.reason);
      makeOwnDirectory(gathered, 'output');
      for (const file of this.#notes.flatMap((note) => note.files)) {
        const [staged, named] = this.#placesOf(file);
        if (nameExists(staged, 'output')) moveIntoPlace(staged, named);
      }
      applyUmask(gathered);
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
    const isRetained = isResumable && hasWork && !canNeverResume(error);
    this.#fate = isRetained ? 'preserved' : 'discarded';
    if (isRetained && error instanceof PileshufError) setUnfinishedJob(error, { directory: paths.jobDirectory });
  }

  #report(): Omit<ShuffleTogetherReport, 'seconds' | 'resumedMembers'> {
    const { members, common, outputPath } = this.#job;
    const records = this.#notes[0]?.records ?? 0;
    const reports = this.#notes.map(({ files, bytes, checksum, ...parts }, member) => {
      const paths = files.map(({ name }) => join(outputPath, name));
      const name = members[member]?.name ?? '';
      const reported = reportShards(parts, this.#shards.shards === undefined ? [] : paths);
      return { name, files: paths, bytes, checksum, splits: reported.splits, emptyShards: reported.emptyShards };
    });
    return { records, seed: common.spec.key.seed, members: reports };
  }
}

function hasNames({ format: { framing } }: TupleMember): boolean {
  return framing !== undefined && framingOf(framing).hasNames === true;
}
