// Leaves blank records out of the boundary table: those that have only white space before the bytes that end them.

let blankSum: u32 = 0;

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

/** Moves up the marks of the records that are not blank. Returns their number; `blankBytes` tells of the others. */
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

/** The bytes of the records that the last `dropBlank` left out. */
export function blankBytes(): u32 {
  return blankSum;
}
