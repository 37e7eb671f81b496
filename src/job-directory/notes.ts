/**
 * What a job notes between its passes because it cannot be found again: the piles that were measured for it are deleted as
 * soon as the output has their records. So a note is durable before the first record of finished ranges, and it never
 * changes.
 */
import { join } from 'node:path';
import { StagedOutputError } from '../errors.js';
import { checksumText, list, nullable, object, optional, type ValueOf, wholeNumber } from '../io/json-shape.js';
import { damagedFile } from '../io/sealed-file.js';
import { SealedFormat } from '../io/sealed-format.js';
import { createOnce } from '../io/small-file.js';

/** The totals of those records of one pile that stay. */
export const distinctTally = object({ records: wholeNumber(), recordBytes: wholeNumber(), checksum: checksumText });

/** Where a job asks for its first records alone: how much of the last pile belongs to them. */
const headNote = object({
  pile: wholeNumber(),
  records: wholeNumber(),
  recordBytes: wholeNumber(),
  checksum: checksumText,
  /** The longest record of the whole head. An upper limit, if the cut into shards does not depend on it. */
  longestRecordBytes: wholeNumber(),
});

const splitsNote = object({
  /** What the order has before each split but the first. */
  before: list(object({ records: wholeNumber(), bytes: wholeNumber(), checksum: checksumText })),
});

/** Where the order of the records decides the cuts of the output. */
const cutsNote = object({
  /** The byte of the output, or of its first split, at which each shard begins; null: the cuts are arithmetic. */
  starts: nullable(list(wholeNumber())),
  /** As `starts`, for each of the other splits. Absent: there are none. */
  ofOthers: optional(list(nullable(list(wholeNumber())))),
});

/** What stays of each pile, where of equal records one is kept and the output cannot be planned without that. */
const distinctNote = object({ piles: list(distinctTally) });

export type DistinctTally = ValueOf<typeof distinctTally>;

export interface JobNotes {
  readonly head: ValueOf<typeof headNote>;
  readonly splits: ValueOf<typeof splitsNote>;
  readonly cuts: ValueOf<typeof cutsNote>;
  readonly distinct: ValueOf<typeof distinctNote>;
}

type NoteName = keyof JobNotes;

export type FoundNotes = { readonly [Name in NoteName]?: JobNotes[Name] | undefined };

interface NoteKind<T extends object> {
  /** What the note tells, as messages say it. */
  readonly tells: string;
  readonly format: SealedFormat<T>;
  readonly requireWithin?: (note: T, limits: RangeLimits, path: string) => void;
}

const sealedAs = { version: 1, role: 'temp' } as const;

const NOTES: { readonly [Name in NoteName]: NoteKind<JobNotes[Name]> } = {
  head: {
    tells: 'where it ends',
    format: new SealedFormat({ ...sealedAs, kind: 'head', mostBytes: 2 ** 12, shape: headNote }),
  },
  splits: {
    tells: 'where splits begin',
    format: new SealedFormat({ ...sealedAs, kind: 'splits', mostBytes: 2 ** 20, shape: splitsNote }),
  },
  cuts: {
    tells: 'where shards begin',
    /** A million shards take some 16 MB. */
    format: new SealedFormat({ ...sealedAs, kind: 'cuts', mostBytes: 2 ** 25, shape: cutsNote }),
    requireWithin: ({ starts, ofOthers = [] }, { mostShards }, path) => {
      for (const each of [starts, ...ofOthers]) requireAscending(each ?? [0], path, mostShards);
    },
  },
  distinct: {
    tells: 'what stays of its piles',
    /** 65,536 piles take some 7 MB. */
    format: new SealedFormat({ ...sealedAs, version: 2, kind: 'distinct', mostBytes: 2 ** 28, shape: distinctNote }),
    requireWithin: ({ piles }, { pileCount }, path) => {
      if (piles.length === pileCount) return;
      throw damagedFile(path, `expected the totals of ${pileCount} piles, got ${piles.length}`);
    },
  },
};

/** The limits of the numbers in notes, and in the records of finished ranges. */
export interface RangeLimits {
  readonly pileCount: number;
  readonly mostShards: number;
}

export function readNote<Name extends NoteName>(
  jobDirectory: string,
  name: Name,
  limits: RangeLimits,
): JobNotes[Name] | undefined {
  const { format, requireWithin } = NOTES[name];
  const path = join(jobDirectory, name);
  const note = format.read(path);
  if (note !== undefined) requireWithin?.(note, limits, path);
  return note;
}

export function readNotes(jobDirectory: string, limits: RangeLimits): FoundNotes {
  return {
    cuts: readNote(jobDirectory, 'cuts', limits),
    distinct: readNote(jobDirectory, 'distinct', limits),
    head: readNote(jobDirectory, 'head', limits),
    splits: readNote(jobDirectory, 'splits', limits),
  };
}

/** If another attempt has noted it already, that note stays: it says the same. */
export async function writeNote<Name extends NoteName>(
  jobDirectory: string,
  name: Name,
  note: JobNotes[Name],
): Promise<void> {
  await createOnce(jobDirectory, name, NOTES[name].format.seal(note));
}

function requireAscending(starts: readonly number[], path: string, mostShards: number): void {
  if (starts[0] !== 0) throw damagedFile(path, `expected the first shard to begin at byte 0, got ${starts[0]}`);
  if (starts.length > mostShards)
    throw damagedFile(path, `expected at most ${mostShards} shards, got ${starts.length}`);
  for (const [i, start] of starts.entries()) {
    const before = starts[i - 1] ?? -1;
    if (start <= before) throw damagedFile(path, `starts[${i}]: expected a byte behind ${before}, got ${start}`);
  }
}

/** Where a job that outlives its process notes what it decides between its passes. */
export interface KeptNotes {
  readonly jobDirectory: string;
  /** Whether an earlier attempt finished a part of the output, so that its piles may be deleted. */
  readonly hasFinishedRanges: boolean;
  found<Name extends NoteName>(name: Name): JobNotes[Name] | undefined;
}

/**
 * Returns what an earlier attempt has noted, else what `find` finds, which becomes the note.
 * @param kept undefined: if the job fails, its output is lost.
 */
export async function notedOrFound<Name extends NoteName>(
  kept: KeptNotes | undefined,
  name: Name,
  find: () => Promise<JobNotes[Name]>,
): Promise<JobNotes[Name]> {
  if (kept === undefined) return find();
  const noted = kept.found(name);
  if (noted !== undefined) return noted;
  if (kept.hasFinishedRanges)
    throw new StagedOutputError(`the unfinished job finished a part of its output without noting ${NOTES[name].tells}`);
  const found = await find();
  await writeNote(kept.jobDirectory, name, found);
  return found;
}
