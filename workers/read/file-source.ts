/**
 * A part of a file. Plain bytes are read straight to where they are scanned. Each byte of a compressed file belongs to one
 * part, and the members of a part must decode to as many bytes as they declared when the file was cut. So no byte is
 * lost or read twice, whatever the members declare. If the last record continues after the part, the following members
 * are decoded up to the end of that record.
 */

import { InputError } from '../../src/errors.js';
import { thenAlwaysAsync } from '../../src/floor/cleanup.js';
import type { JobControl } from '../../src/floor/job-control.js';
import { piecesInPhase } from '../../src/floor/phase-clock.js';
import type { CompressedSource } from '../../src/formats/codec.js';
import { CODEC_HEAD_BYTES, codecNamed } from '../../src/formats/codec-table.js';
import { examinedPieces } from '../../src/formats/first-bytes.js';
import { requiresText } from '../../src/formats/record-format.js';
import { PieceReader } from '../../src/formats/record-source.js';
import { inputFactsOf } from '../../src/places/inputs/input-kinds.js';
import { RegularInput } from '../../src/places/inputs/input-source.js';
import type { MemberRange } from '../../src/plan/slices.js';
import { requireAsNamed, wantedHeadBytes } from '../../src/sources/believed-names.js';
import type { InputPart } from '../../src/sources/input-part.js';
import { beginAt, type ReadBegin, type ReadContext, type UseOfSource } from './part-source.js';

const PIECE_BYTES = 256 * 1024;
/** Bytes of a plain file read at a time after the part, to complete its last record. */
const BEHIND_PART_BYTES = 64 * 1024;

type FilePart = InputPart & { kind: 'file' };

export function withFileSource<T>(part: FilePart, context: ReadContext, use: UseOfSource<T>): Promise<T> {
  const { framing } = context;
  if (framing === undefined) throw new RangeError('the framing of a file is known before the file is read');
  const end = part.codec === undefined ? part.end : (part.members?.storedEnd ?? part.version.byteLength);
  const input = new RegularInput(part.path, part.version, context.control, part.gate, end);
  const begin = beginAt(framing, part.start, part.headerBytes, part.countBefore);
  const read = () => {
    if (begin.firstByte === 0 && inputFactsOf(part.path).isRemote) checkRemoteHead(part, input, context);
    return part.codec === undefined
      ? use({ framing, begin, end: part.end, ...plainReads(part, input, begin, context.control) })
      : withDecoded(part, input, begin, context, (decoded) => use({ framing, begin, ...decoded }));
  };
  return thenAlwaysAsync(read, () => input.close());
}

/** Checks what the name of a remote file says, which may have been believed so far. */
function checkRemoteHead(
  { path, codec, version }: FilePart,
  input: RegularInput,
  { read, sourceFacts }: ReadContext,
): void {
  if (read.decompressProgram !== undefined) return;
  const bytesAt = (position: number, byteLength: number) => {
    const bytes = Buffer.alloc(byteLength);
    return bytes.subarray(0, input.readAt(bytes, 0, byteLength, position));
  };
  const head = bytesAt(0, Math.min(version.byteLength, wantedHeadBytes(path, codec, read)));
  const isWhole = head.byteLength === version.byteLength;
  const readAt = (position: number) => bytesAt(position, CODEC_HEAD_BYTES);
  const finding = requireAsNamed(path, { head, isWhole, readAt }, codec, read);
  if (finding instanceof InputError) throw finding;
  if (finding !== undefined) sourceFacts.doubt = finding;
}

function plainReads(
  { start, end, version }: FilePart,
  input: RegularInput,
  { firstByte }: ReadBegin,
  control: JobControl,
) {
  let position = firstByte;
  return {
    read: ({ bytes }: { readonly bytes: Uint8Array }, at: number, most: number) => {
      const wanted = Math.min(most, position < end ? end - position : BEHIND_PART_BYTES);
      const count = input.readAt(bytes, at, wanted, position);
      const counted = Math.min(position + count, end) - Math.max(position, start);
      if (counted > 0) {
        control.count('scatteredBytes', counted);
        control.count('decodedBytes', counted);
      }
      position += count;
      if (count === 0 && position < version.byteLength) throw endsEarlyError(input, position, version.byteLength);
      return count;
    },
    finish: () => input.requireUnchanged(),
  };
}

