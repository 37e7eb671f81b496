/**
 * A leaf is a column that holds values. A row of a table, as it lies on piles, is what its leaves hold of it, in the order
 * of the leaves. Numbers are little-endian, and nothing is aligned:
 *
 *     maxRepetition 0, maxDefinition 0   value
 *     maxRepetition 0                    definition level u8 | value, if the level is maxDefinition
 *     maxRepetition above 0              u32: number of entries n, at least 1; bit 31: all have the highest level
 *                                        n repetition levels u8, if maxRepetition is above 1: else the first is 0, the others 1
 *                                        n definition levels u8, unless bit 31 is set
 *                                        the values of those entries whose level is maxDefinition
 *
 * A value is what PLAIN stores: 4, 8 or 12 bytes, `typeLength` bytes, or u32 byte length and bytes (BYTE_ARRAY). A BOOLEAN
 * is one byte, 0 or 1. No value is interpreted, so rows are equal if and only if these bytes are.
 */

/** The numbers are those of parquet.thrift. */
export const PHYSICAL_TYPES = {
  BOOLEAN: 0,
  INT32: 1,
  INT64: 2,
  INT96: 3,
  FLOAT: 4,
  DOUBLE: 5,
  BYTE_ARRAY: 6,
  FIXED_LEN_BYTE_ARRAY: 7,
} as const;

export type PhysicalType = keyof typeof PHYSICAL_TYPES;

/** Plain data; crosses threads. */
export interface Leaf {
  /** The names from the root to the leaf. */
  readonly path: readonly string[];
  readonly type: PhysicalType;
  /** Bytes of a value of FIXED_LEN_BYTE_ARRAY, at least 1; 0 for all other types. */
  readonly typeLength: number;
  readonly maxDefinition: number;
  readonly maxRepetition: number;
}

/** Levels are single bytes in rows. */
export const MOST_LEVEL = 255;

const VALUE_BYTES: Readonly<Record<PhysicalType, number>> = {
  BOOLEAN: 1,
  INT32: 4,
  INT64: 8,
  INT96: 12,
  FLOAT: 4,
  DOUBLE: 8,
  BYTE_ARRAY: 0,
  FIXED_LEN_BYTE_ARRAY: 0,
};

/** Bytes of each value in a row; 0: each says its own length. */
export function valueBytesOf({ type, typeLength }: Pick<Leaf, 'type' | 'typeLength'>): number {
  return type === 'FIXED_LEN_BYTE_ARRAY' ? typeLength : VALUE_BYTES[type];
}

/** Returns the name as people write it: `a.b.c`. */
export function nameOfLeaf({ path }: Leaf): string {
  return path.join('.');
}
