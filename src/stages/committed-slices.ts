/**
 * Finds the slices that an earlier attempt at the job has scattered, from the indexes of their pile sets. Removes all other
 * files of that attempt.
 */
import { basename, join } from 'node:path';
import { setImmediate as eventLoopTurn } from 'node:timers/promises';
import type { ScatterResult } from '../../workers/tasks/scatter-slice.js';
import { type SystemError, VerificationError } from '../errors.js';
import type { JobControl } from '../floor/job-control.js';
import { isAttemptName } from '../io/atomic-files.js';
import { removeFile } from '../io/files.js';
import { checksumText, list, object, optional, readShape, type Shape, text, wholeNumber } from '../io/json-shape.js';
import { listNames, statPath } from '../io/paths.js';
import {
  committedIndexPath,
  listCommittedSlices,
  revokePileSet,
  sliceOfPileSet,
} from '../job-directory/pile-set-commits.js';
import { dataFilePath, type PileSetLayout, roleOf } from '../piles/pile-layout.js';
import { damagedPileSetError, describeDamage, isUnreadable } from '../piles/pile-set-file.js';
import { readPileSetDescription, readPileTotals } from '../piles/pile-set-index.js';
import type { PileSet } from '../piles/pile-set-writer.js';
import type { PileTotals } from '../piles/pile-totals.js';
import type { ReadableInputs, SliceReport } from '../sources/input-part.js';
import { nameSome } from '../values/format-numbers.js';

export interface CommittedSlice {
  readonly slice: number;
  readonly result: ScatterResult;
}

/** Bounds for the ordinals in an index. */
interface JobSize {
  readonly sliceCount: number;
  readonly inputCount: number;
}

/** @param ofPiles the number of slices of a second scatter, which follow those of inputs and have groups in place of inputs. */
export function sizeOfJob(
  {
    slices,
    inputs,
    weighing,
  }: Record<'slices' | 'inputs', { readonly length: number }> & Pick<ReadableInputs, 'weighing'>,
  ofPiles: number,
): JobSize {
  const groupCount = ofPiles > 0 ? (weighing?.groups.length ?? 1) : 0;
  return { sliceCount: slices.length + ofPiles, inputCount: Math.max(inputs.length, groupCount) };
}

const reportShape: Shape<SliceReport> = object({
  coverage: list(
    object({
      inputOrdinal: wholeNumber(),
      start: wholeNumber(),
      end: wholeNumber(),
      rowBytes: optional(wholeNumber()),
      inputBytes: optional(wholeNumber()),
      addedBytes: wholeNumber(),
      trailerBytes: wholeNumber(),
      markBytes: optional(wholeNumber()),
      blank: optional(object({ records: wholeNumber(), bytes: wholeNumber() })),
      weighed: optional(
        object({
          records: wholeNumber(),
          made: optional(object({ records: wholeNumber(), bytes: wholeNumber(), readBytes: wholeNumber() })),
          expected: optional(object({ records: text, bytes: text })),
          sums: optional(object({ read: text, made: text })),
        }),
      ),
      ordinals: optional(object({ start: wholeNumber(), end: wholeNumber(), names: optional(checksumText) })),
    }),
  ),
  longestRecordBytes: wholeNumber(),
  leftOut: optional(object({ records: wholeNumber(), bytes: wholeNumber() })),
  sections: optional(list(object({ text, records: wholeNumber(), bytes: wholeNumber(), checksum: checksumText }))),
});

/**
 * The pile sets of a job that can be resumed: they are committed one by one, and those of an earlier attempt are
 * reused.
 */
export interface CheckpointPileSets {
  /** Returns whether the output holds all piles of a stripe; then its data may be deleted. */
  readonly isStripeDone: (stripe: number) => boolean;
}

interface CommittedSlicesQuery extends CheckpointPileSets {
  /** Gets one line if the job must make pile sets again. */
  readonly onDamage: (line: string) => void;
  readonly layout: PileSetLayout;
  readonly size: JobSize;
  readonly control: JobControl;
}

/**
 * Reads the slices one by one. Revokes each pile set that is damaged or unreadable, so that the job makes it again. If
 * several pile sets are unreadable and none can be read, the disk is at fault and the pile sets may be whole: this
 * throws the error and revokes none.
 */
