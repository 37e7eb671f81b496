/** The decoded bytes of a whole input from its beginning, in pieces that are valid until the next one. */

import { piecesInPhase } from '../floor/phase-clock.js';
import type { Codec, CompressedSource, DecoderMemory } from '../formats/codec.js';
import { type DecompressProgram, detectCodecOfStream } from '../formats/codec-table.js';
import { type Doubt, examinedPieces } from '../formats/first-bytes.js';
import { type RecordFormat, requiresText } from '../formats/record-format.js';
import { type OpenFile, readBytes, withFileAsync } from '../io/files.js';
import { openInput } from '../places/inputs/input-kinds.js';
import type { StreamInput } from '../places/inputs/input-source.js';

/** Most headers end within this many bytes, which are decoded at once. */
export const HEAD_BYTES = 4096;
const PIECE_BYTES = 256 * 1024;

export function storedPieces(file: OpenFile, throwIfAborted = () => {}): CompressedSource {
  let position = 0;
  const next = (): Uint8Array => {
    const bytes = readBytes(file, position, position === 0 ? HEAD_BYTES : PIECE_BYTES);
    position += bytes.byteLength;
    return bytes;
  };
  return { path: file.path, start: 0, next, throwIfAborted };
}

export function decodedPieces(
  source: CompressedSource,
  codec: Codec | undefined,
  memory: DecoderMemory,
): AsyncGenerator<Uint8Array, void> {
  return codec === undefined
    ? piecesInPhase('read', piecesOf(source))
    : piecesInPhase('decompress', codec.decode(source, memory));
}

async function* piecesOf(source: CompressedSource): AsyncGenerator<Uint8Array, void> {
  for (let piece = await source.next(); piece.byteLength > 0; piece = await source.next()) yield piece;
}

/**
 * The memory of a decoder that needs a window to find the first byte; only the part of it that is used becomes
 * resident.
 */
const ANY_MEMORY: DecoderMemory = { reserve: () => true, budgetFor: () => '' };

/** Returns whether a compressed file decodes to nothing. Reads as much of it as its first byte takes. */
export async function decodesToNothing(path: string, codec: Codec): Promise<boolean> {
  await codec.load?.(path);
  return withFileAsync(openInput(path), async (file) => {
    const head = readBytes(file, 0, HEAD_BYTES);
    if (codec.mayHoldNothing?.(head) === false || codec.decodeHead(head, 1).decodedBytes > 0) return false;
    for await (const piece of decodedPieces(storedPieces(file), codec, ANY_MEMORY))
      if (piece.byteLength > 0) return false;
    return true;
  });
}

interface StreamFormat extends RecordFormat {
  readonly decompressProgram?: DecompressProgram;
}

interface StreamReading {
  readonly memory: DecoderMemory;
  /** Throws when the job should stop. Closing the stream wakes a reader that waits for it. */
  throwIfAborted(): void;
  onRead?(byteLength: number): void;
  onDecoder?(name: string): void;
  onDoubt?(doubt: Doubt): void;
}

/** Reads the first bytes of the stream, which tell its codec. @param path of the input, as it is named. */
export async function decodeStream(
  stream: StreamInput,
  path: string,
  format: StreamFormat,
  { memory, throwIfAborted, onRead, onDecoder = () => {}, onDoubt = () => {} }: StreamReading,
): Promise<AsyncGenerator<Uint8Array, void>> {
  const readNext = async () => {
    throwIfAborted();
    try {
      const bytes = await stream.next();
      onRead?.(bytes.byteLength);
      return bytes;
    } finally {
      throwIfAborted();
    }
  };
  const { codec, next } = await detectCodecOfStream(readNext, format.decompressProgram);
  const pieces = decodedPieces({ path: stream.path, start: 0, next, throwIfAborted, onDecoder }, codec, memory);
  return requiresText(format) ? examinedPieces(pieces, path, format, onDoubt) : pieces;
}
