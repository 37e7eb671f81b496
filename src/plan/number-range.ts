/**
 * A range of numbers: how many there are, how many bytes they take as text, and in which way their order is made
 * (docs/ORDER.md). Pure.
 */
import { SLACK_BYTES } from './arena-sizes.js';

/** The whole numbers from `low` to `high`, both included; none if `high` is `low - 1`. */
export interface NumberRange {
  readonly low: bigint;
  readonly high: bigint;
}

/** How a thread finds the number at a place. */
export type NumberWay =
  /** All offsets are sorted by their keys. */
  | { readonly by: 'sorted' }
  /** A Feistel network over rows x columns. Its functions are looked up in tables, or computed each time. */
  | { readonly by: 'permuted'; readonly rows: bigint; readonly columns: bigint; readonly isTabled: boolean }
  /** Each place has a draw of its own. */
  | { readonly by: 'drawn' };

const ROUNDS = 10;
/** The bound of 64-bit numbers, and of the places of an order. */
export const MOST_NUMBERS = 2n ** 64n;
/** Longer ranges are permuted: all that is sorted must be in memory. */
const MOST_SORTED = 2n ** 20n;
/** The entries of a table have 16 bits. */
const MOST_TABLED = 2n ** 16n;
/** Places for each entry of a table from which on it is worth making. */
const PLACES_FOR_ENTRY = 4n;

export function countOf({ low, high }: NumberRange): bigint {
  return high - low + 1n;
}

/** @param places how many each thread will write. */
export function chooseWay(range: NumberRange, isRepeated: boolean, places: bigint): NumberWay {
  const count = countOf(range);
  if (isRepeated) return { by: 'drawn' };
  if (count <= MOST_SORTED) return { by: 'sorted' };
  const { rows, columns } = networkOf(count);
  return { by: 'permuted', rows, columns, isTabled: rows <= MOST_TABLED && places >= PLACES_FOR_ENTRY * rows };
}

/** Regions of an arena are aligned. */
const ALIGNMENT_ROOM_BYTES = 64;

export function numberArenaBytes(way: NumberWay, count: bigint, outputBytes: number): number {
  const orderBytes = regionsOf(way, count).reduce((sum, byteLength) => sum + byteLength, 0);
  return outputBytes + SLACK_BYTES + orderBytes + ALIGNMENT_ROOM_BYTES;
}

/** The bytes of the regions in which a thread makes the order, as the kernel takes them. */
export function regionsOf(way: NumberWay, count: bigint): readonly number[] {
  const offsets = Number(count);
  // Offsets as stored records, a count for each value of the upper bits of a key, and sort entries twice.
  if (way.by === 'sorted') return [16 * (offsets + 3), 4 * 2 ** bitsOfSort(count), 8 * offsets, 8 * offsets];
  // The tables of all rounds; the kernel fills four entries at a time.
  return way.by === 'permuted' && way.isTabled ? [ROUNDS * 8 * Math.ceil(Number(way.rows) / 4)] : [];
}

/** So that one or two offsets have the same upper bits in their keys. */
export function bitsOfSort(count: bigint): number {
  return Math.max(1, Math.floor(Math.log2(Number(count))));
}

/** The smallest square, less the rows that it does not need: `rows` is never below `columns`. */
export function networkOf(count: bigint): { readonly rows: bigint; readonly columns: bigint } {
  const rows = rootAbove(count);
  return { rows, columns: (count + rows - 1n) / rows };
}

/** The least whole number whose square is at least `square`. */
function rootAbove(square: bigint): bigint {
  // A double has too few bits for the square, and enough for its root: what it lacks is at most 1.
  let root = BigInt(Math.ceil(Math.sqrt(Number(square))));
  while (root * root < square) root += 1n;
  return root;
}

export function digitsOf(value: bigint): number {
  return String(value).length;
}

/** The bytes of all numbers as text, with one more byte after each. */
export function bytesOfAll({ low, high }: NumberRange): bigint {
  return bytesUpTo(high) - bytesUpTo(low - 1n);
}

function bytesUpTo(high: bigint): bigint {
  let bytes = 0n;
  for (let digits = 1n, least = 0n; least <= high; digits += 1n) {
    const next = 10n ** digits;
    const count = (high < next ? high + 1n : next) - least;
    bytes += count * (digits + 1n);
    least = next;
  }
  return bytes;
}

export function sumOfAll(range: NumberRange): bigint {
  return ((range.low + range.high) * countOf(range)) / 2n;
}
