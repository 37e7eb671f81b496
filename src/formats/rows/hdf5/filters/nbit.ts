/** The filter nbit: of each number in an element only its significant bits are stored. */
import { Hdf5Problem } from '../hdf5-bytes.js';
import { allocateOutput, BitReader } from './bit-reader.js';

/** A number in an element. */
interface Part {
  readonly at: number;
  readonly byteLength: number;
  readonly isBigEndian: boolean;
  /** The place where its significant bits begin, from the lowest one, and where they end. */
  readonly low: number;
  readonly high: number;
}

const [ATOMIC, ARRAY, COMPOUND, PLAIN] = [1, 2, 3, 4];
const MOST_PARTS = 2 ** 20;

/** @param values numbers of values and of elements, whether they are stored as they are, and their type. */
export function unpackNbit(stored: Uint8Array, values: readonly number[], most: number): Uint8Array {
  const [, isPlain, count = 0, , elementBytes = 0] = values;
  if (isPlain === 1) return stored;
  const parts: Part[] = [];
  addParts(values, 3, 0, parts);
  if (parts.length > elementBytes) throw new Hdf5Problem('has elements of nbit that are too small for their parts');
  const bits = new BitReader(stored);
  const bytes = allocateOutput(count * elementBytes, most);
  for (let element = 0; element < bytes.byteLength; element += elementBytes) {
    for (const { at, byteLength, isBigEndian, low, high } of parts) {
      for (let top = high; top > low; ) {
        const byte = (top - 1) >> 3;
        const bottom = Math.max(low, 8 * byte);
        const place = element + at + (isBigEndian ? byteLength - 1 - byte : byte);
        bytes[place] = bits.take(top - bottom) << (bottom - 8 * byte);
        top = bottom;
      }
    }
  }
  return bytes;
}

/** @returns where the description of the next type begins. */
function addParts(values: readonly number[], from: number, at: number, parts: Part[]): number {
  const [kind, byteLength = 0, third = 0, precision = 0, low = 0] = values.slice(from, from + 5);
  if (kind === ATOMIC && precision > 0 && low + precision <= 8 * byteLength) {
    parts.push({ at, byteLength, isBigEndian: third === 1, low, high: low + precision });
    return from + 5;
  }
  if (kind === PLAIN && parts.length + byteLength <= MOST_PARTS) {
    for (let i = 0; i < byteLength; i++) parts.push({ at: at + i, byteLength: 1, isBigEndian: false, low: 0, high: 8 });
    return from + 2;
  }
  if (kind === ARRAY) {
    const step = values[from + 3] ?? 0;
    let end = from;
    for (let i = 0; step > 0 && i < byteLength && parts.length < MOST_PARTS; i += step)
      end = addParts(values, from + 2, at + i, parts);
    if (end > from) return end;
  }
  if (kind === COMPOUND) {
    let next = from + 3;
    for (let i = 0; i < third && next < values.length; i++)
      next = addParts(values, next + 1, at + (values[next] ?? 0), parts);
    return next;
  }
  throw new Hdf5Problem('goes through nbit in a way that pileshuf does not know');
}
