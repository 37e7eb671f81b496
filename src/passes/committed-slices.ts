/**
 * The slices that an earlier run of the job has scattered, read from the indexes of their pile sets; and
 * what else that run left, removed.
 */
import { basename, join } from 'node:path';
import { setImmediate as eventLoopTurn } from 'node:timers/promises';
import type { ScatterResult } from '../../workers/tasks/scatter.js';
import type { SliceReport } from '../../workers/tasks/slice-report.js';
import { type SystemError, VerificationError } from '../errors.js';
import { removeFile } from '../io/files.js';
import { list, object, optional, readShape, type Shape, wholeNumber } from '../io/json-shape.js';
import { listNames, statPath } from '../io/paths.js';
import { isNameOfAttempt } from '../io/small-file.js';
import type { JobControl } from '../job-control.js';
import {
  committedIndexPath,
  listCommittedSlices,
  revokePileSet,
  sliceOfPileSet,
} from '../job-directory/pile-set-commits.js';
import { dataFilePath, type StoreLayout } from '../pile-sets/pile-layout.js';
import { isUnreadable } from '../pile-sets/pile-set-file.js';
import { readPileSetDescription, readPileTallies } from '../pile-sets/read-pile-set-index.js';

export interface CommittedSlice {
  readonly slice: number;
  readonly result: ScatterResult;
}

/** What an index must not go beyond. */
export interface JobSize {
  readonly sliceCount: number;
  readonly inputCount: number;
}

const reportShape: Shape<SliceReport> = object({
  coverage: list(
    object({
      inputOrdinal: wholeNumber(),
      start: wholeNumber(),
      end: wholeNumber(),
      inputBytes: optional(wholeNumber()),
      addedBytes: wholeNumber(),
      trailerBytes: wholeNumber(),
    }),
  ),
  longestRecordBytes: wholeNumber(),
});

/** Where they are, and what is to be known of them. */
export interface CommittedSlicesQuery {
  readonly layout: StoreLayout;
  readonly size: JobSize;
  /** Whether the data of a stripe is not needed any more, and may be gone. */
  readonly isRemoved: (stripe: number) => boolean;
  /** Told, in one line, of what is to be made again and why. */
  readonly onDamage: (line: string) => void;
  readonly control: JobControl;
}

/**
 * Reads them one by one. A pile set that is damaged or cannot be read is taken back, so that it is made again; but
 * where none of several can be read it is their disk that cannot, and they may be whole.
 * @throws AbortedError when the job was asked to stop.
 */
export async function* readCommittedSlices(query: CommittedSlicesQuery): AsyncGenerator<CommittedSlice> {
  const { layout, onDamage, control } = query;
  const directories = [layout.indexDirectory, ...layout.tempPlaces.map(({ directory }) => directory)];
  const unreadable: { slice: number; error: SystemError }[] = [];
  const slices = listCommittedSlices(layout.indexDirectory);
  const takeBack = async (slice: number, error: Error) => {
    onDamage(`${error.message}; this part is made again`);
    await revokePileSet(layout.indexDirectory, slice);
  };
  for (const slice of slices) {
    // Signals are heard.
    await eventLoopTurn();
    control.throwIfAborted();
    try {
      yield { slice, result: readCommitted(query, slice) };
    } catch (error) {
      if (error instanceof VerificationError) await takeBack(slice, error);
      else if (isUnreadable(error, directories)) unreadable.push({ slice, error });
      else throw error;
    }
  }
  const [first] = unreadable;
  if (first !== undefined && unreadable.length > 1 && unreadable.length === slices.length) throw first.error;
  for (const { slice, error } of unreadable) await takeBack(slice, error);
}

function readCommitted({ layout, size, isRemoved }: CommittedSlicesQuery, slice: number): ScatterResult {
  const { sliceCount, inputCount } = size;
  const path = committedIndexPath(layout.indexDirectory, slice);
  const index = { path };
  const { name, stripeCount, diskCount, dataFiles, report } = readPileSetDescription(index);
  const tallies = readPileTallies(index);
  const isOfThisJob =
    slice < sliceCount &&
    sliceOfPileSet(name) === slice &&
    stripeCount === layout.stripeCount &&
    diskCount === layout.tempPlaces.length &&
    tallies.records.length === layout.pileCount;
  const read = readShape(reportShape, report, path);
  const isOfTheseInputs = read.coverage.every(({ inputOrdinal }) => inputOrdinal < inputCount);
  if (!isOfThisJob || !isOfTheseInputs) throw new VerificationError(`the index ${path} is not of this job`);
  for (const { stripe, disk, byteLength } of dataFiles) {
    if (isRemoved(stripe)) continue;
    const dataPath = dataFilePath(layout, name, stripe, disk);
    const size = statPath(dataPath, 'temp')?.size;
    if (size === BigInt(byteLength)) continue;
    const found = size === undefined ? 'is missing' : `has ${size} bytes`;
    throw new VerificationError(`the data file ${dataPath} ${found}, expected ${byteLength} bytes`);
  }
  const diskBytes = dataFiles.reduce((sum, { byteLength }) => sum + byteLength, 0);
  return { ...read, streamHeader: undefined, pileSet: { name, index, diskBytes, dataFiles }, tallies };
}

/** Removes all files of tasks that did not come to their end. @param names of the pile sets that stay. */
export function removeLeftovers(layout: StoreLayout, names: ReadonlySet<string>): void {
  for (const { directory } of layout.tempPlaces) {
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
    const isLeft = isNameOfAttempt(file) || (file.endsWith('.index') && !committed.has(file));
    if (isLeft) removeFile(join(layout.indexDirectory, file), 'temp');
  }
}
