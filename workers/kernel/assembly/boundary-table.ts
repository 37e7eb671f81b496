// The boundary table: a u32 start address and a u32 end address for each record. Every scan fills it, and scatter reads it.

// @ts-ignore: decorator
@inline
export function mark(table: usize, index: u32, start: usize, end: usize): void {
  const entry = table + ((index as usize) << 3);
  store<u32>(entry, start as u32, 0);
  store<u32>(entry, end as u32, 4);
}

/** Begins to mark adjacent records, the first of which begins at `start`; `markEnd` marks where each one ends. */
// @ts-ignore: decorator
@inline
export function beginMarks(table: usize, start: usize): void {
  store<u32>(table, start as u32, 0);
}

/** Marks the end of a record, where the next one begins. */
// @ts-ignore: decorator
@inline
export function markEnd(table: usize, index: u32, end: usize): void {
  const entry = table + ((index as usize) << 3);
  store<u32>(entry, end as u32, 4);
  store<u32>(entry, end as u32, 8);
}

/** The bytes of the records that the last `dropBlank` left out. */
export let blankBytes: u32 = 0;

/** Tab, newline, vertical tab, form feed, carriage return, space. */
// @ts-ignore: decorator
@inline
function isWhite(byte: u32): bool {
  return byte == 0x20 || byte - 0x09 <= 4;
}

/** @param delimiterBytes the last bytes of the record, which only end it. */
export function isBlank(start: usize, end: usize, delimiterBytes: u32): bool {
  const textEnd = end - delimiterBytes;
  for (let p = start; p < textEnd; p++) if (!isWhite(load<u8>(p))) return false;
  return true;
}

/**
 * Moves up the marks of the records that are not blank: blank ones have only white space before the bytes that end them.
 * Returns their number; `blankBytes` tells of the others.
 */
export function dropBlank(table: usize, count: u32, delimiterBytes: u32): u32 {
  blankBytes = 0;
  const tableEnd = table + ((count as usize) << 3);
  let next = table;
  for (let mark = table; mark < tableEnd; mark += 8) {
    const start = load<u32>(mark);
    const end = load<u32>(mark, 4);
    if (isBlank(start, end, delimiterBytes)) {
      blankBytes += end - start;
      continue;
    }
    store<u64>(next, load<u64>(mark));
    next += 8;
  }
  return ((next - table) >> 3) as u32;
}
