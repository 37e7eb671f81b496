/**
 * Walks through the members of a compressed file for its record index. Finds the spans, which the index keeps (a reader
 * decodes one span to get one record), and the points where the file is cut for the threads.
 */
import { UsageError } from '../errors.js';
import type { Framing } from '../formats/framing.js';
import { type OpenFile, writeAt } from '../io/files.js';
import { CellEncoder, MOST_SPAN_BYTES, type Span } from '../record-index/index-layout.js';
import { type MemberCuts, walkMembers } from '../sources/cuts.js';
import type { FileInput } from '../sources/source.js';

export interface WrittenSpans extends MemberCuts {
  readonly cellCount: number;
}

/** Decoded bytes between two points where the file may be cut. */
const POINT_SPACING_BYTES = 256 * 1024;

/** @param offset where the first cell goes. */
export async function writeSpans(
  input: FileInput,
  framing: Framing,
  index: OpenFile,
  offset: number,
  signal: AbortSignal | undefined,
): Promise<WrittenSpans> {
  const { path, version, codec } = input;
  const { name, listMembers } = codec ?? { name: 'it' };
  if (listMembers === undefined) throw cannotReach(path, `${name} can only be decoded from its beginning`);
  let [pieces, pieceBytes, place]: [Buffer[], number, number] = [[], 0, offset];
  const writePieces = () => {
    writeAt(index, Buffer.concat(pieces), 0, pieceBytes, place);
    place += pieceBytes;
    [pieces, pieceBytes] = [[], 0];
  };
  const takeEntries = (entries: Buffer) => {
    pieces.push(entries);
    pieceBytes += entries.byteLength;
    if (pieceBytes >= PIECE_BYTES) writePieces();
  };
  const cells = new CellEncoder((span) => requireShort(path, span), takeEntries);
  const cuts = await walkMembers(input, framing, POINT_SPACING_BYTES, signal, (member) => {
    cells.add(member);
    return false;
  });
  if (cuts === undefined)
    throw cannotReach(path, `not all of its ${name} members say how many bytes they hold, or the file was cut`);
  cells.end(version.byteLength, cuts.decodedBytes);
  writePieces();
  return { ...cuts, cellCount: cells.cellCount };
}

const PIECE_BYTES = 256 * 1024;
const MOST_STORED_BYTES = 2 * MOST_SPAN_BYTES;

/** A reader decodes a whole span to get at one record. */
function requireShort(path: string, { storedStart, decodedBytes, storedBytes }: Span): void {
  if (decodedBytes <= MOST_SPAN_BYTES && storedBytes <= MOST_STORED_BYTES) return;
  throw cannotReach(
    path,
    `the member at its byte ${storedStart} (compressed) holds ${decodedBytes} bytes and must be decoded as a whole; expected at most ${MOST_SPAN_BYTES}`,
  );
}

function cannotReach(path: string, reason: string): UsageError {
  return new UsageError(
    `${path}: single records of it cannot be read, since ${reason}; decompress it, or compress it again in small members: with bgzip, or with \`pileshuf --compress zstd\``,
  );
}
