/**
 * The notes of a job: what an attempt found or did, for later attempts and for other tasks. A note names what it covers,
 * never who did it. An attempt writes it under a name of its own, makes it durable, and gives it its name by a hard link:
 * the first wins, and the note never changes. Two attempts at one thing must agree on the part of their notes that decides
 * what others do (`agreed`). A local job holds the lock of its directory, so it meets no other attempt.
 *
 *     head splits cuts   what was decided between the passes                  of the job
 *     distinct           what stays of each pile                              of the job
 *     measure-000003     what stays of the piles of this task                 of a measure task
 *     done-000007        ranges of piles whose output is durable              of a group of ranges
 *     shuffle-000003     the ranges that this task wrote, and where           of a shuffle task
 *     damaged-000003     what was not there when that output was read back    of a shuffle task
 *     verify-000003      that output was read back, and is whole              of a verify task
 *     member-2           its output, and what was counted                     of a member of aligned files
 *     committed          the outputs of tasks have their names                of the job
 *
 * The piles that a local job measured are deleted as soon as the output has their records. So the note of what it found is
 * durable before the first note of finished ranges.
 */
import { join } from 'node:path';
import { StagedOutputError, VerificationError } from '../errors.js';
import { createDurablyIfAbsent, readSmallFile } from '../io/atomic-files.js';
import {
  checksumText,
  fileName,
  list,
  nullable,
  object,
  optional,
  type Shape,
  text,
  type ValueOf,
  wholeNumber,
} from '../io/json-shape.js';
import { listNames } from '../io/paths.js';
import { damagedFileError, type Remedy } from '../io/sealed-file.js';
import { SealedFormat } from '../io/sealed-format.js';
import { uploadedPart } from '../remote/object-store.js';

/** The limits of the numbers in notes. */
export interface RangeLimits {
  readonly pileCount: number;
  readonly mostShards: number;
}

interface NoteParts<Note> {
  readonly kind: string;
  readonly version: number;
  readonly mostBytes: number;
  readonly shape: Shape<Note>;
  /** The advice about a damaged note. Default: what helps a local job. */
  readonly remedy?: Remedy;
  /** The words of messages for two attempts that disagree. Default: `found different records`. */
  readonly disagreement?: string;
  /** The part on which attempts must agree, as plain data. Absent: all of the note. */
  readonly agreed?: (note: Note) => unknown;
  readonly requireWithin?: (note: Note, limits: RangeLimits, path: string) => void;
}

export class NoteKind<Note extends object> {
  readonly #parts: NoteParts<Note>;
  readonly #format: SealedFormat<Note>;

  constructor(parts: NoteParts<Note>) {
    this.#parts = parts;
    this.#format = new SealedFormat({ ...parts, role: 'temp' });
  }

  /** Undefined when there is no such note. @param limits absent: they are checked where the note is used. */
  read(jobDirectory: string, name: string, limits?: RangeLimits): Note | undefined {
    const path = join(jobDirectory, name);
    const note = this.#format.read(path);
    if (note !== undefined && limits !== undefined) this.#parts.requireWithin?.(note, limits, path);
    return note;
  }

  /**
   * @param covers what the note covers, as messages say it.
   * @returns whether the note of this attempt stands, as far as this machine sees. False: that of another attempt does, and
   *   agrees with it.
   */
  async write(jobDirectory: string, name: string, own: Note, covers: string): Promise<boolean> {
    const { mostBytes, agreed, disagreement = 'found different records' } = this.#parts;
    const bytes = this.#format.seal(own);
    if (await createDurablyIfAbsent(jobDirectory, name, bytes)) return true;
    const there = readSmallFile(join(jobDirectory, name), 'temp', mostBytes);
    // It is this very note, or it is not visible yet, and nobody knows.
    if (there === undefined || Buffer.compare(there, bytes) === 0) return true;
    const first = this.read(jobDirectory, name);
    const isAgreed =
      first !== undefined && agreed !== undefined && JSON.stringify(agreed(first)) === JSON.stringify(agreed(own));
    if (isAgreed) return false;
    throw new VerificationError(
      `two attempts at ${covers} of ${jobDirectory} ${disagreement}; check the memory of both machines`,
    );
  }
}

const tally = object({ records: wholeNumber(), bytes: wholeNumber(), checksum: checksumText });

