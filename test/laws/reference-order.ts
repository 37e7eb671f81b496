/**
 * The order that docs/ORDER.md defines, computed in the plainest way: cut the inputs into records, key
 * each, sort. Shares no code with the program; the generator and the hash are the kernel's twins.
 */
import { createHash } from 'node:crypto';
import { recordHash, recordKey } from '../workers/kernel/kernel-twin.js';

/** Records with their terminators; a last one without gets it, or behind a line that ends in CRLF, that. */
export function recordsOf(input: Uint8Array, terminator: number): Buffer[] {
  const records: Buffer[] = [];
  for (let start = 0; start < input.byteLength; ) {
    const found = input.indexOf(terminator, start);
    const end = found < 0 ? input.byteLength : found + 1;
    const record = Buffer.from(input.subarray(start, end));
    records.push(found < 0 ? Buffer.concat([record, missingEnd(record, records.at(-1), terminator)]) : record);
    start = end;
  }
  return records;
}

function missingEnd(record: Buffer, before: Buffer | undefined, terminator: number): Buffer {
  const isCrlf = terminator === 0x0a && before?.at(-2) === 0x0d && record.at(-1) !== 0x0d;
  return Buffer.from([...(isCrlf ? [0x0d] : []), terminator]);
}

/** First eight bytes, little-endian, of SHA-256 over the texts, each behind its length. */
export function keyOf(...texts: readonly string[]): bigint {
  const hash = createHash('sha256');
  for (const text of texts) {
    const bytes = new TextEncoder().encode(text);
    hash.update(new BigUint64Array([BigInt(bytes.byteLength)]));
    hash.update(bytes);
  }
  return hash.digest().readBigUInt64LE();
}

/** The records of all inputs in the order of the seed. */
export function referenceOrder(
  inputs: readonly Uint8Array[],
  seed: string,
  terminator = 0x0a,
  inputIds?: readonly string[],
): Buffer[] {
  return orderRecords(
    inputs.map((input) => recordsOf(input, terminator)),
    seed,
    [],
    inputIds,
  );
}

/** The different ones of the records, in the order of the seed. */
export function uniqueOrder(records: readonly Buffer[], seed: string): Buffer[] {
  const key = keyOf(seed, 'content', '');
  const keyed = [...new Map(records.map((record) => [record.toString('latin1'), record])).values()].map((record) => ({
    key: recordKey(recordHash(record), key),
    record,
  }));
  return keyed
    .sort((a, b) => (a.key < b.key ? -1 : a.key > b.key ? 1 : Buffer.compare(a.record, b.record)))
    .map(({ record }) => record);
}

/** Of records of one value, the first one, in the order of the seed. */
export function uniqueOrderBy(
  records: readonly Buffer[],
  seed: string,
  identityOf: (record: Buffer) => Buffer,
): Buffer[] {
  const key = keyOf(seed, 'content', '');
  const first = new Map<string, { readonly key: bigint; readonly value: Buffer; readonly record: Buffer }>();
  for (const record of records) {
    const value = identityOf(record);
    const name = value.toString('latin1');
    if (!first.has(name)) first.set(name, { key: recordKey(recordHash(value), key), value, record });
  }
  return [...first.values()]
    .sort((a, b) => (a.key < b.key ? -1 : a.key > b.key ? 1 : Buffer.compare(a.value, b.value)))
    .map(({ record }) => record);
}

/**
 * @param recordsOfInputs of each input all that it holds, from its first record to the last byte.
 * @param headerBytes before the first record of each input.
 * @param inputIds by default the ordinals.
 * @param keys where they come from.
 */
export function orderRecords(
  recordsOfInputs: readonly (readonly Buffer[])[],
  seed: string,
  headerBytes: readonly number[] = [],
  inputIds: readonly string[] = recordsOfInputs.map((_, ordinal) => String(ordinal)),
  keys: 'position' | 'ordinal' = 'position',
): Buffer[] {
  return keyedOrder(recordsOfInputs, seed, headerBytes, inputIds, keys).map(({ record }) => record);
}

/** The same with the keys. */
export function keyedOrder(
  recordsOfInputs: readonly (readonly Buffer[])[],
  seed: string,
  headerBytes: readonly number[] = [],
  inputIds: readonly string[] = recordsOfInputs.map((_, ordinal) => String(ordinal)),
  keys: 'position' | 'ordinal' = 'position',
): { readonly key: bigint; readonly record: Buffer }[] {
  const keyed = recordsOfInputs.flatMap((records, ordinal) => {
    const ofInput = keyOf(seed, inputIds[ordinal] ?? '');
    let position = BigInt(headerBytes[ordinal] ?? 0);
    return records.map((record, recordOrdinal) => {
      const key = recordKey(keys === 'ordinal' ? BigInt(recordOrdinal) : position, ofInput);
      position += BigInt(record.byteLength);
      return { key, record };
    });
  });
  // The sort is stable: equal keys stay by input and position.
  return keyed.sort((a, b) => (a.key < b.key ? -1 : a.key > b.key ? 1 : 0));
}

/** So many draws with replacement from records in their order. */
export function drawsFrom(ordered: readonly Buffer[], seed: string, count: number): Buffer[] {
  const key = keyOf(seed, 'draws', '');
  return Array.from({ length: count }, (_, place) => {
    const rank = (recordKey(BigInt(place), key) * BigInt(ordered.length)) >> 64n;
    return ordered[Number(rank)] ?? Buffer.of();
  });
}
