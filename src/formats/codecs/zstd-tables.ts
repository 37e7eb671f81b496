/** How large the tables are in which libzstd looks for what came before. */

/** The entries, as log2, of the two large tables of each level (`ZSTD_defaultCParameters`, for more than 256 KiB). */
const TABLE_LOGS: readonly (readonly [chain: number, hash: number])[] = [
  [13, 14],
  [15, 16],
  [16, 17],
  [18, 18],
  [18, 19],
  [18, 19],
  [19, 20],
  [19, 20],
  [20, 21],
  [21, 22],
  [21, 22],
  [22, 23],
  [22, 22],
  [22, 23],
  [23, 23],
  [22, 22],
  [23, 22],
  [23, 22],
  [24, 22],
  [25, 23],
  [26, 24],
  [27, 25],
];

/** Returns log2 of the entries of each table, of 4 bytes. Short bytes have smaller ones. */
export function zstdTableLogs(level: number): readonly number[] {
  return TABLE_LOGS[level - 1] ?? [];
}