function endsEarlyError(input: RegularInput, position: number, end: number): InputError {
  input.requireUnchanged();
  return new InputError(
    'ERR_INPUT_UNREADABLE',
    `${input.path} ends at byte ${position}, expected ${end} by its size; if it is not an ordinary file, pass it through a pipe`,
  );
}

interface DecodedReads {
  readonly end: number;
  read: PieceReader['read'];
  finish(): Promise<void>;
}

function withDecoded<T>(
  { path, codec: codecName = '', end, members, version }: FilePart,
  input: RegularInput,
  { firstByte }: ReadBegin,
  context: ReadContext,
  use: (decoded: DecodedReads) => Promise<T>,
): Promise<T> {
  const { control, decoderMemory, read } = context;
  const codec = codecNamed(codecName, read.decompressProgram);
  const decode = (source: CompressedSource) => piecesInPhase('decompress', codec.decode(source, decoderMemory));
  const { storedStart, storedEnd, decodedStart, decodedEnd } = members ?? {
    storedStart: 0,
    storedEnd: version.byteLength,
    decodedStart: 0,
    decodedEnd: undefined,
  };
  const isLast = storedEnd === version.byteLength;
  let isDecoded = false;
  async function* decodedBytes(): AsyncGenerator<Uint8Array, void> {
    let position = decodedStart;
    const wanted = (piece: Uint8Array) => {
      const start = position;
      position += piece.byteLength;
      return piece.subarray(Math.max(0, firstByte - start));
    };
    for await (const piece of decodePart(input, storedStart, storedEnd, decode, context)) {
      const bytes = wanted(piece);
      if (decodedEnd !== undefined && position > decodedEnd) throw lengthError(path, members, 'more');
      control.count('decodedBytes', bytes.byteLength);
      yield bytes;
    }
    if (decodedEnd !== undefined && position < decodedEnd) throw lengthError(path, members, position - decodedStart);
    isDecoded = true;
    if (isLast) return;
    for await (const piece of decode(storedBytes(input, storedEnd, version.byteLength, control))) yield wanted(piece);
  }

  const pieces = decodedBytes();
  const reader = new PieceReader(pieces);
  const decoded: DecodedReads = {
    // The records of the last part end with the file.
    end: isLast ? Number.POSITIVE_INFINITY : end,
    read: (memory, at, most) => reader.read(memory, at, most),
    finish: async () => {
      // All members of the part must have the length that they declared.
      while (!isDecoded) await pieces.next();
      input.requireUnchanged();
    },
  };
  return thenAlwaysAsync(
    () => use(decoded),
    async () => {
      await pieces.return();
    },
  );
}

/** Decodes the stored bytes [start, end) of an input, and looks at the first records of the input. */
function decodePart(
  input: RegularInput,
  start: number,
  end: number,
  decode: (source: CompressedSource) => AsyncGenerator<Uint8Array, void>,
  { control, read, sourceFacts }: ReadContext,
): AsyncGenerator<Uint8Array, void> {
  const onDecoder = (name: string) => {
    sourceFacts.decoder = name;
  };
  const open = (onRead?: (count: number) => void) => ({
    ...storedBytes(input, start, end, control, onRead),
    onDecoder,
  });
  const source = open((count) => control.count('scatteredBytes', count));
  const pieces = decode(read.igzip ? { ...source, again: { byteLength: end - start, open } } : source);
  if (start > 0 || !requiresText(read)) return pieces;
  return examinedPieces(pieces, input.path, read, (doubt) => {
    sourceFacts.doubt = doubt;
  });
}

function lengthError(path: string, members: MemberRange | undefined, decodedBytes: number | 'more'): InputError {
  const { storedStart = 0, storedEnd = 0, decodedStart = 0, decodedEnd = 0 } = members ?? {};
  return new InputError(
    'ERR_INPUT_CORRUPT',
    `${path}: its bytes ${storedStart} to ${storedEnd} (compressed) decode to ${decodedBytes} bytes, expected the ${decodedEnd - decodedStart} that they say they hold; make the file again`,
  );
}

/** Stored bytes [start, end), fewer if the input ends earlier. */
function storedBytes(
  input: RegularInput,
  start: number,
  end: number,
  control: JobControl,
  onRead?: (byteLength: number) => void,
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
      onRead?.(count);
      return bytes.subarray(0, count);
    },
  };
}
