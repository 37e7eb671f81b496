// The boundary table: what every scan fills and scatter reads.

/** Writes entry `index`: one record, from `start` to `end`, as u32 addresses. */
// @ts-ignore: decorator
@inline
export function mark(table: usize, index: u32, start: usize, end: usize): void {
  const entry = table + ((index as usize) << 3);
  store<u32>(entry, start as u32, 0);
  store<u32>(entry, end as u32, 4);
}