/** The end of the head, if a job asks for its first records alone: how much of the last pile belongs to them. */
const headNote = object({
  pile: wholeNumber(),
  inPile: tally,
  /** The longest record of the whole head. An upper limit, if the cut into shards does not depend on it. */
  longestRecordBytes: wholeNumber(),
});

const splitsNote = object({
  /** The part of the order before each split but the first. */
  before: list(tally),
});

/** The cuts of the output, where the order of the records decides them. */
const cutsNote = object({
  /** The byte of the output, or of its first split, at which each shard begins; null: the cuts are arithmetic. */
  starts: nullable(list(wholeNumber())),
  /** The `starts` of each of the other splits. Absent: there are none. */
  ofOthers: optional(list(nullable(list(wholeNumber())))),
});

/**
 * The part of each pile that stays, where of equal records one is kept and the output cannot be planned without that.
 */
const distinctNote = object({ piles: list(tally) });

/** A part of a staged file: a later attempt verifies it before it relies on it. */
const writtenRegion = object({
  shard: wholeNumber(),
  /** The start, counted from the end of the header of the file. */
  start: wholeNumber(),
  end: wholeNumber(),
  /** The bytes of the records in it, decompressed. */
  recordBytes: wholeNumber(),
  /** The checksum of the bytes as they are stored. */
  checksum: checksumText,
  /** The sum of a number of its records, in parts of 10^-15. Absent: nothing is added up. */
  sum: optional(text),
  /**
   * The parts of an output in object storage that are uploaded, and the CRC-32 of the bytes that wait in the staged
   * file.
   */
  uploaded: optional(object({ parts: list(uploadedPart), restCrc: wholeNumber() })),
});

export const NO_TRANSFERS: RegionTransfers = { uploaded: undefined };

/** A sample with a key that readers know, and the key by which it has its place in the order. */
const keyedSample = object({ sampleKey: text, key: checksumText });

/** The samples at both ends of a range, whose neighbours belong to other ranges. */
const rangeEnds = object({ first: keyedSample, last: keyedSample });

const finishedRange = object({
  /** Piles [first, end). */
  first: wholeNumber(),
  end: wholeNumber(),
  regions: list(writtenRegion),
  /** The ends, if the samples of the framing have keys; null if the range has no sample. */
  ends: optional(nullable(rangeEnds)),
  /** The part of each of its piles that stays, if only the output can tell. */
  distinct: optional(list(tally)),
});

const shuffledNote = object({
  task: wholeNumber(),
  /** How often the output of the task had been found damaged before. */
  rewrite: wholeNumber(),
  /** The directory in the staging directory that holds the shards of this attempt; null: it wrote to those of all. */
  own: nullable(fileName),
  headerBytes: wholeNumber(),
  ranges: list(finishedRange),
});

/** Bytes of a staged file. */
const damagedRegion = object({ path: text, start: wholeNumber(), end: wholeNumber() });

export type KeyedSample = ValueOf<typeof keyedSample>;
export type RangeEnds = ValueOf<typeof rangeEnds>;
export type FinishedRange = ValueOf<typeof finishedRange>;
/** Bytes [start, end) of one shard as they are stored, counted from the end of its header, written by one task. */
export type WrittenRegion = ValueOf<typeof writtenRegion>;
/** The uploaded parts of a region, which only the output place reads. */
export type RegionTransfers = Pick<WrittenRegion, 'uploaded'>;
export type ShuffledNote = ValueOf<typeof shuffledNote>;
export type DamagedRegion = ValueOf<typeof damagedRegion>;

export interface JobNotes {
  readonly head: ValueOf<typeof headNote>;
  readonly splits: ValueOf<typeof splitsNote>;
  readonly cuts: ValueOf<typeof cutsNote>;
  readonly distinct: ValueOf<typeof distinctNote>;
}

type NoteName = keyof JobNotes;

export type FoundNotes = { readonly [Name in NoteName]?: JobNotes[Name] | undefined };

const WROTE_OTHER_BYTES = 'wrote different bytes';
const MOST_BYTES_OF_RANGES = 2 ** 28;

