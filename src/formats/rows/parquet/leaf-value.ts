/** Finds the value of a leaf in a row, as leaf.ts lays it out: no other leaf is read, only passed over. */

import type { RowValueFinder, RowValueSpec } from '../row-format.js';
import { type Leaf, valueBytesOf } from './leaf.js';

const ALL_DEFINED = 2 ** 31;

/** A value, as some of the bytes of its row. */
export interface LeafValue {
  readonly from: number;
  readonly to: number;
}

/**
 * @param leaves the first leaves of the row, up to the one that is sought: it is not repeated.
 * @returns undefined: the value is null.
 */
export function findLeafValue(memory: Buffer, start: number, leaves: readonly Leaf[]): LeafValue | undefined {
  let at = start;
  for (const [i, leaf] of leaves.entries()) {
    if (i < leaves.length - 1) {
      at = endOfLeaf(memory, at, leaf);
      continue;
    }
    if (leaf.maxDefinition > 0 && memory[at++] !== leaf.maxDefinition) return undefined;
    const valueBytes = valueBytesOf(leaf);
    return valueBytes > 0 ? { from: at, to: at + valueBytes } : { from: at + 4, to: at + 4 + memory.readUInt32LE(at) };
  }
  return undefined;
}

function endOfLeaf(memory: Buffer, start: number, leaf: Leaf): number {
  const { maxDefinition, maxRepetition } = leaf;
  let at = start;
  let values = 1;
  if (maxRepetition > 0) {
    const head = memory.readUInt32LE(at);
    const entries = head % ALL_DEFINED;
    at += 4 + (maxRepetition > 1 ? entries : 0);
    values = entries;
    if (head < ALL_DEFINED) {
      values = 0;
      for (const end = at + entries; at < end; at++) if (memory[at] === maxDefinition) values += 1;
    }
  } else if (maxDefinition > 0) values = memory[at++] === maxDefinition ? 1 : 0;
  const valueBytes = valueBytesOf(leaf);
  if (valueBytes > 0) return at + values * valueBytes;
  for (; values > 0; values--) at += 4 + memory.readUInt32LE(at);
  return at;
}

/** The form that JSON lines would give the values of a leaf: strings, or numbers. */
export type ValueKind = 'text' | 'signed' | 'unsigned' | 'float';

/** A leaf whose values are sought in rows. Plain data. */
export interface SoughtLeaf extends RowValueSpec {
  /** The first leaves of a row; it is the last of them, and not repeated. */
  readonly leaves: readonly Leaf[];
  readonly kind: ValueKind;
}

export function finderOfLeaf({ leaves, kind }: SoughtLeaf): RowValueFinder {
  const isNumber = kind !== 'text';
  return (memory, start) => {
    const value = findLeafValue(memory, start, leaves);
    return value && { text: textOfValue(memory, value, kind), encoding: 'latin1', isNumber };
  };
}

/** The characters of a string as Latin-1, or a number in decimal: the shortest that reads back as the same double. */
export function textOfValue(memory: Buffer, { from, to }: LeafValue, kind: ValueKind): string {
  if (kind === 'text') return memory.toString('latin1', from, to);
  const isLong = to - from === 8;
  if (kind === 'float') return String(isLong ? memory.readDoubleLE(from) : memory.readFloatLE(from));
  if (kind === 'signed') return String(isLong ? memory.readBigInt64LE(from) : memory.readInt32LE(from));
  return String(isLong ? memory.readBigUInt64LE(from) : memory.readUInt32LE(from));
}
