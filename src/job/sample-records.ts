/**
 * Counts the records of samples of the inputs, for a preview. The job plans with fewer samples, which are enough for
 * it: its results never depend on them.
 *
 * All bytes of records lie one after the other and are cut into strata, each with two random places. A few inputs are
 * strata of their own. Each input consists of windows, and those around the places are read. So a window is drawn as
 * often as its share of the bytes demands, and on average it has as many records for a byte as its stratum. A window
 * counts the ends of records, so that records that are longer than a window count, too.
 */
import seedrandom from 'seedrandom/seedrandom.js';
import { ARENA_START, Kernel } from '../../workers/kernel/kernel.js';
import { sumOfField } from '../../workers/read/field-sum.js';
import { BadRecord, type Framing } from '../formats/framing.js';
import { type FramingSpec, framingOf } from '../formats/framing-table.js';
import type { NumberField } from '../formats/selector.js';
import { openForRead, readBytes, withFile } from '../io/files.js';
import { hearSignalsAt } from '../pause.js';
import { BOUNDARY_COUNT, BOUNDARY_TABLE_BYTES } from '../plan/arena-sizes.js';
import type { Expected } from '../plan/sampled-records.js';
import { exactly, partsOf, recordsOf, type Stratum } from '../plan/sampled-records.js';
import type { Estimate } from '../sources/estimate.js';
import { type FileInput, type Input, isKept } from '../sources/source.js';

interface RecordSample {
  /** Records of all files, not only of the sample. */
  readonly records: Expected;
  /** About the sum of the field in them, in parts of 10^-15; 0 without one. */
  readonly fieldSum: number;
  /** Some whole records, each with its delimiter. */
  readonly kept: readonly Uint8Array[];
}

export interface SampledFile {
  readonly input: FileInput;
  readonly ordinal: number;
  /** An estimate if the input is compressed. */
  readonly bytes: number;
}

export function filesOf(inputs: readonly Input[], { decodedBytes }: Estimate): SampledFile[] {
  return inputs.flatMap((input, ordinal) =>
    isKept(input) ? [{ input, ordinal, bytes: decodedBytes[ordinal] ?? 0 }] : [],
  );
}

/** How many windows there are, after half as many that tell where they should be. The more there are, the smaller. */
interface WindowSizes {
  readonly windowBytes: number;
  readonly fewest: number;
  readonly most: number;
}

const USUAL_WINDOWS: WindowSizes = { windowBytes: 64 * 1024, fewest: 128, most: 512 };
const PLACES_OF_STRATUM = 2;
/** A stratum or an input of so few windows is read whole. */
const MOST_WHOLE_WINDOWS = 4;
/** A beginning, as stored, is as long as so many windows: where it is read, nothing else of the input can be. */
const HEAD_WINDOWS = 8;
const SHORTER_HEAD = 16;
const MOST_DECODED_BYTES = 16 * 2 ** 20;
/** See `Stratum.doubt`: the rest of an input may have records of half the length, or of twice. */
const UNSEEN_REST = 2;
/** Where no record is seen; a record may as well be a byte. */
const USUAL_RECORD_BYTES = 200;
/** Records are kept for other measurements. */
const MOST_KEPT_BYTES = 4 * 2 ** 20;
/** Scanning may read a little after the bytes. */
const BEHIND_BYTES = 256;
/** Samples have records of any length. */
const LONGEST_BYTES = 2 ** 31 - 1;

