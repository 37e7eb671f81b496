// Leaves blank records out of the boundary table: those that are nothing but white space in front of what ends them.

let blankSum: u32 = 0;

/** Tab, newline, vertical tab, form feed, carriage return, space. */
// @ts-ignore: decorator
@inline
function isWhite(byte: u32): bool {
  return byte == 0x20 || byte - 0x09 <= 4;
}

/** Whether the record [start, end) is blank, of which the last `delimiterBytes` only end it. */
export function isBlank(start: usize, end: usize, delimiterBytes: u32): bool {
  const textEnd = end - delimiterBytes;
  for (let p = start; p < textEnd; p++) if (!isWhite(load<u8>(p))) return false;
  return true;
}

/** Moves the marks up of those of `count` records that are not blank. Returns their number; `blankBytes` tells of the others. */
export function dropBlank(table: usize, count: u32, delimiterBytes: u32): u32 {
  blankSum = 0;
  const tableEnd = table + ((count as usize) << 3);
  let kept = table;
  for (let mark = table; mark < tableEnd; mark += 8) {
    const start = load<u32>(mark);
    const end = load<u32>(mark, 4);
    if (isBlank(start, end, delimiterBytes)) {
      blankSum += end - start;
      continue;
    }
    store<u64>(kept, load<u64>(mark));
    kept += 8;
  }
  return ((kept - table) >> 3) as u32;
}

/** The bytes of the records that the last call left out. */
export function blankBytes(): u32 {
  return blankSum;
}
