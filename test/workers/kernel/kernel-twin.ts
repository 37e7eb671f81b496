/**
 * The twin of every kernel function, in plain TypeScript, for comparison in the kernel's tests. A reference, not an
 * optimisation: 64-bit words are BigInt, records are arrays, it shares no code with the kernel, and each function
 * states the rule in the shortest way.
 *
 *     stored record   key u64 | byteLength u32 | bytes
 */

const MASK_32 = 0xffffffffn;
const MASK_64 = 0xffffffffffffffffn;

export type Words = readonly [number, number, number, number];

/** Philox4x32-10 (Salmon et al., SC'11): four words for a 128-bit counter and a 64-bit key. */
export function philoxBlock(counter: Words, key: readonly [number, number]): Words {
  let [c0, c1, c2, c3] = counter.map(BigInt) as [bigint, bigint, bigint, bigint];
  let [k0, k1] = key.map(BigInt) as [bigint, bigint];
  for (let round = 0; round < 10; round++) {
    const product0 = 0xd2511f53n * c0;
    const product1 = 0xcd9e8d57n * c2;
    [c0, c1, c2, c3] = [
      (product1 >> 32n) ^ c1 ^ k0,
      product1 & MASK_32,
      (product0 >> 32n) ^ c3 ^ k1,
      product0 & MASK_32,
    ];
    k0 = (k0 + 0x9e3779b9n) & MASK_32;
    k1 = (k1 + 0xbb67ae85n) & MASK_32;
  }
  return [Number(c0), Number(c1), Number(c2), Number(c3)];
}

/** The key of the record at `position` of the input with `inputKey`. */
export function recordKey(position: bigint, inputKey: bigint, copy = 0, purpose = 0): bigint {
  const low = (value: bigint) => Number(value & MASK_32);
  const high = (value: bigint) => Number((value >> 32n) & MASK_32);
  const counter: Words = [low(position), high(position), copy, purpose];
  const [word0, word1] = philoxBlock(counter, [low(inputKey), high(inputKey)]);
  return BigInt(word0) | (BigInt(word1) << 32n);
}

/** The copies of a record at `position`, with their keys, and whether it has the copy that is drawn. */
export function copiesOf(
  position: bigint,
  inputKey: bigint,
  { copies, chance }: { readonly copies: number; readonly chance: bigint },
): { readonly keys: readonly bigint[]; readonly isDrawn: boolean } {
  const isDrawn = recordKey(position, inputKey, copies, 1) < chance;
  const count = copies + (isDrawn ? 1 : 0);
  return { keys: Array.from({ length: count }, (_, copy) => recordKey(position, inputKey, copy)), isDrawn };
}

const PRIME_1 = 0x9e3779b185ebca87n;
const PRIME_2 = 0xc2b2ae3d27d4eb4fn;
const PRIME_3 = 0x165667b19e3779f9n;

type HashKeys = readonly [key0: bigint, key1: bigint, step0: bigint, step1: bigint];

const PUBLISHED_KEYS: HashKeys = [0xbe4ba423396cfeb8n, 0x1cad21f72c81017cn, 0x9e3779b97f4a7c15n, 0xd1b54a32d192ed03n];

/** The hash of one record, from docs/ORDER.md. */
export function recordHash(bytes: Uint8Array): bigint {
  return keyedHash(bytes, PUBLISHED_KEYS);
}

/** The same with other keys: 16 bytes a step, the last ones filled up with zeros. */
export function keyedHash(bytes: Uint8Array, [key0, key1, step0, step1]: HashKeys): bigint {
  const blocks = Buffer.alloc(Math.ceil(bytes.byteLength / 16) * 16);
  blocks.set(bytes);
  let sum0 = 0n;
  let sum1 = 0n;
  for (let at = 0; at < blocks.byteLength; at += 16) {
    const i = BigInt(at / 16);
    const low = blocks.readBigUInt64LE(at);
    const high = blocks.readBigUInt64LE(at + 8);
    const x01 = low ^ ((key0 + i * step0) & MASK_64);
    const x23 = high ^ ((key1 + i * step1) & MASK_64);
    sum0 += (x01 & MASK_32) * (x23 & MASK_32) + high;
    sum1 += (x01 >> 32n) * (x23 >> 32n) + low;
  }
  sum1 &= MASK_64;
  const rotated = ((sum1 << 29n) | (sum1 >> 35n)) & MASK_64;
  let hash = ((sum0 * PRIME_1) ^ (rotated * PRIME_2)) + BigInt(bytes.byteLength) * PRIME_3;
  hash &= MASK_64;
  hash = ((hash ^ (hash >> 32n)) * PRIME_2) & MASK_64;
  hash = ((hash ^ (hash >> 29n)) * PRIME_3) & MASK_64;
  return hash ^ (hash >> 32n);
}

/** Pairs (start, end) of the records whose delimiter lies in [from, to), the first of them from `recordStart` on. */
export function scanDelimiter(
  bytes: Uint8Array,
  from: number,
  to: number,
  recordStart: number,
  delimiter: number,
  maxCount: number,
): [number, number][] {
  const found: [number, number][] = [];
  let start = recordStart;
  for (let at = from; at < to && found.length < maxCount; at++) {
    if (bytes[at] !== delimiter) continue;
    found.push([start, at + 1]);
    start = at + 1;
  }
  return found;
}

export interface KeyedRecord {
  readonly key: bigint;
  readonly bytes: Uint8Array;
}

/** What scattering leaves of one pile. */
export interface ScatteredPile {
  readonly stored: Uint8Array;
  readonly records: number;
  readonly checksum: bigint;
  readonly keySum: bigint;
}