export async function sampleRecords(
  files: readonly SampledFile[],
  framingSpec: FramingSpec,
  drawSeed: string,
  signal: AbortSignal | undefined,
  field?: NumberField,
  { windowBytes, fewest, most } = USUAL_WINDOWS,
): Promise<RecordSample> {
  const framing = framingOf(framingSpec);
  const filled = files.filter(({ bytes }) => bytes > 0);
  const starts = new Float64Array(filled.length + 1);
  for (const [i, { bytes }] of filled.entries()) starts[i + 1] = (starts[i] ?? 0) + bytes;
  const allBytes = starts.at(-1) ?? 0;
  const windowCount = Math.min(most, Math.max(fewest, PLACES_OF_STRATUM * filled.length));
  const bytesOfEach = Math.ceil((windowBytes * fewest) / windowCount);
  const ranges = rangesOf(filled, allBytes, windowCount / 4, bytesOfEach);
  const mostKeptBytes = MOST_KEPT_BYTES / (PLACES_OF_STRATUM * ranges.length);
  const windows = new WindowReader(framing, field, bytesOfEach, mostKeptBytes);
  const draw = seedrandom(drawSeed);
  const fileAt = (place: number) => lastUpTo(starts.subarray(0, -1), place);
  const drawIn = (range: StratumRange): DrawnStratum => {
    const first = fileAt(range.start);
    const [file, fileStart = 0, fileEnd = 0] = [filled[first], starts[first], starts[first + 1]];
    const whole =
      file !== undefined && range.end <= fileEnd
        ? windows.whole(file, Math.floor(range.start - fileStart), Math.floor(range.end - fileStart))
        : undefined;
    if (whole !== undefined) return stratumOf(range, [whole]);
    const places = Array.from({ length: PLACES_OF_STRATUM }, () => range.start + draw() * (range.end - range.start));
    const seen = places.flatMap((place) => {
      const number = fileAt(place);
      const found = filled[number];
      return found === undefined ? [] : [windows.around(found, place - (starts[number] ?? 0))];
    });
    return stratumOf(range, seen);
  };
  const drawAll = async (inRanges: readonly StratumRange[]): Promise<readonly DrawnStratum[]> => {
    const strata: DrawnStratum[] = [];
    for (const [index, range] of inRanges.entries()) {
      await hearSignalsAt(index, signal);
      strata.push(drawIn(range));
    }
    return strata;
  };
  // Most records may lie together, as in a file that is sorted by length. Only new draws may count in strata that the
  // first ones choose: where much was found by chance, there would be more of it.
  const parts = partsOf(await drawAll(ranges), ranges.length);
  const strata = await drawAll(ranges.flatMap(({ start, end }, i) => cut(start, end - start, parts[i] ?? 1)));
  const records =
    framing.cut.kind === 'every'
      ? exactly(allBytes / framing.cut.byteLength)
      : recordsOf(strata, windows.seenBytes, filled.length);
  return { records, fieldSum: strata.reduce((sum, stratum) => sum + stratum.fieldSum, 0), kept: windows.kept };
}

/** Offsets in all inputs, one after the other. */
interface StratumRange {
  readonly start: number;
  readonly end: number;
}

interface DrawnStratum extends Stratum {
  readonly fieldSum: number;
}

/**
 * Cuts the inputs into about `count` ranges. Each input has strata of its own, unless there are too many. If it is
 * sorted by length, its records differ most at its ends: few inputs have strata of these, which are read whole.
 */
function rangesOf(
  files: readonly SampledFile[],
  allBytes: number,
  count: number,
  windowBytes: number,
): readonly StratumRange[] {
  if (files.length > 2 * count) return cut(0, allBytes, count);
  const mostEndBytes = 4 * files.length > count ? 0 : MOST_WHOLE_WINDOWS * windowBytes;
  let start = 0;
  return files.flatMap(({ bytes }) => {
    start += bytes;
    const endBytes = bytes > MOST_WHOLE_WINDOWS * mostEndBytes ? mostEndBytes : 0;
    const [from, to] = [start - bytes + endBytes, start - endBytes];
    const middle = cut(from, to - from, Math.max(1, Math.round((count * bytes) / allBytes)));
    return endBytes === 0 ? middle : [{ start: start - bytes, end: from }, ...middle, { start: to, end: start }];
  });
}

function cut(start: number, byteLength: number, parts: number): readonly StratumRange[] {
  return Array.from({ length: parts }, (_, i) => ({
    start: start + (byteLength * i) / parts,
    end: start + (byteLength * (i + 1)) / parts,
  }));
}

function stratumOf({ start, end }: StratumRange, seen: readonly Window[]): DrawnStratum {
  const bytes = end - start;
  const ofField = seen.reduce((sum, window) => sum + window.fieldSum / window.bytes, 0);
  return {
    bytes,
    densities: seen.map((window) => window.records / window.bytes),
    doubt: Math.max(...seen.map(({ doubt }) => doubt)),
    fieldSum: (bytes * ofField) / seen.length,
  };
}

/** The place of the last number that is at most `limit`; the numbers rise. */
function lastUpTo(numbers: Float64Array, limit: number): number {
  let [low, high] = [0, numbers.length];
  while (high - low > 1) {
    const middle = (low + high) >>> 1;
    if ((numbers[middle] ?? 0) <= limit) low = middle;
    else high = middle;
  }
  return low;
}

