// The value of a record, which a selector finds: as a hash of 64 bits, by which splits are chosen and records told apart. The
// hash of a string is the `recordHash` of a quote and its characters behind it, whichever selector found it.
//
//   selector   0 kind u32 | 4 whether records may lack a value u32 | 8 hash of their value then u64
//              16 the first record without a value u32, or 0 | 20 unused u32 | 24 a hash for the host u64 | 32 by kind:
//              FIELD: path, as json-field.ts has it
//              COLUMN: index from 0 u32 | separator u32 | whether quotes enclose values u32
//              HOST: nothing; the host finds the value

import { columnHash, hasColumn, seekColumn } from './csv-column';
import { fieldHash, hasField, seekField } from './json-field';

const FIELD: u32 = 0;
const COLUMN: u32 = 1;

// @ts-ignore: decorator
@external('host', 'findValue')
declare function findValue(selector: usize, start: usize, end: usize): u32;

/** Finds values for the selector from now on: call it before the first of some records. Other selectors may follow. */
export function seekValues(selector: usize): void {
  const kind = load<u32>(selector);
  if (kind == FIELD) seekField(selector + 32);
  else if (kind == COLUMN) seekColumn(load<u32>(selector, 32), load<u32>(selector, 36) as u8, load<u32>(selector, 40) != 0);
}

/**
 * The hash of the value of the record [start, end), by the selector that `seekValues` was called with last. Reads up to 15
 * bytes past the end. A record without a value counts as one of the value that the selector says, if it does; else
 * `missingRecordOf` tells where the first one is.
 */
export function valueHash(selector: usize, start: usize, end: usize): u64 {
  const kind = load<u32>(selector);
  if (kind == FIELD) {
    const hash = fieldHash(start, end);
    if (hasField()) return hash;
  } else if (kind == COLUMN) {
    const hash = columnHash(start, end);
    if (hasColumn()) return hash;
  } else if (findValue(selector, start, end) != 0) {
    return load<u64>(selector, 24);
  }
  if (load<u32>(selector, 4) == 0 && load<u32>(selector, 16) == 0) store<u32>(selector, start as u32, 16);
  return load<u64>(selector, 8);
}

/** The address of the first record without a value; 0: all had one, or may lack it. */
export function missingRecordOf(selector: usize): usize {
  return load<u32>(selector, 16);
}

/** From now on the selector finds the column at `index`, from 0. */
export function chooseColumn(selector: usize, index: u32): void {
  store<u32>(selector, index, 32);
}
