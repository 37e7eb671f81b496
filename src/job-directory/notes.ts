/**
 * What a job notes between its passes because it cannot be found again: the piles that were measured for it are deleted as
 * soon as the output has their records. So a note is durable before the first record of finished ranges, and it never
 * changes.
 */
import { join } from 'node:path';
import {
  checksumText,
  list,
  nullable,
  object,
  optional,
  type Shape,
  type ValueOf,
  wholeNumber,
} from '../io/json-shape.js';
import { damagedFile } from '../io/sealed-file.js';
import { SealedFormat } from '../io/sealed-format.js';
import { createDurably } from '../io/small-file.js';

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
export type HeadNote = ValueOf<typeof headNote>;
export type SplitsNote = ValueOf<typeof splitsNote>;
export type CutsNote = ValueOf<typeof cutsNote>;
export type DistinctNote = ValueOf<typeof distinctNote>;

class NoteFile<T extends object> {
  readonly #name: string;
  readonly #format: SealedFormat<T>;

  constructor(name: string, version: number, mostBytes: number, shape: Shape<T>) {
    this.#name = name;
    this.#format = new SealedFormat({ kind: name, version, mostBytes, role: 'temp', shape });
  }

  pathIn(jobDirectory: string): string {
    return join(jobDirectory, this.#name);
  }

  async write(jobDirectory: string, note: T): Promise<void> {
    await createDurably(jobDirectory, this.#name, this.#format.seal(note));
  }

  read(jobDirectory: string): T | undefined {
    return this.#format.read(this.pathIn(jobDirectory));
  }
}

const HEAD = new NoteFile('head', 1, 2 ** 12, headNote);
const SPLITS = new NoteFile('splits', 1, 2 ** 20, splitsNote);
/** A million shards take some 16 MB. */
const CUTS = new NoteFile('cuts', 1, 2 ** 25, cutsNote);
/** 65,536 piles take some 7 MB. */
const DISTINCT = new NoteFile('distinct', 2, 2 ** 28, distinctNote);

export const writeHeadNote = (jobDirectory: string, note: HeadNote) => HEAD.write(jobDirectory, note);
export const readHeadNote = (jobDirectory: string) => HEAD.read(jobDirectory);
export const writeSplitsNote = (jobDirectory: string, note: SplitsNote) => SPLITS.write(jobDirectory, note);
export const readSplitsNote = (jobDirectory: string) => SPLITS.read(jobDirectory);
export const writeCutsNote = (jobDirectory: string, note: CutsNote) => CUTS.write(jobDirectory, note);
export const writeDistinctNote = (jobDirectory: string, note: DistinctNote) => DISTINCT.write(jobDirectory, note);

export function readCutsNote(
  jobDirectory: string,
  { mostShards }: { readonly mostShards: number },
): CutsNote | undefined {
  const note = CUTS.read(jobDirectory);
  for (const starts of note === undefined ? [] : [note.starts, ...(note.ofOthers ?? [])])
    requireAscending(starts ?? [0], CUTS.pathIn(jobDirectory), mostShards);
  return note;
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

export function readDistinctNote(jobDirectory: string, pileCount: number): DistinctNote | undefined {
  const note = DISTINCT.read(jobDirectory);
  if (note === undefined || note.piles.length === pileCount) return note;
  throw damagedFile(
    DISTINCT.pathIn(jobDirectory),
    `expected the totals of ${pileCount} piles, got ${note.piles.length}`,
  );
}
