/**
 * The order of inputs with weights, from docs/ORDER.md, computed in the plainest way: make each copy of each record, key it,
 * sort.
 */
import { recordKey } from '../workers/kernel/kernel-twin.js';
import { inputKey } from './reference-order.js';

/** A decimal number as whole copies, and the chance of one more as a part of 2^64. */
export function copiesAndChance(factor: string): { readonly copies: number; readonly chance: bigint } {
  const [whole = '', part = ''] = factor.split('.');
  return { copies: Number(whole), chance: (BigInt(`0${part}`) << 64n) / 10n ** BigInt(part.length) };
}

/**
 * @param recordsOfInputs of each input all that it holds.
 * @param factors of each input.
 * @param headerBytes before the first record of each input.
 */
export function orderCopies(
  recordsOfInputs: readonly (readonly Buffer[])[],
  factors: readonly string[],
  seed: string,
  headerBytes: readonly number[] = [],
): Buffer[] {
  const keyed = recordsOfInputs.flatMap((records, ordinal) => {
    const ofInput = inputKey(seed, ordinal);
    const { copies, chance } = copiesAndChance(factors[ordinal] ?? '1');
    let position = BigInt(headerBytes[ordinal] ?? 0);
    return records.flatMap((record) => {
      const isDrawn = recordKey(position, ofInput, copies, 1) < chance;
      const entries = Array.from({ length: copies + (isDrawn ? 1 : 0) }, (_, copy) => ({
        key: recordKey(position, ofInput, copy),
        record,
      }));
      position += BigInt(record.byteLength);
      return entries;
    });
  });
  // The sort is stable: equal keys stay by input, position and copy.
  return keyed.sort((a, b) => (a.key < b.key ? -1 : a.key > b.key ? 1 : 0)).map(({ record }) => record);
}
