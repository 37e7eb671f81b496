/**
 * What each phase of a job costs, so that the time of a phase tells that of the next one. The unit is the cost of reading
 * or writing one byte. Only the relation matters: an estimate takes the time of a unit from what the job has done so far.
 */

/** A phase of a job; `ShuffleProgress.phase` says what each of them does. */
export type JobPhase = 'count' | 'scatter' | 'shuffle' | 'commit' | 'verify';

export interface PhaseCost {
  readonly phase: JobPhase;
  /** Undefined: the inputs have an unknown size. */
  readonly cost: number | undefined;
}

/** The sizes that decide the costs of a shuffle; undefined while they are unknown. */
export interface ShuffleSizes extends OutputSizes {
  /** Bytes of the inputs as stored. */
  readonly storedBytes: number | undefined;
  /** The part of `recordBytes` that comes from compressed inputs. */
  readonly decodedBytes: number | undefined;
  /** Whether a pass of its own reads the inputs first. */
  readonly isCounted?: boolean | undefined;
}

interface OutputSizes {
  /** Bytes of all records. */
  readonly recordBytes: number | undefined;
  readonly codec: 'gzip' | 'zstd' | undefined;
  /** Whether pass 2 finds all records in memory, where pass 1 has read them. */
  readonly isHeld?: boolean | undefined;
  /** Whether the output is a file or shards, which are made durable. */
  readonly isDurable: boolean;
}

/** Measured on text: to inflate a byte takes a little longer than to read and write one. */
const DECODING = 2.5;
/** To read a byte and write it; for records in memory, to write it. */
const MOVING = { fromDisk: 2, fromMemory: 1.3 };
const ENCODING = { gzip: 40, zstd: 8 };
/** The system has written nearly all of the output by then. */
const MAKING_DURABLE = 0.1;

/** A shuffle: pass 1 reads inputs and writes piles, pass 2 reads piles and writes the output. */
export function costsOfShuffle(sizes: ShuffleSizes): readonly PhaseCost[] {
  const { storedBytes, recordBytes, decodedBytes, isCounted } = sizes;
  const rest: PhaseCost[] = [
    { phase: 'scatter', cost: costOfScatter(storedBytes, recordBytes, decodedBytes) },
    ...costsOfOutput(sizes),
  ];
  return isCounted === true ? [{ phase: 'count', cost: costOfScatter(storedBytes, 0, decodedBytes) }, ...rest] : rest;
}

/** A shuffle of a store, whose piles are there. */
export function costsOfStoreShuffle(sizes: OutputSizes): readonly PhaseCost[] {
  return [{ phase: 'scatter', cost: 0 }, ...costsOfOutput(sizes)];
}

/** A job without pass 2. @param writtenBytes what pass 1 writes. */
export function costsOfScatter(
  sizes: Pick<ShuffleSizes, 'storedBytes' | 'decodedBytes'>,
  writtenBytes: number | undefined,
): readonly PhaseCost[] {
  return [
    { phase: 'scatter', cost: costOfScatter(sizes.storedBytes, writtenBytes, sizes.decodedBytes) },
    { phase: 'commit', cost: costOfCommit(writtenBytes) },
  ];
}

/** Verifying a store of this many bytes. */
export function costsOfVerify(storedBytes: number): readonly PhaseCost[] {
  return [{ phase: 'verify', cost: storedBytes }];
}

/** A job that makes its records itself. */
export function costsOfOutput({ recordBytes, codec, isHeld, isDurable }: OutputSizes): readonly PhaseCost[] {
  const moving = isHeld === true ? MOVING.fromMemory : MOVING.fromDisk;
  const perByte = moving + (codec === undefined ? 0 : ENCODING[codec]);
  return [
    { phase: 'shuffle', cost: recordBytes === undefined ? undefined : recordBytes * perByte },
    { phase: 'commit', cost: isDurable ? costOfCommit(recordBytes) : 0 },
  ];
}

function costOfScatter(
  storedBytes: number | undefined,
  writtenBytes: number | undefined,
  decodedBytes: number | undefined,
): number | undefined {
  if (storedBytes === undefined || writtenBytes === undefined || decodedBytes === undefined) return undefined;
  return storedBytes + writtenBytes + DECODING * decodedBytes;
}

function costOfCommit(writtenBytes: number | undefined): number | undefined {
  return writtenBytes === undefined ? undefined : writtenBytes * MAKING_DURABLE;
}
