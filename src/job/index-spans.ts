/**
 * Walks through the members of a compressed file for its record index. Finds the spans, which the index keeps (a reader
 * decodes one span to get one record), and the points where the file is cut for the threads.
 */
import { UsageError } from '../errors.js';
import type { Framing } from '../formats/framing.js';
import { type OpenFile, writeAt } from '../io/files.js';
import { CellEncoder, MOST_SPAN_BYTES, type Span, SpanBuilder } from '../record-index/index-layout.js';
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
  const cells = new CellWriter(index, offset);
  const spans = new SpanBuilder((span) => {
    requireShort(path, span);
    cells.add(span);
  });
  const cuts = await walkMembers(input, framing, POINT_SPACING_BYTES, signal, (member) => {
    spans.add(member);
    return false;
  });
  if (cuts === undefined)
    throw cannotReach(path, `not all of its ${name} members say how many bytes they hold, or the file was cut`);
  spans.end(version.byteLength, cuts.decodedBytes);
  return { ...cuts, cellCount: cells.finish() };
}

class CellWriter {
  readonly #index: OpenFile;
  readonly #encoder = new CellEncoder();
  readonly #piece = Buffer.alloc(PIECE_BYTES);
  #pieceBytes = 0;
  #offset: number;

  constructor(index: OpenFile, offset: number) {
    this.#index = index;
    this.#offset = offset;
  }

  add(span: Span): void {
    this.#write(this.#encoder.add(span));
  }

  /** @returns the number of cells. */
  finish(): number {
    this.#write(this.#encoder.end());
    this.#writePiece();
    return this.#encoder.cellCount;
  }

  #write(entries: Buffer): void {
    for (let taken = 0; taken < entries.byteLength; ) {
      const count = entries.copy(this.#piece, this.#pieceBytes, taken);
      taken += count;
      this.#pieceBytes += count;
      if (this.#pieceBytes === PIECE_BYTES) this.#writePiece();
    }
  }

  #writePiece(): void {
    writeAt(this.#index, this.#piece, 0, this.#pieceBytes, this.#offset);
    this.#offset += this.#pieceBytes;
    this.#pieceBytes = 0;
  }
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
