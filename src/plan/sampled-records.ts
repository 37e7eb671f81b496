/** What counted samples say of the number of all records. Pure. */

/** Whole records that lie one behind the other. */
export interface CountedPiece {
  readonly bytes: number;
  readonly records: number;
}

/** Where nothing is known. */
const USUAL_RECORD_BYTES = 200;
/** With fewer pieces their differences tell nothing, and the number may be wrong by this factor. */
const FEW_PIECES = 4;
const USUAL_FACTOR = 2;
/** Twice the standard error counts, and never less than this part. */
const LEAST_ERROR = 0.002;

/**
 * Records for a byte, with limits within which the truth lies in about 95 of 100 cases.
 * @param leastError as a part.
 */
export function recordsPerByte(
  pieces: readonly CountedPiece[],
  leastError = LEAST_ERROR,
): { least: number; expected: number; most: number } {
  const bytes = pieces.reduce((sum, piece) => sum + piece.bytes, 0);
  const records = pieces.reduce((sum, piece) => sum + piece.records, 0);
  if (bytes === 0 || records === 0) return limited(1 / USUAL_RECORD_BYTES, USUAL_FACTOR - 1);
  const expected = records / bytes;
  if (pieces.length < FEW_PIECES) return limited(expected, USUAL_FACTOR - 1);
  // Of a ratio of two sums.
  const squares = pieces.reduce((sum, piece) => sum + (piece.records - expected * piece.bytes) ** 2, 0);
  const error = 2 * Math.sqrt((squares * pieces.length) / (pieces.length - 1));
  return limited(expected, Math.max(LEAST_ERROR, leastError, error / records));
}

function limited(expected: number, error: number) {
  return { least: expected / (1 + error), expected, most: expected * (1 + error) };
}
