/**
 * Reads a compressed input, whole or some of its members, and passes its records to a taker.
 *
 * The reader decodes the members of the part from first to last. Each byte of the input belongs to one part, and the
 * members must decode to as many bytes as they declared when the input was cut. So no byte is lost or read twice,
 * whatever the members declare. If the last record continues behind the part, the reader then decodes the following
 * members up to the end of that record.
 */
import { InputError } from '../../src/errors.js';
import type { CompressedSource } from '../../src/formats/codec.js';
import { codecNamed } from '../../src/formats/codec-table.js';
import { requireLines } from '../../src/formats/foreign-formats.js';
import { type Framing, readerStart } from '../../src/formats/framing.js';
import type { Coverage, InputPart } from '../../src/inputs/input-part.js';
import type { RegularInput } from '../../src/io/input-source.js';
import type { JobControl } from '../../src/job-control.js';
import { piecesInPhase } from '../../src/phase-clock.js';
import type { MemberRange } from '../../src/plan/slices.js';
import type { ReadSettings } from '../settings.js';
import type { ReadState } from '../thread-state.js';
import type { RecordReader } from './record-reader.js';

/** Bytes read at a time. */
const PIECE_BYTES = 256 * 1024;

export async function readWholeFile(
  part: InputPart & { kind: 'compressed' },
  input: RegularInput,
  reader: RecordReader,
  { control, decoderMemory }: ReadState,
  job: ReadSettings,
): Promise<Coverage> {
  const count = (byteLength: number) => control.count('scatteredBytes', byteLength);
  const source = compressedBytes(input, 0, Number.POSITIVE_INFINITY, control, count);
  const decoded = codecNamed(part.codec, job.decompressProgram).decode(source, decoderMemory);
  const inPhase = piecesInPhase('decompress', decoded);
  const pieces = job.linesAssumed ? requireLines(inPhase, part.path) : inPhase;
  reader.begin(part.headerBytes, false);
  for await (const piece of behind(part.headerBytes, pieces)) reader.takeCopy(piece, control);
  return reader.endOfInput();
}

/** The pieces without their first `byteLength` bytes. */
async function* behind(byteLength: number, pieces: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array, void> {
  let left = byteLength;
  for await (const piece of pieces) {
    const leftOut = Math.min(left, piece.byteLength);
    left -= leftOut;
    yield piece.subarray(leftOut);
  }
}

export async function readMembers(
  part: InputPart & { kind: 'members' },
  input: RegularInput,
  framing: Framing,
  reader: RecordReader,
  { control, decoderMemory }: ReadState,
  job: ReadSettings,
): Promise<Coverage> {
  const { headerBytes, start, end, members, version } = part;
  const { storedStart, storedEnd, decodedStart, decodedEnd } = members;
  const decode = (from: number, to: number, onRead: (byteLength: number) => void) => {
    const source = compressedBytes(input, from, to, control, onRead);
    const pieces = piecesInPhase('decompress', codecNamed(part.codec).decode(source, decoderMemory));
    return job.linesAssumed && from === 0 ? requireLines(pieces, part.path) : pieces;
  };
  // The first bytes may be the end of a record of the previous part.
  const begin = readerStart(framing, start, headerBytes);
  reader.begin(begin, begin < start);
  let position = decodedStart;
  const take = (piece: Uint8Array) => {
    reader.takeCopy(piece.subarray(Math.max(0, begin - position)), control, end);
    position += piece.byteLength;
  };

  const count = (byteLength: number) => control.count('scatteredBytes', byteLength);
  for await (const piece of decode(storedStart, storedEnd, count)) {
    if (position + piece.byteLength > decodedEnd) throw otherLength(input.path, members, 'more');
    take(piece);
  }
  if (position < decodedEnd) throw otherLength(input.path, members, position - decodedStart);

  if (storedEnd === version.byteLength) return reader.endOfInput();
  if (!reader.wantsMore(end)) return reader.endOfRange(end);
  for await (const piece of decode(storedEnd, Number.POSITIVE_INFINITY, () => {})) {
    take(piece);
    if (!reader.wantsMore(end)) return reader.endOfRange(end);
  }
  return reader.endOfInput();
}

function otherLength(path: string, members: MemberRange, decodedBytes: number | 'more'): InputError {
  const { storedStart, storedEnd, decodedStart, decodedEnd } = members;
  return new InputError(
    'ERR_INPUT_CORRUPT',
    `${path}: its bytes ${storedStart} to ${storedEnd} (compressed) decode to ${decodedBytes} bytes, expected the ${decodedEnd - decodedStart} that they say they hold; make the file again`,
  );
}

/**
 * Stored bytes [start, end) of an input for a codec, fewer if the input ends earlier.
 * @param onRead called after each read with the number of bytes.
 */
function compressedBytes(
  input: RegularInput,
  start: number,
  end: number,
  control: JobControl,
  onRead: (byteLength: number) => void,
): CompressedSource {
  let position = start;
  return {
    path: input.path,
    start,
    throwIfAborted: () => control.throwIfAborted(),
    next: () => {
      control.throwIfAborted();
      const bytes = new Uint8Array(Math.min(PIECE_BYTES, end - position));
      const count = input.readAt(bytes, 0, bytes.byteLength, position);
      position += count;
      onRead(count);
      return bytes.subarray(0, count);
    },
  };
}
