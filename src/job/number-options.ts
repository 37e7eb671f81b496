/** Completes inputs that are ranges of numbers. */
import { UsageError } from '../errors.js';
import { NEWLINE } from '../formats/framing.js';
import { type FramingSpec, framingOf } from '../formats/framing-table.js';
import type { RecordFormat } from '../formats/record-format.js';
import { isComputed } from '../keep/numbers.js';
import type { ShuffleOptions } from '../options/shuffle-options.js';
import { addressOfNumbers } from '../places/inputs/number-lines.js';
import type { AskedInput } from '../sources/expand-names.js';
import type { ShuffleSpec } from '../spec.js';
import { requireKnownOptions } from '../values/known-options.js';
import type { NumberRange } from '../values/number-range.js';

const MOST_NUMBERS = 2n ** 64n;

/** Callers without types may pass anything. */
export function rangeOf({ range }: { readonly range: unknown }): NumberRange {
  const given = typeof range === 'object' && range !== null ? range : {};
  const low = 'low' in given ? wholeOf(given.low) : undefined;
  // The range from LO to LO - 1 is empty, also from 0 to -1.
  const high = 'high' in given && low !== undefined ? wholeOf(given.high, low - 1n) : undefined;
  if (low === undefined || high === undefined || low >= MOST_NUMBERS || high >= MOST_NUMBERS)
    throw new UsageError(
      `\`range\`: expected an object with \`low\` and \`high\`, whole numbers from 0 to ${MOST_NUMBERS - 1n}, the lower first`,
    );
  requireKnownOptions('`range`', range, { low: true, high: true });
  return { low, high };
}

/** A `number` above 2^53 may be another one than was meant. */
function wholeOf(value: unknown, least = 0n): bigint | undefined {
  const whole = typeof value === 'number' && Number.isSafeInteger(value) ? BigInt(value) : value;
  return typeof whole === 'bigint' && whole >= least ? whole : undefined;
}

/** How a job reads the range: as a file of lines, or of texts that end in NUL where records do. */
export function numbersInput(range: NumberRange, { framing }: Pick<RecordFormat, 'framing'>): AskedInput {
  return { path: addressOfNumbers(range, delimiterOf(framing)?.at(0) === NUL) };
}

/** Returns the range whose places are computed: the only input of a job that forms no other records, keys or cuts. */
export function computedRange(
  { inputs: named, inputIds = 'ordinal', resume, jobDir, keepTemp }: ShuffleOptions,
  { read: { framing, header, decompressProgram = [] }, key, keep, cut }: ShuffleSpec,
): NumberRange | undefined {
  const [first = ''] = named;
  const range = named.length === 1 && typeof first === 'object' && 'range' in first ? rangeOf(first) : undefined;
  const { repeat, unique, mix } = keep;
  const isRead = delimiterOf(framing) === undefined || header !== undefined || decompressProgram.length > 0;
  const isKeyed = key.from !== 'position' || inputIds !== 'ordinal' || unique !== undefined;
  const isWeighed = mix.weights.length > 0 || mix.shares !== undefined;
  const isCut = cut.splits !== undefined || cut.splitBy !== undefined || cut.shards?.by === 'bytes';
  if (range === undefined || !isComputed(range, repeat) || isRead || isKeyed || isWeighed || isCut) return undefined;
  if (resume === true || jobDir !== undefined || keepTemp === true)
    throw new UsageError(
      'the order of so many numbers is computed in one process, without temp data: leave out `resume`, `jobDir` and `keepTemp`',
    );
  return range;
}

const NUL = 0;

/** Returns the delimiter of numbers. Undefined: a number and its end are no record. */
function delimiterOf(framing: FramingSpec | undefined): Uint8Array | undefined {
  const delimiter = framing && framingOf(framing).delimiter;
  return delimiter?.byteLength === 1 && [NUL, NEWLINE[0]].includes(delimiter[0]) ? delimiter : undefined;
}
