/** Completes inputs that are ranges of numbers. */
import { UsageError } from '../errors.js';
import { NEWLINE } from '../formats/framing.js';
import { type FramingSpec, framingOf } from '../formats/framing-table.js';
import { joinRecords, type RecordFormat } from '../formats/record-format.js';
import { addressOfNumbers, type NumberRange } from '../io/number-lines.js';
import { drawFew, drawsFew } from '../keep/few-numbers.js';
import { requireKnownOptions } from '../known-options.js';
import type { AskedInput, NamedInput } from '../sources/expand-names.js';
import type { ShuffleSpec } from '../spec.js';

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

/**
 * Draws the records of a job that shall have few numbers of a long range, and nothing else. Undefined: it reads its inputs.
 * @param spec gets all of the numbers drawn.
 */
export function drawInput(
  named: readonly NamedInput[],
  { read: { framing, header }, key: { seed }, keep, cut }: ShuffleSpec,
): AskedInput | undefined {
  const [first = ''] = named;
  const range = named.length === 1 && typeof first === 'object' && 'range' in first ? rangeOf(first) : undefined;
  const delimiter = delimiterOf(framing);
  const { headCount, repeat, unique, mix } = keep;
  const isWeighed = mix.weights.length > 0 || mix.shares !== undefined;
  if (range === undefined || delimiter === undefined || header !== undefined || isWeighed) return undefined;
  if (unique !== undefined || cut.splitBy !== undefined || !drawsFew(range, headCount)) return undefined;
  const numbers = drawFew(range, headCount, repeat, seed);
  return { list: joinRecords(Array.from(numbers, String), delimiter) };
}

const NUL = 0;

/** Undefined: a number and its end are no record. */
function delimiterOf(framing: FramingSpec | undefined): Uint8Array | undefined {
  const delimiter = framing && framingOf(framing).delimiter;
  return delimiter?.byteLength === 1 && [NUL, NEWLINE[0]].includes(delimiter[0]) ? delimiter : undefined;
}