interface Window {
  readonly records: number;
  /** Bytes that chose the window. */
  readonly bytes: number;
  readonly fieldSum: number;
  /** See `Stratum`. */
  readonly doubt: number;
}

interface Piece {
  readonly bytes: Uint8Array;
  /** Whether a record begins with it. */
  readonly atStart: boolean;
  /** Whether its end is that of the input. */
  readonly atEnd: boolean;
}

class WindowReader {
  seenBytes = 0;
  readonly kept: Uint8Array[] = [];
  readonly #framing: Framing;
  readonly #field: NumberField | undefined;
  readonly #windowBytes: number;
  /** The most that is kept of one window. */
  readonly #mostKeptBytes: number;
  readonly #kernel = new Kernel();
  /** The last input that has one window, or of which one is read. */
  #only: readonly [SampledFile, Window] | undefined;

  constructor(framing: Framing, field: NumberField | undefined, windowBytes: number, mostKeptBytes: number) {
    this.#framing = framing;
    this.#field = field;
    this.#windowBytes = windowBytes;
    this.#mostKeptBytes = mostKeptBytes;
  }

  /** Bytes [start, end) of the records, if they are few and can be read; else undefined. */
  whole(file: SampledFile, start: number, end: number): Window | undefined {
    if (end - start > MOST_WHOLE_WINDOWS * this.#windowBytes || !this.#canSeek(file)) return undefined;
    return this.#read(file, start, end);
  }

  /** @param place of a byte of the records, counted from the first of them. */
  around(file: SampledFile, place: number): Window {
    if (this.#only?.[0] === file) return this.#only[1];
    const { bytes } = file;
    const inMembers = this.#inMembers(file, place);
    if (inMembers !== undefined) return inMembers;
    const isSmall = bytes <= MOST_WHOLE_WINDOWS * this.#windowBytes;
    if (this.#canSeek(file) && !isSmall) {
      const start = Math.floor(place / this.#windowBytes) * this.#windowBytes;
      return this.#read(file, start, Math.min(bytes, start + this.#windowBytes));
    }
    const window = this.#canSeek(file) ? this.#read(file, 0, bytes) : this.#head(file);
    this.#only = [file, window];
    return window;
  }

  #canSeek({ input }: SampledFile): boolean {
    return input.codec === undefined && this.#framing.cut.kind !== 'never';
  }

  #read({ input, bytes }: SampledFile, start: number, end: number): Window {
    const { cut } = this.#framing;
    // The end of a record may begin before the window.
    const behind =
      cut.kind === 'every' ? start % cut.byteLength : 'lookBehindBytes' in cut ? cut.lookBehindBytes - 1 : 0;
    const from = Math.max(0, start - behind);
    const piece = { atStart: from === 0 || cut.kind === 'every', atEnd: end === bytes };
    return this.#count({ bytes: bytesOf(input, input.header.byteLength + from, end - from), ...piece }, end - start, 1);
  }

  /** The beginning of an input in which records cannot be found from anywhere. */
  #head({ input, bytes }: SampledFile): Window {
    const { codec, header, version } = input;
    const headBytes = HEAD_WINDOWS * this.#windowBytes + (codec === undefined ? header.byteLength : 0);
    const stored = bytesOf(input, 0, Math.min(version.byteLength, headBytes));
    // What decodes to very much is decoded in part. A corrupt input is reported by the job.
    const tries = codec === undefined ? [stored] : [stored, stored.subarray(0, stored.byteLength / SHORTER_HEAD)];
    for (const head of tries) {
      const decoded = codec?.decodeHead(head, MOST_DECODED_BYTES);
      const { kept, byteLength } = decoded ?? { kept: head, byteLength: head.byteLength };
      const records = kept.subarray(header.byteLength);
      if (records.byteLength === 0) continue;
      const isWhole = head.byteLength === version.byteLength && byteLength === kept.byteLength;
      const piece = { bytes: records, atStart: true, atEnd: isWhole };
      return this.#count(piece, isWhole ? bytes : records.byteLength, isWhole ? 1 : UNSEEN_REST);
    }
    return { records: bytes / USUAL_RECORD_BYTES, bytes, fieldSum: 0, doubt: USUAL_RECORD_BYTES };
  }

