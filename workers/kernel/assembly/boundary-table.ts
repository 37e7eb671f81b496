// The boundary table: every scan fills it, and scatter reads it.

/** Writes entry `index`: one record, from `start` to `end`, as u32 addresses. */
// @ts-ignore: decorator
@inline
export function mark(table: usize, index: u32, start: usize, end: usize): void {
  const entry = table + ((index as usize) << 3);
  store<u32>(entry, start as u32, 0);
  store<u32>(entry, end as u32, 4);
}

/** Begins a table of adjacent records, the first one at `start`. */
// @ts-ignore: decorator
@inline
export function beginMarks(table: usize, start: usize): void {
  store<u32>(table, start as u32, 0);
}

/** Ends record `index` at this address, where the next record begins. */
// @ts-ignore: decorator
@inline
export function markEnd(table: usize, index: u32, end: usize): void {
  const entry = table + ((index as usize) << 3);
  store<u32>(entry, end as u32, 4);
  store<u32>(entry, end as u32, 8);
}
