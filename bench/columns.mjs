// @ts-check
// Formats the rows of a table as lines of text. Pure.

/** @param {string[][]} rows @returns {string[]} the first column to the left, the others to the right */
export function columns(rows) {
  const widths = (rows[0] ?? []).map((_, i) => Math.max(...rows.map((row) => (row[i] ?? '').length)));
  return rows.map((row) => {
    const cells = row.map((cell, i) => (i === 0 ? cell.padEnd(widths[i] ?? 0) : cell.padStart(widths[i] ?? 0)));
    return `  ${cells.join('  ')}`.trimEnd();
  });
}