/** floor(key * scale * count / 2^64), where key * scale counts modulo 2^64. */
export function pileOfKey(key: bigint, scale: bigint, pileCount: number): number {
  return Number(((((key * scale) & MASK_64) * BigInt(pileCount)) >> 64n) & MASK_32);
}

export function encodeStored(records: readonly KeyedRecord[]): Uint8Array {
  return Buffer.concat(
    records.map(({ key, bytes }) => {
      const header = Buffer.alloc(12);
      header.writeBigUInt64LE(key, 0);
      header.writeUInt32LE(bytes.byteLength, 8);
      return Buffer.concat([header, bytes]);
    }),
  );
}

/** The complete stored records at the beginning of `bytes`. */
export function decodeStored(bytes: Uint8Array): KeyedRecord[] {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const records: KeyedRecord[] = [];
  for (let at = 0; at + 12 <= bytes.byteLength; ) {
    const end = at + 12 + view.getUint32(at + 8, true);
    if (end > bytes.byteLength) break;
    records.push({ key: view.getBigUint64(at, true), bytes: bytes.subarray(at + 12, end) });
    at = end;
  }
  return records;
}

/** Scatters `records` in their order; rescattering is the same with the scale of the next level. */
export function scatter(records: readonly KeyedRecord[], pileCount: number, scale: bigint): ScatteredPile[] {
  const piles = Array.from({ length: pileCount }, (): KeyedRecord[] => []);
  for (const record of records) piles[pileOfKey(record.key, scale, pileCount)]?.push(record);
  return piles.map((pile) => ({
    stored: encodeStored(pile),
    records: pile.length,
    checksum: checksumOf(pile),
    keySum: pile.reduce((sum, { key }) => sum + key, 0n) & MASK_64,
  }));
}

/** By key; records of equal keys by their bytes, or in the order in which they arrived. */
export function order(records: readonly KeyedRecord[], tiesByBytes = false): KeyedRecord[] {
  const compareTies = tiesByBytes ? Buffer.compare : () => 0;
  return records.toSorted((a, b) => (a.key < b.key ? -1 : a.key > b.key ? 1 : compareTies(a.bytes, b.bytes)));
}

/** By key, then by bytes; of equal records one, and the others. */
export function orderDistinct(records: readonly KeyedRecord[]): { kept: KeyedRecord[]; dropped: KeyedRecord[] } {
  const kept: KeyedRecord[] = [];
  const dropped: KeyedRecord[] = [];
  for (const record of order(records, true)) {
    const last = kept.at(-1);
    const isEqual = last?.key === record.key && Buffer.compare(last.bytes, record.bytes) === 0;
    (isEqual ? dropped : kept).push(record);
  }
  return { kept, dropped };
}

/** The records from `index` on that fit `capacity`, that lie below `endIndex` and start below `startLimit`. */
export function gather(
  ordered: readonly KeyedRecord[],
  index: number,
  endIndex: number,
  capacity: number,
  startLimit: bigint,
): KeyedRecord[] {
  const taken: KeyedRecord[] = [];
  let fill = 0;
  for (const record of ordered.slice(index, endIndex)) {
    if (fill + record.bytes.byteLength > capacity || BigInt(fill) >= startLimit) break;
    taken.push(record);
    fill += record.bytes.byteLength;
  }
  return taken;
}

/** Passes over records from `index` on until they have `limit` records or bytes. */
export function measureUnits(ordered: readonly KeyedRecord[], index: number, limit: number, byRank: boolean) {
  const [endIndex, startLimit] = byRank ? [index + limit, 2n ** 63n] : [ordered.length, BigInt(limit)];
  const passed = gather(ordered, index, endIndex, Number.POSITIVE_INFINITY, startLimit);
  return { next: index + passed.length, byteLength: BigInt(byteLengthOf(passed)) };
}

export function byteLengthOf(records: readonly KeyedRecord[]): number {
  return records.reduce((total, { bytes }) => total + bytes.byteLength, 0);
}

/** The multiset checksum. */
export function checksumOf(records: readonly KeyedRecord[]): bigint {
  return records.reduce((sum, { bytes }) => sum + recordHash(bytes), 0n) & MASK_64;
}

/** The network over rows x columns of docs/ORDER.md, for the offset at a place among `count`. */
export function permutedOffset(count: bigint, key: bigint, place: bigint): bigint {
  let rows = BigInt(Math.floor(Math.sqrt(Number(count)))) - 1n;
  while (rows * rows < count) rows += 1n;
  const columns = (count + rows - 1n) / rows;
  const roundOf = (i: number, half: bigint, modulus: bigint) => (recordKey(half, key, i, 1) * modulus) >> 64n;
  let x = place / columns;
  let y = place % columns;
  for (let i = 0; i < 10; i += 2) {
    x = (x + roundOf(i, y, rows)) % rows;
    y = (y + roundOf(i + 1, x, columns)) % columns;
  }
  const offset = x * columns + y;
  return offset < count ? offset : permutedOffset(count, key, offset);
}

/** The offset at a place with replacement. */
export function drawnOffset(count: bigint, key: bigint, place: bigint): bigint {
  const word = (value: bigint, i: bigint) => Number((value >> (32n * i)) & MASK_32);
  const words = philoxBlock([word(place, 0n), word(place, 1n), 0, 2], [word(key, 0n), word(key, 1n)]);
  const fraction = words.reduce((sum, each, i) => sum + (BigInt(each) << BigInt(32 * i)), 0n);
  return (fraction * count) >> 128n;
}
