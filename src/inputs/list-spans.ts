/**
 * Looks through the members of a compressed file that is to be indexed: where one may begin to decode it, which goes
 * into the index, and where it is cut for the threads.
 */

import { thenAlwaysAsync } from '../cleanup.js';
import { UsageError } from '../errors.js';
import { type Framing, rangeStart } from '../formats/framing.js';
import { FileWindow } from '../io/file-window.js';
import { closeFile, type OpenFile, openForRead, writeAt } from '../io/files.js';
import { hearSignals } from '../pause.js';
import type { CutPoint } from '../plan/slices.js';
import { CellEncoder, MOST_SPAN_BYTES, type Span, SpanBuilder } from '../record-index/member-cells.js';
import { SpacedPoints } from './cut-points.js';
import type { JobInput } from './list-inputs.js';

export interface ListedSpans {
  readonly decodedBytes: number;
  readonly cutPoints: readonly CutPoint[];
  readonly cellCount: number;
}

/** After so much of a file signals are heard. */
const TURN_BYTES = 16 * 2 ** 20;
/** Between two places at which the file may be cut. */
const POINT_SPACING_BYTES = 256 * 1024;

/**
 * Writes the cells into the index.
 * @param place of the first one.
 * @throws UsageError when its records cannot be reached without decoding much of what is before them.
 */
export async function listSpans(
  input: JobInput & { kind: 'file' },
  framing: Framing,
  index: OpenFile,
  place: number,
  signal: AbortSignal | undefined,
): Promise<ListedSpans> {
  const { path, version, header, codec } = input;
  const { name, listMembers } = codec ?? { name: 'it' };
  if (listMembers === undefined) throw cannotReach(path, `${name} is decoded from its beginning alone`);
  const cells = new CellWriter(index, place);
  const spans = new SpanBuilder((span) => {
    requireShort(path, span);
    cells.add(span);
  });
  const points = new SpacedPoints(POINT_SPACING_BYTES);
  const file = openForRead(path, 'input');
  const list = async (): Promise<ListedSpans> => {
    const members = listMembers(new FileWindow(file, version.byteLength));
    for (let turnAt = 0; ; ) {
      const { done, value } = members.next();
      if (done === true) {
        if (value === undefined)
          throw cannotReach(path, `not all of its ${name} members say how many bytes they hold, or the file was cut`);
        spans.end(version.byteLength, value);
        return { decodedBytes: value, cutPoints: points.before(value), cellCount: cells.finish() };
      }
      spans.add(value);
      const { storedStart, decodedStart } = value;
      const start = rangeStart(framing, decodedStart, header.byteLength);
      if (start !== undefined && decodedStart > header.byteLength) points.add({ start, storedStart, decodedStart });
      if (storedStart < turnAt) continue;
      turnAt = storedStart + TURN_BYTES;
      await hearSignals(signal);
    }
  };
  return thenAlwaysAsync(list, () => closeFile(file));
}

/** Writes the entries of cells one behind the other, many at a time. */
class CellWriter {
  readonly #index: OpenFile;
  readonly #encoder = new CellEncoder();
  readonly #piece = Buffer.alloc(PIECE_BYTES);
  #pieceBytes = 0;
  #place: number;

  constructor(index: OpenFile, place: number) {
    this.#index = index;
    this.#place = place;
  }

  add(span: Span): void {
    this.#write(this.#encoder.add(span));
  }

  /** @returns how many there are. */
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
    writeAt(this.#index, this.#piece, 0, this.#pieceBytes, this.#place);
    this.#place += this.#pieceBytes;
    this.#pieceBytes = 0;
  }
}

const PIECE_BYTES = 256 * 1024;
const MOST_STORED_BYTES = 2 * MOST_SPAN_BYTES;

/** A reader of one record decodes all of a span. */
function requireShort(path: string, { storedStart, decodedBytes, storedBytes }: Span): void {
  if (decodedBytes <= MOST_SPAN_BYTES && storedBytes <= MOST_STORED_BYTES) return;
  throw cannotReach(
    path,
    `what begins at its byte ${storedStart} (compressed) holds ${decodedBytes} bytes, and must be decoded as a whole; expected at most ${MOST_SPAN_BYTES}`,
  );
}

function cannotReach(path: string, reason: string): UsageError {
  return new UsageError(
    `${path}: single records of it cannot be read, since ${reason}; decompress it, or compress it again in small members: with bgzip, or with \`pileshuf --compress zstd\``,
  );
}
