/**
 * Cuts the inputs into splits, what one task of pass 1 reads: ranges of large plain files, whole
 * compressed files and streams, groups of small files. Pure. How the splits are cut changes
 * nothing of the output.
 */

/** One input as far as planning is concerned. */
export interface PlannedInput {
  /** A split may begin inside it at multiples of this behind `start`; undefined: nowhere. */
  readonly cutBytes: number | undefined;
  /** Stored bytes before the first that a split has to read: those of a header. */
  readonly start: number;
  /** Stored bytes; undefined for a stream. */
  readonly byteLength: number | undefined;
  /** Bytes once decoded, estimated for compressed inputs. */
  readonly decodedBytes: number;
}

/** Records that begin in stored bytes [start, end) of one input; `end` undefined: all there is. */
export interface SplitPart {
  readonly inputOrdinal: number;
  readonly start: number;
  readonly end: number | undefined;
}

/** Parts in the order of the inputs. */
export type Split = readonly SplitPart[];

const MIB = 1024 * 1024;

/** A split leaves each pile a segment of at least this much, so that pass 2 reads large pieces. */
const SEGMENT_BYTES = 256 * 1024;
const LARGEST_SPLIT_BYTES = 65536 * MIB;
/** A task and what is known of each of its inputs are in memory twice while it is sent to a thread. */
const MOST_PARTS = 4096;

/**
 * Decoded bytes that a split should hold: small enough that all workers are busy to the end, large
 * enough that segments stay large.
 */
export function planSplitBytes(totalBytes: number, workers: number, pileCount: number): number {
  const forBalance = totalBytes / (8 * workers);
  const forSegments = Math.min(pileCount * SEGMENT_BYTES, totalBytes / (2 * workers));
  return Math.ceil(Math.min(Math.max(forBalance, forSegments, MIB), LARGEST_SPLIT_BYTES));
}

/** One by one, so that whoever takes them can stop at any. */
export function* planSplits(inputs: readonly PlannedInput[], splitBytes: number): Generator<Split, void> {
  let group: SplitPart[] = [];
  let groupBytes = 0;
  for (const [inputOrdinal, input] of inputs.entries()) {
    const { byteLength } = input;
    const isAlone = byteLength === undefined || input.decodedBytes >= splitBytes;
    if (group.length > 0 && (isAlone || groupBytes + input.decodedBytes > splitBytes || group.length === MOST_PARTS)) {
      yield group;
      group = [];
      groupBytes = 0;
    }
    if (isAlone) yield* cut(inputOrdinal, input, splitBytes);
    else {
      group.push({ inputOrdinal, start: input.start, end: byteLength });
      groupBytes += input.decodedBytes;
    }
  }
  if (group.length > 0) yield group;
}

/** Ranges of one input of its own, as equal as can be. */
function* cut(
  inputOrdinal: number,
  { byteLength, cutBytes, start }: PlannedInput,
  splitBytes: number,
): Generator<Split, void> {
  if (byteLength === undefined || cutBytes === undefined) {
    yield [{ inputOrdinal, start, end: byteLength }];
    return;
  }
  const units = Math.floor((byteLength - start) / cutBytes);
  const count = Math.max(1, Math.min(units, Math.round((byteLength - start) / splitBytes)));
  const edge = (i: number) => (i === count ? byteLength : start + Math.floor((units / count) * i) * cutBytes);
  for (let i = 0; i < count; i++) yield [{ inputOrdinal, start: edge(i), end: edge(i + 1) }];
}
