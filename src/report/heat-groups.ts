/** Where the sampled records of a report went: counts of inputs by shards. Pure. */
import type { JobReport } from '../jobs/options.js';
import { sum } from '../jobs/report/self-check.js';
import { nameText } from './units.js';

/** More rows or columns are joined. */
const MOST_ROWS = 24;
const MOST_COLUMNS = 24;
/** Shards are joined until a cell of the mean row has so many sampled records: of fewer, chance makes what looks odd. */
const FEWEST_IN_CELL = 12;
/** Parts of one input or one output. */
const PARTS = 10;

interface HeatGroups {
  readonly rows: readonly string[];
  readonly columns: readonly string[];
  readonly rowKind: string;
  readonly columnKind: string;
  /** Sampled records of each row in each column, and as many as chance lets expect. */
  readonly counts: readonly (readonly number[])[];
  readonly expected: readonly (readonly number[])[];
}

/** Counts the sampled records of each input in each shard. A lone input or shard is cut into tenths. */
export function heatGroups({ sample, inputs, shards, result }: JobReport): HeatGroups {
  const shardSizes = shards?.sizes ?? [];
  const [byInput, byShard] = [inputs.length > 1, shardSizes.length > 1];
  const rowCount = byInput ? Math.min(MOST_ROWS, inputs.length) : PARTS;
  const starts = byShard ? joinedShards(shardSizes, sample.length / rowCount) : [];
  const columnCount = byShard ? starts.length : PARTS;
  const counts = Array.from({ length: rowCount }, () => new Array<number>(columnCount).fill(0));
  for (const { inputOrdinal, fromPart, rank, shard } of sample) {
    const row = counts[byInput ? Math.floor((inputOrdinal * rowCount) / inputs.length) : Math.floor(fromPart * PARTS)];
    const column = byShard
      ? starts.findLastIndex((start) => start <= shard)
      : Math.floor((rank * PARTS) / result.records);
    if (row !== undefined) row[column] = (row[column] ?? 0) + 1;
  }
  const total = sum(shardSizes) || 1;
  const shareOf = (column: number) =>
    byShard ? sum(shardSizes.slice(starts[column], starts[column + 1])) / total : 1 / PARTS;
  const startOf = (row: number) => Math.ceil((row * inputs.length) / rowCount);
  return {
    rows: counts.map((_, row) => (byInput ? inputName(inputs, startOf(row), startOf(row + 1)) : tenth(row))),
    columns: Array.from({ length: columnCount }, (_, column) =>
      byShard ? numbered(starts[column] ?? 0, starts[column + 1] ?? shardSizes.length) : tenth(column),
    ),
    rowKind: byInput ? 'inputs' : 'tenths of the input',
    columnKind: byShard ? 'shards' : 'tenths of the output',
    counts,
    expected: counts.map((row) => row.map((_, column) => sum(row) * shareOf(column))),
  };
}

function tenth(part: number): string {
  return `${part * 10}-${part * 10 + 10} %`;
}

function numbered(first: number, end: number): string {
  return first === end - 1 ? String(first) : `${first}-${end - 1}`;
}

/** The first shard of each column; `recordsOfRow` is the number of sampled records in the mean row. */
function joinedShards(sizes: readonly number[], recordsOfRow: number): number[] {
  const total = sum(sizes) || 1;
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

/** About how many standard deviations a count lies above chance, by Freeman and Tukey; right for few expected, too. */
export function surprise(count: number, expected: number): number {
  return Math.sqrt(count) + Math.sqrt(count + 1) - Math.sqrt(4 * expected + 1);
}
