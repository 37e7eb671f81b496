/**
 * Each byte of a compressed input belongs to one part, and the members of a part must decode to as many bytes as they
 * declared when the input was cut. So no byte is lost or read twice, whatever the members declare. If the last record
 * continues after the part, the reader then decodes the following members up to the end of that record.
 */
import { InputError } from '../../src/errors.js';
import type { CompressedSource } from '../../src/formats/codec.js';
import { codecNamed } from '../../src/formats/codec-table.js';
import { IGZIP } from '../../src/formats/codecs/igzip.js';
import { type Doubt, lookedAt } from '../../src/formats/first-look.js';
import { contextBytesAt, type Framing, readerStart } from '../../src/formats/framing.js';
import { isHeldToText } from '../../src/formats/record-format.js';
import type { RegularInput } from '../../src/io/input-source.js';
import type { JobControl } from '../../src/job-control.js';
import { piecesInPhase } from '../../src/phase-clock.js';
import type { MemberRange } from '../../src/plan/slices.js';
import type { Coverage, InputPart } from '../../src/sources/input-part.js';
import type { ReadSettings } from '../settings.js';
import type { ReadState } from '../thread-state.js';
import type { PartReport, RecordReader } from './record-reader.js';

const PIECE_BYTES = 256 * 1024;

/**
 * The reader refused a record among bytes that igzip decoded and nothing has confirmed yet. The file may be damaged:
 * `node:zlib` finds that earlier or later than the reader finds what follows from it. The job has failed in any case, and
 * the caller reads the part again without igzip, for the error that it then gives.
 */
export class UnconfirmedRefusal extends Error {
  readonly refusal: InputError;

  constructor(refusal: InputError) {
    super(refusal.message);
    this.refusal = refusal;
  }
}

/** @throws UnconfirmedRefusal, which the caller handles. */
export async function readCompressed(
  part: InputPart & { kind: 'compressed' | 'members' },
  input: RegularInput,
  framing: Framing,
  reader: RecordReader,
  { control, decoderMemory }: ReadState,
  job: ReadSettings,
): Promise<Omit<PartReport, 'header'>> {
  const codec = codecNamed(part.codec, job.read.decompressProgram);
  const count = (byteLength: number) => control.count('scatteredBytes', byteLength);
  let decoder: string | undefined;
  const onDecoder = (name: string) => {
    decoder = name;
  };
  let doubt: Doubt | undefined;
  const onDoubt = (found: Doubt) => {
    doubt = found;
  };
  const open = (start: number, end: number, onRead = count) => compressedBytes(input, start, end, control, onRead);
  const decode = (source: CompressedSource) => piecesInPhase('decompress', codec.decode(source, decoderMemory));
  /** @param end may be infinite. */
  const decodePart = (start: number, end: number) => {
    const source = { ...open(start, end), onDecoder };
    const byteLength = Math.min(end, part.version.byteLength) - start;
    const again = { byteLength, open: () => ({ ...open(start, end, () => {}), onDecoder }) };
    const pieces = decode(job.read.igzip ? { ...source, again } : source);
    return isHeldToText(job.read) && start === 0 ? lookedAt(pieces, part.path, job.read, onDoubt) : pieces;
  };
  const taking = (take: (piece: Uint8Array) => void) => (piece: Uint8Array) => {
    control.count('decodedBytes', piece.byteLength);
    try {
      take(piece);
    } catch (error) {
      throw decoder === IGZIP && error instanceof InputError ? new UnconfirmedRefusal(error) : error;
    }
  };

  if (part.kind === 'compressed') {
    reader.begin(part.headerBytes, false);
    const take = taking((piece) => reader.takeCopy(piece, control));
    for await (const piece of behind(part.headerBytes, decodePart(0, Number.POSITIVE_INFINITY))) take(piece);
    return { coverage: reader.endOfInput(), decoder, doubt };
  }
  const decodeBehind = (start: number) => decode(open(start, Number.POSITIVE_INFINITY, () => {}));
  const coverage = await readMembers(part, framing, reader, control, { decodePart, decodeBehind, taking });
  return { coverage, decoder, doubt };
}

async function* behind(byteLength: number, pieces: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array, void> {
  let left = byteLength;
  for await (const piece of pieces) {
    const leftOut = Math.min(left, piece.byteLength);
    left -= leftOut;
    yield piece.subarray(leftOut);
  }
}

interface MemberReading {
  decodePart(storedStart: number, storedEnd: number): AsyncIterable<Uint8Array>;
  /** The members after the part. */
  decodeBehind(storedStart: number): AsyncIterable<Uint8Array>;
  taking(take: (piece: Uint8Array) => void): (piece: Uint8Array) => void;
}

async function readMembers(
  { path, headerBytes, start, end, members, version }: InputPart & { kind: 'members' },
  framing: Framing,
  reader: RecordReader,
  control: JobControl,
  { decodePart, decodeBehind, taking }: MemberReading,
): Promise<Coverage> {
  const { storedStart, storedEnd, decodedStart, decodedEnd } = members;
  // The first bytes may be the end of a record of the previous part.
  const scanStart = readerStart(framing, start, headerBytes);
  const contextBytes = contextBytesAt(framing, scanStart, headerBytes);
  reader.begin(scanStart, scanStart < start, 0, contextBytes);
  const begin = scanStart - contextBytes;
  let position = decodedStart;
  const take = (piece: Uint8Array) => {
    reader.takeCopy(piece.subarray(Math.max(0, begin - position)), control, end);
    position += piece.byteLength;
  };

  const takeOfPart = taking((piece) => {
    if (position + piece.byteLength > decodedEnd) throw otherLength(path, members, 'more');
    take(piece);
  });
  for await (const piece of decodePart(storedStart, storedEnd)) takeOfPart(piece);
  if (position < decodedEnd) throw otherLength(path, members, position - decodedStart);

  if (storedEnd === version.byteLength) return reader.endOfInput();
  if (!reader.wantsMore(end)) return reader.endOfRange(end);
  for await (const piece of decodeBehind(storedEnd)) {
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

/** Stored bytes [start, end), fewer if the input ends earlier. */
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
    next: (room = new Uint8Array(Math.min(PIECE_BYTES, end - position))) => {
      control.throwIfAborted();
      const bytes = room.subarray(0, end - position);
      const count = input.readAt(bytes, 0, bytes.byteLength, position);
      position += count;
      onRead(count);
      return bytes.subarray(0, count);
    },
  };
}
