/** Finds the value of a leaf in a row, as leaf.ts lays it out: no other leaf is read, only passed over. */
import { type Leaf, nameOfLeaf, valueBytesOf } from './leaf.js';

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

/** As JSON lines would have it: the characters of a string, or a whole number in decimal. */
export function textOfValue(memory: Buffer, { from, to }: LeafValue, { type }: Leaf): string {
  if (type === 'INT32') return String(memory.readInt32LE(from));
  if (type === 'INT64') return String(memory.readBigInt64LE(from));
  return memory.toString('latin1', from, to);
}

export function isNumber({ type }: Leaf): boolean {
  return type === 'INT32' || type === 'INT64';
}

/** Why the values of a leaf tell no records apart; undefined: they do. */
export function whyNoText(leaf: Leaf): string | undefined {
  return whyUnfit(leaf, leaf.type === 'BYTE_ARRAY' || isNumber(leaf), 'strings or whole numbers');
}

/** Why the values of a leaf cannot be added up; undefined: they can. */
export function whyNoNumber(leaf: Leaf): string | undefined {
  return whyUnfit(leaf, isNumber(leaf), 'whole numbers');
}

function whyUnfit(leaf: Leaf, isExpected: boolean, expected: string): string | undefined {
  const name = nameOfLeaf(leaf);
  if (leaf.maxRepetition > 0) return `column ${name} may have several values in a row; expected one that has one`;
  return isExpected ? undefined : `column ${name} has values of type ${leaf.type}; expected ${expected}`;
}
