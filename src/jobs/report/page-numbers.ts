/** What the page of a report counts for its tables and charts. Pure. */
import { formatCount } from '../../quantity.js';
import type { JobReport } from '../options.js';
import type { ExpectedRange } from './report-facts.js';
import { nameText, numberText } from './units.js';

/** More rows or columns are joined. */
const MOST_ROWS = 24;
const MOST_COLUMNS = 24;
/** Shards are joined until a cell of the mean row has so many sampled records: of fewer, chance makes what looks odd. */
const FEWEST_IN_CELL = 12;
/** Parts of one input or one output. */
const PARTS = 10;

/** Several inputs, several shards, or a part of one. */
export interface Interval {
  readonly name: string;
}

interface HeatGroups {
  readonly rows: readonly Interval[];
  readonly columns: readonly Interval[];
  readonly rowKind: string;
  readonly columnKind: string;
  readonly cells: readonly {
    readonly row: number;
    readonly column: number;
    readonly count: number;
    readonly expected: number;
  }[];
}

/** Counts the sampled records of each input, or of each tenth of a lone one, in each shard, or in each tenth of a lone one. */
export function heatGroups({ sample, inputs, shards, result }: JobReport): HeatGroups {
  const shardCount = shards?.sizes.length ?? 1;
  const [byInput, byShard] = [inputs.length > 1, shardCount > 1];
  const rowCount = byInput ? Math.min(MOST_ROWS, inputs.length) : PARTS;
  // The inputs of a row follow each other, and rows have about as many.
  const rowStarts = Array.from({ length: rowCount }, (_, row) => Math.ceil((row * inputs.length) / rowCount));
  const starts = byShard ? joinedShards(shards?.sizes ?? [], sample.length / rowCount) : [];
  const columnCount = byShard ? starts.length : PARTS;
  const total = (shards?.by === 'bytes' ? result.bytes : result.records) || 1;
  const counts = Array.from({ length: rowCount }, () => new Array<number>(columnCount).fill(0));
  for (const { inputOrdinal, fromPart, rank, shard } of sample) {
    const cells =
      counts[byInput ? Math.floor((inputOrdinal * rowCount) / inputs.length) : Math.floor(fromPart * PARTS)];
    const column = byShard
      ? starts.findLastIndex((start) => start <= shard)
      : Math.floor((rank * PARTS) / result.records);
    if (cells !== undefined) cells[column] = (cells[column] ?? 0) + 1;
  }
  const shareOf = (column: number) => {
    if (!byShard) return 1 / PARTS;
    const sizes = shards?.sizes.slice(starts[column], starts[column + 1]) ?? [];
    return sizes.reduce((all, size) => all + size, 0) / total;
  };
  const inRow = counts.map((cells) => cells.reduce((all, count) => all + count, 0));
  return {
    rows: Array.from({ length: rowCount }, (_, row) => ({
      name: byInput ? inputName(inputs, rowStarts[row] ?? 0, rowStarts[row + 1] ?? inputs.length) : tenth(row),
    })),
    columns: Array.from({ length: columnCount }, (_, column) => ({
      name: byShard ? numbered(starts[column] ?? 0, starts[column + 1] ?? shardCount) : tenth(column),
    })),
    rowKind: byInput ? 'inputs' : 'tenths of the input',
    columnKind: byShard ? 'shards' : 'tenths of the output',
    cells: counts.flatMap((cells, row) =>
      cells.map((count, column) => ({ row, column, count, expected: (inRow[row] ?? 0) * shareOf(column) })),
    ),
  };
}

function tenth(part: number): string {
  return `${part * 10}-${part * 10 + 10} %`;
}

function numbered(first: number, end: number): string {
  return first === end - 1 ? String(first) : `${first}-${end - 1}`;
}

/**
 * The first shard of each column: consecutive shards are joined until a column is large enough; what is left at the end
 * joins the last one.
 * @param recordsOfRow sampled records of the mean row
 */
function joinedShards(sizes: readonly number[], recordsOfRow: number): number[] {
  const total = sizes.reduce((all, size) => all + size, 0) || 1;
  const fewest = Math.max(1 / MOST_COLUMNS, Math.min(1, FEWEST_IN_CELL / recordsOfRow));
  const starts = [0];
  let share = 0;
  for (const [shard, size] of sizes.entries()) {
    // Equal shards, whose sizes differ by a record, fill columns alike.
    if (share >= fewest * 0.999) {
      starts.push(shard);
      share = 0;
    }
    share += size / total;
  }
  if (share < fewest * 0.5 && starts.length > 1) starts.pop();
  return starts;
}

function inputName(inputs: JobReport['inputs'], first: number, end: number): string {
  if (inputs.length > MOST_ROWS) return `inputs ${numbered(first, end)}`;
  const path = inputs[first]?.path ?? '';
  const name = nameText(path.slice(path.lastIndexOf('/') + 1));
  return `${first} ${name.length > 24 ? `${name.slice(0, 23)}…` : name}`;
}

/**
 * About how many standard deviations a number lies above what chance gives, by Freeman and Tukey: also right where little is
 * expected.
 */
export function surprise(count: number, expected: number): number {
  return Math.sqrt(count) + Math.sqrt(count + 1) - Math.sqrt(4 * expected + 1);
}

export function expectedText({ lowest, highest }: ExpectedRange): string {
  return `${numberText(lowest)} to ${numberText(highest)}`;
}

export function spreadText({ mean, standardDeviation }: ExpectedRange): string {
  return standardDeviation === 0 ? formatCount(mean) : `${formatCount(mean)} ± ${numberText(standardDeviation)}`;
}
