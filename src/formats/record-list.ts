/**
 * Records that are in memory: all their bytes, and where each ends. They lie there as in a file, each with its
 * delimiter, so the position of each, and its key, are those that it would have there.
 */

export interface RecordList {
  readonly bytes: Uint8Array;
  /** The end of each record, counted in bytes from the beginning. */
  readonly ends: Float64Array;
}

/** Joins records, and puts the delimiter behind each. A record may hold the delimiter and stays one record. */
export function joinRecords(records: readonly (string | Uint8Array)[], delimiter: Uint8Array): RecordList {
  const pieces = records.map((record) => (typeof record === 'string' ? Buffer.from(record) : record));
  const ends = new Float64Array(pieces.length);
  let end = 0;
  for (const [i, { byteLength }] of pieces.entries()) {
    end += byteLength + delimiter.byteLength;
    ends[i] = end;
  }
  const bytes = new Uint8Array(end);
  for (const [i, piece] of pieces.entries()) {
    const start = (ends[i] ?? 0) - piece.byteLength - delimiter.byteLength;
    bytes.set(piece, start);
    bytes.set(delimiter, start + piece.byteLength);
  }
  return { bytes, ends };
}
