/**
 * Cuts the inputs into slices; a slice is what one task of pass 1 reads. A large plain file, or a large compressed file
 * whose members are known, gives several ranges. Any other compressed file and a stream are one slice each. Small files
 * are grouped. Pure. The cuts do not affect the output.
 */

export interface PlannedInput {
  /** A slice may begin at `start` plus any multiple of this; undefined: only at `start`. */
  readonly cutBytes: number | undefined;
  /** The start of the first slice, after any header; a decoded position if there are cut points. */
  readonly start: number;
  /** Stored bytes; undefined for a stream. */
  readonly byteLength: number | undefined;
  /** Decoded bytes; an estimate for a compressed input without cut points. */
  readonly decodedBytes: number;
  /** The places where a compressed input or a table may be cut, in order; not at its beginning or end. */
  readonly cutPoints?: readonly CutPoint[] | undefined;
  /** The end of its last range. Absent: at `decodedBytes`. */
  readonly end?: number | undefined;
}

export interface CutPoint {
  /** Decoded position, or row: records that begin here or later belong to the range that begins here. */
  readonly start: number;
  /**
   * The place where decoding must begin to reach them: the start of a member, as a stored and as a decoded position.
   */
  readonly storedStart: number;
  readonly decodedStart: number;
}

/** Records that begin in stored bytes [start, end) of one input; `end` undefined: up to its end. */
export interface SlicePart {
  readonly inputOrdinal: number;
  readonly start: number;
  readonly end: number | undefined;
  /**
   * The members of a part of a compressed input, whose `start` and `end` are decoded positions, or of a table: these
   * are rows.
   */
  readonly members?: MemberRange;
}

/**
 * Whole members of a compressed input: stored bytes [storedStart, storedEnd) and the range that they decode to. Of row
 * groups of a table, both are counted from the first one, and the range is an estimate.
 */
export interface MemberRange {
  readonly storedStart: number;
  readonly storedEnd: number;
  readonly decodedStart: number;
  readonly decodedEnd: number;
}

/** Parts in the order of the inputs. */
export type Slice = readonly SlicePart[];

const MIB = 1024 * 1024;

/** A slice gives each pile a segment of at least this size, so that pass 2 reads large pieces. */
const SEGMENT_BYTES = 256 * 1024;
const LARGEST_SLICE_BYTES = 65536 * MIB;
/** A thread, and then the index of the pile set, holds some 64 bytes for each segment: 8 MB. */
const MOST_SEGMENTS = 2 ** 17;
/** A task and its inputs' descriptions are in memory twice while the task is sent to a thread. */
const MOST_PARTS = 4096;

/**
 * Decoded bytes that a slice should hold: small enough that all workers are busy to the end and to limit the number of
 * segments, large enough for large segments. All segments of a pile but the last have `bufferBytes`.
 */
export function planSliceBytes(totalBytes: number, workers: number, pileCount: number, bufferBytes: number): number {
  const forBalance = totalBytes / (8 * workers);
  const largeSegments = pileCount * Math.max(SEGMENT_BYTES, bufferBytes);
  const forSegments = Math.min(largeSegments, totalBytes / (2 * workers));
  const most = Math.min(LARGEST_SLICE_BYTES, Math.max(largeSegments, MOST_SEGMENTS * bufferBytes));
  return Math.ceil(Math.min(Math.max(forBalance, forSegments, MIB), most));
}

/** Returns whether an input of about this many decoded bytes would be cut if it could be. */
export function isWorthCutting(decodedBytes: number, sliceBytes: number): boolean {
  return rangeCount(decodedBytes, sliceBytes) > 1;
}

/** Gives the slices one by one, so that the caller can stop at any of them. */
export function* planSlices(inputs: Iterable<PlannedInput>, sliceBytes: number): Generator<Slice, void> {
  let group: SlicePart[] = [];
  let groupBytes = 0;
  let inputOrdinal = -1;
  for (const input of inputs) {
    inputOrdinal += 1;
    const { byteLength } = input;
    const isAlone = byteLength === undefined || input.decodedBytes >= sliceBytes;
    if (group.length > 0 && (isAlone || groupBytes + input.decodedBytes > sliceBytes || group.length === MOST_PARTS)) {
      yield group;
      group = [];
      groupBytes = 0;
    }
    if (isAlone) yield* cut(inputOrdinal, input, sliceBytes);
    else {
      group.push({ inputOrdinal, start: input.start, end: byteLength });
      groupBytes += input.decodedBytes;
    }
  }
  if (group.length > 0) yield group;
}

function* cut(inputOrdinal: number, input: PlannedInput, sliceBytes: number): Generator<Slice, void> {
  const { byteLength, cutBytes, cutPoints } = input;
  if (byteLength !== undefined && cutBytes !== undefined)
    yield* cutAnywhere(inputOrdinal, { byteLength, start: input.start }, cutBytes, sliceBytes);
  else if (byteLength !== undefined && cutPoints !== undefined)
    yield* cutAtPoints(inputOrdinal, { ...input, byteLength }, cutPoints, sliceBytes);
  else yield [{ inputOrdinal, start: input.start, end: byteLength }];
}

function* cutAnywhere(
  inputOrdinal: number,
  { byteLength, start }: Pick<PlannedInput, 'start'> & { byteLength: number },
  cutBytes: number,
  sliceBytes: number,
): Generator<Slice, void> {
  const units = Math.floor((byteLength - start) / cutBytes);
  const count = Math.max(1, Math.min(units, rangeCount(byteLength - start, sliceBytes)));
  const edge = (i: number) => (i === count ? byteLength : start + Math.floor((units / count) * i) * cutBytes);
  for (let i = 0; i < count; i++) yield [{ inputOrdinal, start: edge(i), end: edge(i + 1) }];
}

function* cutAtPoints(
  inputOrdinal: number,
  { byteLength, decodedBytes, start: first, end = decodedBytes }: PlannedInput & { byteLength: number },
  cutPoints: readonly CutPoint[],
  sliceBytes: number,
): Generator<Slice, void> {
  const count = rangeCount(decodedBytes, sliceBytes);
  let from: CutPoint = { start: first, storedStart: 0, decodedStart: 0 };
  const partTo = (to: CutPoint): Slice => {
    const { start, storedStart, decodedStart } = from;
    const members = { storedStart, storedEnd: to.storedStart, decodedStart, decodedEnd: to.decodedStart };
    return [{ inputOrdinal, start, end: to.start, members }];
  };
  let edge = 1;
  for (const point of cutPoints) {
    if (edge >= count) break;
    if (point.decodedStart < (decodedBytes / count) * edge) continue;
    yield partTo(point);
    from = point;
    edge = Math.floor((point.decodedStart / decodedBytes) * count) + 1;
  }
  yield partTo({ start: end, storedStart: byteLength, decodedStart: decodedBytes });
}

function rangeCount(byteLength: number, sliceBytes: number): number {
  return Math.max(1, Math.round(byteLength / sliceBytes));
}
