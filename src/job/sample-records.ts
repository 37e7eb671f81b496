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
import { yieldAndCheckAbortAt } from '../floor/pause.js';
import { type FramingSpec, framingOf } from '../formats/framing-table.js';
import { type ContentRule, isSummed } from '../keep/content-rule.js';
import { divideStrata, type Expected, estimateRecords, exactly, type Stratum } from '../plan/sampled-records.js';
import { type FileInput, type Inputs, isFileInput } from '../sources/input.js';
import type { Estimate } from './estimate.js';
import { InputWindows, USUAL_RECORD_BYTES } from './input-windows.js';

interface RecordSample {
  /** Records of all files, not only of the sample. */
  readonly records: Expected;
  /** About the sum of a number in them, in parts of 10^-15; 0 if the rule has none. */
  readonly fieldSum: number;
  /** Some whole records, each with its delimiter; none with a sum. */
  readonly samples: readonly Uint8Array[];
}

export interface SampledFile {
  readonly input: FileInput;
  readonly ordinal: number;
  /** An estimate if the input is compressed. */
  readonly bytes: number;
}

export function filesOf(inputs: Inputs, { decodedBytes }: Estimate): SampledFile[] {
  return inputs.flatMap((input, ordinal) =>
    isFileInput(input) ? [{ input, ordinal, bytes: decodedBytes[ordinal] ?? 0 }] : [],
  );
}

/** How many windows there are, after half as many that tell where they should be. The more there are, the smaller. */
const USUAL_WINDOWS = { windowBytes: 64 * 1024, fewest: 128, most: 512 };
const PLACES_OF_STRATUM = 2;
/** A stratum or an input of so few windows is read whole. */
const MOST_WHOLE_WINDOWS = 4;
/** A beginning, as stored, is as long as so many windows. */
const HEAD_WINDOWS = 8;
const MOST_DECODED_BYTES = 16 * 2 ** 20;
/** Other measurements compress the sample records. */
const MOST_SAMPLE_BYTES = 4 * 2 ** 20;
/** The estimate for an input that cannot be decoded. */
const NOTHING_SEEN = { density: 1 / USUAL_RECORD_BYTES, fieldDensity: 0, doubt: USUAL_RECORD_BYTES };

export async function sampleRecords(
  files: readonly SampledFile[],
  framing: FramingSpec,
  sampleSeed: string,
  signal: AbortSignal | undefined,
  content?: ContentRule,
  { windowBytes: usualBytes, fewest, most }: typeof USUAL_WINDOWS = USUAL_WINDOWS,
  mostSampleBytes = MOST_SAMPLE_BYTES,
): Promise<RecordSample> {
  const filled = files.filter(({ bytes }) => bytes > 0);
  const allBytes = filled.reduce((sum, { bytes }) => sum + bytes, 0);
  const windowCount = Math.min(most, Math.max(fewest, PLACES_OF_STRATUM * filled.length));
  const windowBytes = Math.ceil((usualBytes * fewest) / windowCount);
  const ranges = rangesOf(filled, allBytes, windowCount / 4, windowBytes);
  const sizes = {
    windowBytes,
    wholeBytes: MOST_WHOLE_WINDOWS * windowBytes,
    headBytes: HEAD_WINDOWS * windowBytes,
    nearBytes: HEAD_WINDOWS * windowBytes,
    decodedBytes: MOST_DECODED_BYTES,
    // A sum needs no copies of records.
    sampleBytes: isSummed(content) ? 0 : mostSampleBytes / (PLACES_OF_STRATUM * ranges.length),
  };
  const windows = new InputWindows(framing, sizes, content);
  const draw = seedrandom(sampleSeed);
  // Most records may lie together, as in a file that is sorted by length. Only new draws may count in strata that the
  // first ones choose: where much was found by chance, there would be more of it.
  const parts = divideStrata(await drawStrata(filled, ranges, windows, draw, signal), ranges.length);
  const chosen = ranges.flatMap(({ start, end }, i) => cut(start, end - start, parts[i] ?? 1));
  const strata = await drawStrata(filled, chosen, windows, draw, signal);
  const { recordBytes } = framingOf(framing);
  return {
    records:
      recordBytes === undefined
        ? estimateRecords(strata, windows.seenBytes, filled.length)
        : exactly(allBytes / recordBytes),
    fieldSum: strata.reduce((sum, stratum) => sum + stratum.fieldSum, 0),
    samples: windows.samples,
  };
}

/** Offsets in all inputs, one after the other. */
interface StratumRange {
  readonly start: number;
  readonly end: number;
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

interface DrawnStratum extends Stratum {
  readonly fieldSum: number;
}

/** @param ranges from the first to the last. */
async function drawStrata(
  files: readonly SampledFile[],
  ranges: readonly StratumRange[],
  windows: InputWindows,
  draw: () => number,
  signal: AbortSignal | undefined,
): Promise<readonly DrawnStratum[]> {
  const strata: DrawnStratum[] = [];
  let [first, firstStart] = [0, 0];
  /** Goes on from the first file of the range to that of the place. */
  const fileAt = (place: number) => {
    let [number, start] = [first, firstStart];
    for (let file = files[number]; file !== undefined; start += file.bytes, file = files[++number])
      if (place < start + file.bytes || number === files.length - 1) return { number, start, file };
    throw new RangeError('no input has the place');
  };
  for (const [index, { start, end }] of ranges.entries()) {
    await yieldAndCheckAbortAt(index, signal);
    const at = fileAt(start);
    [first, firstStart] = [at.number, at.start];
    const isOfOne = end <= at.start + at.file.bytes;
    const [from, to] = [start, end].map((place) => Math.floor(place - at.start));
    const whole = isOfOne ? windows.whole(at.file.input, from ?? 0, to ?? 0) : undefined;
    const around = () => {
      const place = start + draw() * (end - start);
      const { file, start: fileStart } = fileAt(place);
      return windows.around(file.input, (place - fileStart) / file.bytes) ?? NOTHING_SEEN;
    };
    const seen = whole === undefined ? Array.from({ length: PLACES_OF_STRATUM }, around) : [whole];
    strata.push({
      bytes: end - start,
      densities: seen.map(({ density }) => density),
      doubt: Math.max(...seen.map(({ doubt }) => doubt)),
      fieldSum: ((end - start) * seen.reduce((sum, { fieldDensity }) => sum + fieldDensity, 0)) / seen.length,
    });
  }
  return strata;
}
