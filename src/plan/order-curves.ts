/**
 * What a plot of an order shows beside its tests: how alike records are by their distance, and how far they travelled.
 * Pure.
 */
import { WINDOW_RECORDS } from './order-tests.js';
import { type SampledRecords, similarity } from './record-sample.js';

/** How alike records are at one distance from each other. */
export interface SimilarityAt {
  /** The distance, in records. */
  readonly records: number;
  /** The mean part of words that two such records share. */
  readonly mean: number;
  /** The standard error of the mean. */
  readonly error: number;
}

/** More pairs make the errors smaller than a plot shows. */
const MOST_PAIRS = 512;

/**
 * Inside windows at distances of 1, 2, 4, ... records, then between windows that are 1, 2, 4, ... windows apart.
 * @param rowCount of whole windows.
 * @param recordCount of all data.
 */
export function similarityByDistance(
  sample: SampledRecords,
  rowCount: number,
  recordCount: number,
): readonly SimilarityAt[] {
  const windows = Math.floor(rowCount / WINDOW_RECORDS);
  const curve: SimilarityAt[] = [];
  for (let records = 1; records < WINDOW_RECORDS; records *= 2) {
    const firsts = rowsOf(rowCount, (row) => (row % WINDOW_RECORDS) + records < WINDOW_RECORDS);
    curve.push(similarityAt(sample, firsts, records, records));
  }
  for (let apart = 1; apart < windows; apart *= 2) {
    const rows = apart * WINDOW_RECORDS;
    curve.push(similarityAt(sample, rowsOf(rowCount - rows), rows, Math.round((apart * recordCount) / windows)));
  }
  return curve;
}

/** At most `MOST_PAIRS` of the rows, evenly spread. */
function rowsOf(rowCount: number, isWanted: (row: number) => boolean = () => true): readonly number[] {
  const rows = Array.from({ length: rowCount }, (_, row) => row).filter(isWanted);
  const count = Math.min(MOST_PAIRS, rows.length);
  return Array.from({ length: count }, (_, i) => rows[Math.floor((i * rows.length) / count)] ?? 0);
}

function similarityAt(sample: SampledRecords, firsts: readonly number[], rows: number, records: number): SimilarityAt {
  const values = firsts.map((row) => similarity(sample, row, row + rows));
  const mean = values.reduce((sum, value) => sum + value, 0) / values.length;
  const variance = values.reduce((sum, value) => sum + (value - mean) ** 2, 0) / Math.max(1, values.length - 1);
  return { records, mean, error: Math.sqrt(variance / values.length) };
}

const DISTANCE_PARTS = 20;

/** @param distances as parts of the data. @returns the part of them in each twentieth of the data. */
export function distanceParts(distances: Float64Array): readonly number[] {
  const counts = new Array<number>(DISTANCE_PARTS).fill(0);
  for (const distance of distances) {
    const part = Math.min(DISTANCE_PARTS - 1, Math.floor(distance * DISTANCE_PARTS));
    counts[part] = (counts[part] ?? 0) + 1;
  }
  return counts.map((count) => count / distances.length);
}

/** The same parts in a random order, where small distances are likelier than large ones. */
export function randomDistanceParts(parts: number): readonly number[] {
  return Array.from({ length: parts }, (_, i) => (2 * parts - 2 * i - 1) / parts ** 2);
}