/** The kinds of notes of what a job decides once. */
export const NOTES: { readonly [Name in NoteName]: NoteKind<JobNotes[Name]> } = {
  head: new NoteKind({
    kind: 'head',
    version: 2,
    mostBytes: 2 ** 12,
    shape: headNote,
  }),
  splits: new NoteKind({
    kind: 'splits',
    version: 1,
    mostBytes: 2 ** 20,
    shape: splitsNote,
  }),
  cuts: new NoteKind({
    kind: 'cuts',
    version: 1,
    /** A million shards take some 16 MB. */
    mostBytes: 2 ** 25,
    shape: cutsNote,
    requireWithin: ({ starts, ofOthers = [] }, { mostShards }, path) => {
      for (const each of [starts, ...ofOthers]) requireAscending(each ?? [0], path, mostShards);
    },
  }),
  distinct: new NoteKind({
    kind: 'distinct',
    version: 3,
    /** 65,536 piles take some 7 MB. */
    mostBytes: 2 ** 28,
    shape: distinctNote,
    requireWithin: ({ piles }, { pileCount }, path) => {
      if (piles.length === pileCount) return;
      throw damagedFileError(path, `expected the totals of ${pileCount} piles, got ${piles.length}`);
    },
  }),
};

/** The content of each note, in the words of messages. */
const NOTE_CONTENTS: { readonly [Name in NoteName]: string } = {
  head: 'where it ends',
  splits: 'where splits begin',
  cuts: 'where shards begin',
  distinct: 'what stays of its piles',
};

const RANGES = new NoteKind<{ readonly ranges: readonly FinishedRange[] }>({
  kind: 'ranges',
  version: 5,
  mostBytes: MOST_BYTES_OF_RANGES,
  shape: object({ ranges: list(finishedRange) }),
  disagreement: WROTE_OTHER_BYTES,
  requireWithin: ({ ranges }, limits, path) => {
    for (const range of ranges) requireWithin(range, limits, path);
  },
});

export const SHUFFLED = new NoteKind({
  kind: 'shuffled',
  version: 2,
  mostBytes: MOST_BYTES_OF_RANGES,
  shape: shuffledNote,
  disagreement: WROTE_OTHER_BYTES,
  agreed: agreedContent,
});

/** The note of damage in an output. Who reads the output later may find more of it damaged. */
export const DAMAGED = new NoteKind({
  kind: 'damaged',
  version: 1,
  mostBytes: MOST_BYTES_OF_RANGES,
  shape: object({ regions: list(damagedRegion) }),
  agreed: () => null,
});

export const VERIFIED = new NoteKind({
  kind: 'verified',
  version: 1,
  mostBytes: 2 ** 10,
  shape: object({}),
});

/** Not the compressed bytes, which may differ between versions of a library. */
function agreedContent({ own, ranges }: ShuffledNote): unknown {
  const regions = ranges.flatMap((range) => range.regions);
  if (own === null) return regions.map(({ shard, start, end, checksum }) => [shard, start, end, checksum]);
  const bytesOfShard = new Map<number, number>();
  for (const { shard, recordBytes } of regions) bytesOfShard.set(shard, (bytesOfShard.get(shard) ?? 0) + recordBytes);
  return [...bytesOfShard].sort(([a], [b]) => a - b);
}

export function readNotes(jobDirectory: string, limits: RangeLimits): FoundNotes {
  const { cuts, distinct, head, splits } = NOTES;
  return {
    cuts: cuts.read(jobDirectory, 'cuts', limits),
    distinct: distinct.read(jobDirectory, 'distinct', limits),
    head: head.read(jobDirectory, 'head', limits),
    splits: splits.read(jobDirectory, 'splits', limits),
  };
}

/** Shards that a bundle leaves empty begin where the next one does. */
function requireAscending(starts: readonly number[], path: string, mostShards: number): void {
  if (starts[0] !== 0) throw damagedFileError(path, `expected the first shard to begin at byte 0, got ${starts[0]}`);
  if (starts.length > mostShards)
    throw damagedFileError(path, `expected at most ${mostShards} shards, got ${starts.length}`);
  for (const [i, start] of starts.entries()) {
    const before = starts[i - 1] ?? 0;
    if (start < before)
      throw damagedFileError(path, `starts[${i}]: expected byte ${before} or a later one, got ${start}`);
  }
}

