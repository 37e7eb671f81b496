/**
 * The dictionary of a column is a part of what its values mean where the schema of Arrow calls it one, or pandas says that
 * it is ordered: it orders categories, and holds those that no row has. So each chunk of an output begins with the
 * dictionary of the input. If it does not fit there, the values are plain, and the schema of Arrow says so.
 */
import { listStagedUnits, type StagedUnitFile } from '../../staged-units.js';
import { tableMetadataOf, withoutDictionaries } from './key-values.js';
import { type Leaf, valueBytesOf } from './leaf.js';
import { ENCODINGS } from './page-header.js';
import { decodeDescription } from './row-group-description.js';
import { readSchema, shownPath, type TableSchema } from './schema.js';
import { PARQUET_MAGIC } from './write-footer.js';

/** Plain data; crosses threads, and is sealed in the spec. */
export interface CarriedDictionary {
  /** The number of its column among the leaves. */
  readonly leaf: number;
  readonly count: number;
  /** Values as PLAIN stores them. */
  readonly values: Uint8Array;
}

export interface DictionaryLeaf {
  readonly leaf: number;
  /** True if the order of its values has a meaning. */
  readonly isOrdered: boolean;
}

export function dictionaryLeavesOf({ keyValues, elements, leaves }: TableSchema): DictionaryLeaf[] {
  const { fields } = tableMetadataOf(keyValues, readSchema(elements).root);
  const dictionaries = [...fields].flatMap(([{ leaf = -1 }, { dictionary }]) =>
    // Readers make plain columns of dictionaries of other values, so these have no order.
    dictionary !== undefined && leaves[leaf]?.type === 'BYTE_ARRAY' ? [{ leaf, isOrdered: dictionary.isOrdered }] : [],
  );
  return dictionaries.sort((a, b) => a.leaf - b.leaf);
}

export function withPlainLeaves(schema: TableSchema, plain: ReadonlySet<number>): TableSchema {
  if (plain.size === 0) return schema;
  const { root } = readSchema(schema.elements);
  return { ...schema, keyValues: withoutDictionaries(schema.keyValues, root, plain) };
}

/** Returns the leaves that have values beside a dictionary in some row group of the file. */
export function plainLeavesIn(units: StagedUnitFile, leaves: readonly number[]): number[] {
  const found = new Set<number>();
  for (const { description } of listStagedUnits(units, PARQUET_MAGIC.byteLength)) {
    const { chunks } = decodeDescription(description());
    for (const leaf of leaves)
      if (chunks[leaf]?.pages.some(({ encoding }) => encoding !== ENCODINGS.RLE_DICTIONARY) === true) found.add(leaf);
  }
  return [...found];
}

/** Values in the order in which they came, each once. Their bytes are Latin-1 characters. */
export class GatheredValues {
  readonly #lengthBytes: number;
  readonly #values = new Map<string, number>();
  /** Size of the values as PLAIN stores them. */
  byteLength = 0;

  constructor(leaf: Leaf) {
    this.#lengthBytes = valueBytesOf(leaf) > 0 ? 0 : 4;
  }

  get count(): number {
    return this.#values.size;
  }

  /** Appends those that are new. */
  add(values: readonly string[]): void {
    for (const value of values) {
      if (this.#values.has(value)) continue;
      this.#values.set(value, this.#values.size);
      this.byteLength += this.#lengthBytes + value.length;
    }
  }

  /** Appends them if no two values change their order: they are some of the values in the same order, or begin with all. */
  addOrdered(values: readonly string[]): boolean {
    const places = values.map((value) => this.#values.get(value) ?? Number.POSITIVE_INFINITY);
    const isPart = places.every((place, i) => place < Number.POSITIVE_INFINITY && place > (places[i - 1] ?? -1));
    if (!isPart && [...this.#values.keys()].some((value, i) => value !== values[i])) return false;
    this.add(values);
    return true;
  }

  /** Returns words for a message. */
  shown(): string {
    return shownValues([...this.#values.keys()]);
  }

  plain(): Uint8Array {
    const bytes = Buffer.alloc(this.byteLength);
    let at = 0;
    for (const value of this.#values.keys()) {
      if (this.#lengthBytes > 0) bytes.writeUInt32LE(value.length, at);
      at += this.#lengthBytes + bytes.write(value, at + this.#lengthBytes, 'latin1');
    }
    return new Uint8Array(bytes);
  }
}

/** @returns undefined: the bytes are not so many values. */
export function splitPlain(leaf: Leaf, bytes: Buffer, count: number): string[] | undefined {
  const width = valueBytesOf(leaf);
  const values: string[] = [];
  for (let at = 0; values.length < count; ) {
    const start = width > 0 ? at : at + 4;
    if (start > bytes.byteLength) return undefined;
    at = start + (width > 0 ? width : bytes.readUInt32LE(at));
    if (at > bytes.byteLength) return undefined;
    values.push(bytes.toString('latin1', start, at));
  }
  return values;
}

const MOST_SHOWN = 6;

export function shownValues(values: readonly string[]): string {
  const first = values.slice(0, MOST_SHOWN).map((value) => shownPath([Buffer.from(value, 'latin1').toString()]));
  return first.join(', ') + (values.length > MOST_SHOWN ? ` and ${values.length - MOST_SHOWN} more` : '');
}