export async function* readCommittedSlices(query: CommittedSlicesQuery): AsyncGenerator<CommittedSlice> {
  const { layout, onDamage, control } = query;
  const directories = [layout.indexDirectory, ...layout.disks.map(({ directory }) => directory)];
  const unreadable: { slice: number; error: SystemError }[] = [];
  const slices = listCommittedSlices(layout.indexDirectory);
  const damage: string[] = [];
  const revoke = async (slice: number, error: Error) => {
    damage.push(describeDamage(error));
    await revokePileSet(layout.indexDirectory, slice);
  };
  for (const slice of slices) {
    // Lets the process receive signals.
    await eventLoopTurn();
    control.throwIfAborted();
    try {
      yield { slice, result: readCommitted(query, slice) };
    } catch (error) {
      if (error instanceof VerificationError) await revoke(slice, error);
      else if (isUnreadable(error, directories)) unreadable.push({ slice, error });
      else throw error;
    }
  }
  const [first] = unreadable;
  if (first !== undefined && unreadable.length > 1 && unreadable.length === slices.length) throw first.error;
  for (const { slice, error } of unreadable) await revoke(slice, error);
  if (damage.length === 1) onDamage(`${damage[0]}; this part is made again`);
  else if (damage.length > 1) onDamage(`${damage.length} parts are made again: ${nameSome(damage)}`);
}

export function readCommitted(
  { layout, size, isStripeDone }: Pick<CommittedSlicesQuery, 'layout' | 'size' | 'isStripeDone'>,
  slice: number,
): ScatterResult {
  const { sliceCount, inputCount } = size;
  const path = committedIndexPath(layout.indexDirectory, slice);
  const { pileSet, totals, report } = readPileSet(layout, path, isStripeDone);
  const read = readShape(reportShape, report, path);
  const inputOrdinals = read.coverage.map(({ inputOrdinal }) => inputOrdinal);
  const isOfTheseInputs = inputOrdinals.every((ordinal) => ordinal < inputCount);
  if (slice >= sliceCount || sliceOfPileSet(pileSet.name) !== slice || !isOfTheseInputs) throw otherJobError(path);
  // An index does not say which decoders there were, nor what an earlier attempt has told.
  return { ...read, pileSet, totals };
}

/**
 * @param isStripeDone whether the data of a stripe may be deleted.
 * @throws VerificationError if the pile set is damaged, or not all there.
 */
function readPileSet(
  layout: PileSetLayout,
  path: string,
  isStripeDone: (stripe: number) => boolean,
): { readonly pileSet: PileSet; readonly totals: PileTotals; readonly report: unknown } {
  const index = { path };
  const { name, stripeCount, diskCount, dataFiles, report } = readPileSetDescription(index);
  const totals = readPileTotals(index);
  const isOfThisJob =
    stripeCount === layout.stripeCount &&
    diskCount === layout.disks.length &&
    totals.records.length === layout.pileCount;
  if (!isOfThisJob) throw otherJobError(path);
  for (const { stripe, disk, byteLength } of dataFiles) {
    if (isStripeDone(stripe)) continue;
    const dataPath = dataFilePath(layout, name, stripe, disk);
    const size = statPath(dataPath, 'temp')?.size;
    if (size === BigInt(byteLength)) continue;
    const found = size === undefined ? 'is missing' : `has ${size} bytes`;
    throw damagedPileSetError(
      `the data file ${dataPath} ${found}, expected ${byteLength} bytes`,
      undefined,
      roleOf(layout),
    );
  }
  const diskBytes = dataFiles.reduce((sum, { byteLength }) => sum + byteLength, 0);
  return { pileSet: { name, index, diskBytes, dataFiles }, totals, report };
}

function otherJobError(path: string): VerificationError {
  return new VerificationError(`the index ${path} belongs to another job`);
}

/** Removes the files of tasks that did not finish. @param names of the pile sets that stay. */
export function removeLeftovers(layout: PileSetLayout, names: ReadonlySet<string>): void {
  for (const { directory } of layout.disks) {
    for (const file of listNames(directory, 'temp')) {
      const name = /^(.+)\.\d+\.pile$/.exec(file)?.[1];
      if (name !== undefined && !names.has(name)) removeFile(join(directory, file), 'temp');
    }
  }
  const committed = new Set(
    listCommittedSlices(layout.indexDirectory).map((slice) =>
      basename(committedIndexPath(layout.indexDirectory, slice)),
    ),
  );
  for (const file of listNames(layout.indexDirectory, 'temp')) {
    const isLeft = isAttemptName(file) || (file.endsWith('.index') && !committed.has(file));
    if (isLeft) removeFile(join(layout.indexDirectory, file), 'temp');
  }
}