/** The notes of what a job that outlives its process decides between its passes. */
export interface CheckpointNotes {
  readonly jobDirectory: string;
  /** True if an earlier attempt finished a part of the output, so that its piles may be deleted. */
  readonly hasFinishedRanges: boolean;
  read<Name extends NoteName>(name: Name): JobNotes[Name] | undefined;
}

/**
 * Returns what an earlier attempt has noted, else what `find` finds, which becomes the note.
 * @param checkpoint undefined: if the job fails, its output is lost.
 */
export async function readOrWriteNote<Name extends NoteName>(
  checkpoint: CheckpointNotes | undefined,
  name: Name,
  find: () => Promise<JobNotes[Name]>,
): Promise<JobNotes[Name]> {
  if (checkpoint === undefined) return find();
  const noted = checkpoint.read(name);
  if (noted !== undefined) return noted;
  if (checkpoint.hasFinishedRanges)
    throw new StagedOutputError(
      `the unfinished job finished a part of its output without noting ${NOTE_CONTENTS[name]}`,
    );
  const found = await find();
  await NOTES[name].write(checkpoint.jobDirectory, name, found, `the ${name}`);
  return found;
}

const RANGES_NOTE_NAME = /^done-(\d{6,})$/;

function rangesNoteName(number: number): string {
  return `done-${String(number).padStart(6, '0')}`;
}

export async function writeFinishedRanges(
  jobDirectory: string,
  number: number,
  ranges: readonly FinishedRange[],
): Promise<void> {
  const name = rangesNoteName(number);
  await RANGES.write(jobDirectory, name, { ranges }, name);
}

export interface FinishedRanges {
  readonly ranges: readonly FinishedRange[];
  readonly noteCount: number;
}

export function readFinishedRanges(jobDirectory: string, limits: RangeLimits): FinishedRanges {
  const recordCount = rangesNoteNames(jobDirectory).length;
  const ranges: FinishedRange[] = [];
  for (let number = 1; number <= recordCount; number++) {
    const name = rangesNoteName(number);
    const note = RANGES.read(jobDirectory, name, limits);
    if (note === undefined)
      throw damagedFileError(join(jobDirectory, name), `it is missing, expected ${recordCount} records`);
    for (const range of note.ranges) ranges.push(range);
  }
  requireDisjoint(ranges, jobDirectory);
  return { ranges, noteCount: recordCount };
}

function requireWithin(
  { first, end, regions, distinct }: FinishedRange,
  { pileCount, mostShards }: RangeLimits,
  path: string,
): void {
  if (first >= end || end > pileCount) {
    throw damagedFileError(path, `expected a range of the ${pileCount} piles, got ${first} to ${end}`);
  }
  if (distinct !== undefined && distinct.length !== end - first) {
    throw damagedFileError(path, `expected the totals of ${end - first} piles, got ${distinct.length}`);
  }
  for (const { shard, start, end: regionEnd } of regions) {
    if (shard >= mostShards) throw damagedFileError(path, `expected one of at most ${mostShards} shards, got ${shard}`);
    if (start > regionEnd) throw damagedFileError(path, `expected a range of bytes, got ${start} to ${regionEnd}`);
  }
}

/** Refuses a pile that is finished twice, and a byte of a shard that is written twice. */
function requireDisjoint(ranges: readonly FinishedRange[], jobDirectory: string): void {
  const damaged = (what: string) =>
    damagedFileError(join(jobDirectory, rangesNoteName(1)), `${what}, by it and those after it`);
  let pile = 0;
  for (const { first, end } of ranges.toSorted((a, b) => a.first - b.first)) {
    if (first < pile) throw damaged(`pile ${first} is finished twice`);
    pile = end;
  }
  let last = { shard: -1, end: 0 };
  const regions = ranges.flatMap((range) => range.regions);
  for (const { shard, start, end } of regions.sort((a, b) => a.shard - b.shard || a.start - b.start)) {
    if (shard === last.shard && start < last.end) throw damaged(`byte ${start} of shard ${shard} is written twice`);
    last = { shard, end };
  }
}

/** The names of all records, in the order of their numbers. */
export function rangesNoteNames(jobDirectory: string): string[] {
  return listNames(jobDirectory, 'temp')
    .filter((name) => RANGES_NOTE_NAME.test(name))
    .sort((a, b) => a.length - b.length || (a < b ? -1 : 1));
}