  /** Undefined: no member begins near the place, or no record can be found in the middle of the input. */
  #inMembers({ input, bytes }: SampledFile, place: number): Window | undefined {
    const { codec, version } = input;
    if (codec?.findMember === undefined || this.#framing.cut.kind === 'never') return undefined;
    const position = Math.floor((place / bytes) * version.byteLength);
    const near = bytesOf(input, position, HEAD_WINDOWS * this.#windowBytes);
    const found = codec.findMember(near);
    if (found < 0 || position + found === 0) return undefined;
    const { kept } = codec.decodeHead(near.subarray(found), HEAD_WINDOWS * this.#windowBytes);
    if (kept.byteLength === 0) return undefined;
    return this.#count({ bytes: kept, atStart: false, atEnd: false }, kept.byteLength, 1);
  }

  /** Counts the records that end in a piece, and about the sum of their field. */
  #count(piece: Piece, bytes: number, doubt: number): Window {
    const { recordEnd, countSample } = this.#framing;
    const { byteLength } = piece.bytes;
    this.seenBytes += byteLength;
    const { records: scanned, wholeBytes, sum, hasRest } = this.#scan(piece);
    // A scan from the middle does not know what was before.
    const records = (piece.atStart ? undefined : countSample(piece.bytes)) ?? scanned;
    const isOpen = piece.atStart || recordEnd === undefined ? hasRest : piece.bytes.at(-1) !== recordEnd.byte;
    const fieldSum = wholeBytes === 0 ? 0 : (Number(sum) * byteLength) / wholeBytes;
    return { records: records + (piece.atEnd && isOpen ? 1 : 0), bytes, fieldSum, doubt };
  }

  #scan({ bytes, atStart }: Piece) {
    const kernel = this.#kernel;
    const endBytes = this.#framing.delimiter?.byteLength ?? 0;
    const table = ARENA_START;
    const from = ARENA_START + 2 * BOUNDARY_TABLE_BYTES + 16;
    const fieldAt = from + bytes.byteLength + BEHIND_BYTES;
    kernel.ensureArena(fieldAt + 2 * BEHIND_BYTES + (this.#field?.path.byteLength ?? 0) - ARENA_START);
    kernel.bytes.set(bytes, from);
    const end = from + bytes.byteLength;
    // The bytes of an earlier piece must not look like a part of this one.
    kernel.bytes.fill(0, end, end + BEHIND_BYTES);
    if (this.#field !== undefined) kernel.bytes.set(this.#field.path, fieldAt);
    const scanner = this.#framing.openScanner(kernel, LONGEST_BYTES, atStart ? 'beginning' : 'sample');
    let [records, firstStart, recordStart, sum, keptBytes] = [0, from, from, 0n, 0];
    try {
      for (let at = from; ; at = recordStart) {
        const count = scanner.scan(at, end, recordStart, table, BOUNDARY_COUNT);
        for (let i = 0; i < count; i++) {
          const start = kernel.view.getUint32(table + 8 * i, true);
          recordStart = kernel.view.getUint32(table + 8 * i + 4, true);
          // The first one may be the rest of a record.
          if (!atStart && records + i === 0) firstStart = recordStart;
          else if (keptBytes + recordStart - start <= this.#mostKeptBytes) {
            keptBytes += recordStart - start;
            this.kept.push(kernel.bytes.slice(start, recordStart));
          }
        }
        // A sum ends before a record without a number, as the rest of a record is.
        const skipped = atStart || records > 0 ? 0 : 1;
        if (count > skipped && this.#field !== undefined)
          sum += sumOfField(kernel, fieldAt, endBytes, table + 8 * skipped, count - skipped);
        records += count;
        if (count < BOUNDARY_COUNT) break;
      }
    } catch (error) {
      // What breaks the rules of the framing is reported by the job, with its position.
      if (!(error instanceof BadRecord)) throw error;
    }
    const hasRest = recordStart < end && scanner.isInTrailer !== true;
    return { records, wholeBytes: recordStart - firstStart, sum, hasRest };
  }
}

function bytesOf({ path }: FileInput, position: number, byteLength: number): Uint8Array {
  return withFile(openForRead(path, 'input'), (file) => readBytes(file, position, byteLength));
}
