/** The filter scaleoffset: of each number its difference to the least one is stored, in as few bits as all of a chunk need. */
import { Hdf5Problem, packFields } from '../hdf5-bytes.js';
import { allocateOutput, BitReader } from './bit-reader.js';

/** The head before the numbers: how many bits each has, and the least one in up to 16 bytes. */
const HEAD_BYTES = 21;
const LEAST_AT = 5;
const FILL_AT = 8;
const DECIMAL = 0;

/** @param values how it scales, by how much, and what it knows of the dataset. */
export function unpackScaleOffset(stored: Uint8Array, values: readonly number[], most: number): Uint8Array {
  const [scale, factor = 0, count = 0, kind, byteLength = 0, , order, hasFill] = values;
  const isFloat = kind === 1;
  if (!isFloat && factor === 8 * byteLength) return stored;
  const head = Buffer.from(stored.buffer, stored.byteOffset, stored.byteLength);
  if (
    ![1, 2, 4, 8].includes(byteLength) ||
    head.byteLength < HEAD_BYTES ||
    (isFloat && (scale !== DECIMAL || byteLength < 4))
  )
    throw new Hdf5Problem('goes through scaleoffset in a way that pileshuf does not know');
  const bitCount = head.readUInt32LE(0);
  const bytes = allocateOutput(count * byteLength, most);
  if (bitCount >= 8 * byteLength) {
    if (head.copy(bytes, 0, HEAD_BYTES) < bytes.byteLength) throw new Hdf5Problem('ends before its last number');
  } else {
    const fill = packFields([values[FILL_AT] ?? 0, 4], [values[FILL_AT + 1] ?? 0, 4]);
    const [lowBits, highBits] = [Math.min(32, bitCount), Math.max(0, bitCount - 32)];
    const bits = new BitReader(stored, HEAD_BYTES);
    const write = writerOf(bytes, byteLength, head.subarray(LEAST_AT), isFloat ? 10 ** (factor | 0) : undefined);
    for (let at = 0; at < bytes.byteLength; at += byteLength) {
      const [high, low] = [bits.take(highBits), bits.take(lowBits)];
      // All bits are set where the dataset was never written.
      const isFill = hasFill === 1 && low === 2 ** lowBits - 1 && high === 2 ** highBits - 1;
      if (isFill) fill.copy(bytes, at, 0, byteLength);
      else write(at, high, low);
    }
  }
  if (order !== 1) return bytes;
  for (let at = 0; at < bytes.byteLength; at += byteLength) bytes.subarray(at, at + byteLength).reverse();
  return bytes;
}

/** @param scale of floats: what they were multiplied with. */
function writerOf(bytes: Buffer, byteLength: number, least: Buffer, scale: number | undefined) {
  const wide = (high: number, low: number) => (BigInt(high) << 32n) + BigInt(low);
  if (scale === undefined && byteLength < 8) {
    const [limit, first] = [2 ** (8 * byteLength), least.readUIntLE(0, byteLength)];
    return (at: number, _: number, low: number) => bytes.writeUIntLE((low + first) % limit, at, byteLength);
  }
  if (scale === undefined) {
    const first = least.readBigUInt64LE();
    return (at: number, high: number, low: number) =>
      bytes.writeBigUInt64LE(BigInt.asUintN(64, wide(high, low) + first), at);
  }
  // The library computes with floats of this size.
  const f = byteLength === 4 ? Math.fround : (value: number) => value;
  const first = byteLength === 4 ? least.readFloatLE() : least.readDoubleLE();
  return (at: number, high: number, low: number) => {
    const whole = byteLength === 4 ? low | 0 : Number(BigInt.asIntN(64, wide(high, low)));
    const value = f(f(f(whole) / f(scale)) + first);
    return byteLength === 4 ? bytes.writeFloatLE(value, at) : bytes.writeDoubleLE(value, at);
  };
}
