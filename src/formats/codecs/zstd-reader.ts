/**
 * Reads compressed inputs with a decoder: cuts them into frames, has each decoded, and reserves the
 * memory for windows. What a frame says of its length is compared with what it decodes to.
 */
import { InputError, PileshufError, SystemError, UsageError } from '../../errors.js';
import type { CompressedSource, DecoderMemory } from '../codec.js';
import { freeBytes } from '../free-bytes.js';
import type { SynchronousZstdDecoder, ZstdDecoder } from './zstd-decoder.js';
import { type FramePiece, ZstdFrameCutter } from './zstd-frame-cutter.js';
import type { ZstdFrameHeader } from './zstd-frames.js';

/**
 * What every decoder has to take (RFC 8878, 3.1.1.1.2), and most frames stay below. Beside the budget, as
 * the state of gzip is.
 */
const FREE_WINDOW_BYTES = 8 * 1024 * 1024;

export async function* decodeZstd(
  decoder: ZstdDecoder,
  source: CompressedSource,
  memory: DecoderMemory,
): AsyncGenerator<Uint8Array> {
  const { path } = source;
  const cutter = new ZstdFrameCutter(path, source.start);
  const frameDecoder = decoder.open();
  let decodedBytes = 0;
  try {
    for (let bytes = await source.next(); bytes.byteLength > 0; bytes = await source.next()) {
      for (const piece of cutter.cut(bytes)) {
        if (piece.beginsFrame) {
          reserveWindow(decoder, piece.frame, path, memory);
          decodedBytes = 0;
        }
        try {
          for await (const decoded of frameDecoder.decode(piece.bytes, piece.endsFrame)) {
            decodedBytes += decoded.byteLength;
            yield decoded;
          }
        } catch (error) {
          throw asInputError(error, path, piece);
        }
        if (piece.endsFrame) requireLength(piece, decodedBytes, path);
      }
      freeBytes(bytes);
    }
    cutter.end();
  } finally {
    frameDecoder.close();
  }
}

function reserveWindow(decoder: ZstdDecoder, frame: ZstdFrameHeader, path: string, memory: DecoderMemory): void {
  const { storedOffset, windowBytes } = frame;
  const { mostWindowBytes } = decoder;
  if (windowBytes > mostWindowBytes) {
    throw new InputError(
      'ERR_INPUT_UNREADABLE',
      `${path}: the zstd frame at byte ${storedOffset} (compressed) has a window of ${windowBytes} bytes, more than the ${mostWindowBytes} that the decoder on this machine takes; install the package zstd-napi beside pileshuf, or use Node 22.15 or later`,
    );
  }
  const neededBytes = Math.min(windowBytes, frame.contentBytes ?? windowBytes);
  if (neededBytes <= FREE_WINDOW_BYTES || memory.reserve(neededBytes)) return;
  throw new UsageError(
    `${path}: the zstd frame at byte ${storedOffset} (compressed) has a window of ${windowBytes} bytes, which does not fit the memory budget; expected \`memoryBytes\` of at least ${memory.budgetFor(neededBytes)}`,
    'ERR_MEMORY_BUDGET',
  );
}

/** What the first bytes of an input decode to, as far as they go and up to about `mostBytes`; empty when they are corrupt. */
export function decodeZstdHead(decoder: SynchronousZstdDecoder, compressed: Uint8Array, mostBytes: number): Uint8Array {
  const frameDecoder = decoder.open();
  const decoded: Uint8Array[] = [];
  let decodedBytes = 0;
  try {
    for (const { bytes, endsFrame } of new ZstdFrameCutter('', 0).cut(compressed)) {
      for (const piece of frameDecoder.decode(bytes, endsFrame)) {
        decoded.push(piece.slice());
        decodedBytes += piece.byteLength;
        if (decodedBytes >= mostBytes) return Buffer.concat(decoded);
      }
    }
    return Buffer.concat(decoded);
  } catch {
    return new Uint8Array();
  } finally {
    frameDecoder.close();
  }
}

function requireLength({ frame, storedOffset, bytes }: FramePiece, decodedBytes: number, path: string): void {
  const { contentBytes } = frame;
  if (contentBytes === undefined || contentBytes === decodedBytes) return;
  throw new InputError(
    'ERR_INPUT_CORRUPT',
    `${path}: the zstd frame at byte ${frame.storedOffset} (compressed) says that it holds ${contentBytes} bytes and ends at byte ${storedOffset + bytes.byteLength} after ${decodedBytes}; check it with \`zstd -t\``,
  );
}

function asInputError(error: unknown, path: string, { storedOffset, bytes }: FramePiece): unknown {
  if (!(error instanceof Error) || error instanceof PileshufError) return error;
  if (/memory/i.test(error.message)) {
    return new SystemError(
      'ERR_OUT_OF_MEMORY',
      `${path}: no memory to decode the zstd data at byte ${storedOffset} (compressed): ${error.message}; give less to the job with \`memoryBytes\``,
      { cause: error },
    );
  }
  const end = storedOffset + bytes.byteLength;
  return new InputError(
    'ERR_INPUT_CORRUPT',
    `${path}: the zstd data is corrupt between byte ${storedOffset} and byte ${end} (compressed): ${error.message}; check it with \`zstd -t\``,
    { cause: error },
  );
}
