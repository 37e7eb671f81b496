/** Records in memory, each with its delimiter, as in a file: positions and keys are the same as there. */

export interface RecordList {
  readonly bytes: Uint8Array;
  readonly ends: Float64Array;
}

/** Puts the delimiter after each record. A record that holds the delimiter stays one record. */
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
