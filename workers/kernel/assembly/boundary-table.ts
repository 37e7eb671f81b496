// The boundary table: a u32 start address and a u32 end address for each record. Every scan fills it, and scatter reads it.

// @ts-ignore: decorator
@inline
export function mark(table: usize, index: u32, start: usize, end: usize): void {
  const entry = table + ((index as usize) << 3);
  store<u32>(entry, start as u32, 0);
  store<u32>(entry, end as u32, 4);
}

/** The first of adjacent records begins at `start`; `markEnd` marks where each one ends. */
// @ts-ignore: decorator
@inline
export function beginMarks(table: usize, start: usize): void {
  store<u32>(table, start as u32, 0);
}

/** The next record begins at `end`, too. */
// @ts-ignore: decorator
@inline
export function markEnd(table: usize, index: u32, end: usize): void {
  const entry = table + ((index as usize) << 3);
  store<u32>(entry, end as u32, 4);
  store<u32>(entry, end as u32, 8);
}
