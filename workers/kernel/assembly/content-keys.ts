// Keys that follow from the content of a record, so that equal records have equal keys wherever they come from. The
// position of such a record is the hash of what must be equal in it: the whole record, or the value of a field.

import { hashOfEqual } from './equal-records';
import { philoxLanes } from './philox';

let byContent: bool = false;

export function keyByContent(isOn: bool): void {
  byContent = isOn;
}

// @ts-ignore: decorator
@inline
export function keysFollowContent(): bool {
  return byContent;
}

/** What stands for the position of the record at `index` of the boundary table; 0 after the last one. */
// @ts-ignore: decorator
@inline
function contentOf(table: usize, index: u32, count: u32): u64 {
  if (index >= count) return 0;
  const mark = load<u64>(table + ((index as usize) << 3));
  const start = mark as u32;
  return hashOfEqual(start, ((mark >> 32) as u32) - start);
}

/** Stores the keys of four records, from `first` on, at `out` (32 bytes). `count`: of the whole table. */
export function contentKeys4(table: usize, first: u32, count: u32, contentKey: u64, out: usize): void {
  philoxLanes(
    contentOf(table, first, count),
    contentOf(table, first + 1, count),
    contentOf(table, first + 2, count),
    contentOf(table, first + 3, count),
    0,
    0,
    contentKey,
    out,
  );
}
