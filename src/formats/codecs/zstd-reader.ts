/**
 * Decodes zstd inputs frame by frame: reserves the memory for windows, and compares the length that a frame declares
 * with what it decodes to.
 */
import { types } from 'node:util';
import {
  corruptInput,
  counted,
  InputError,
  PileshufError,
  SystemError,
  UsageError,
  WindowOverMemoryError,
} from '../../errors.js';
import { freeBytes } from '../../machine/free-bytes.js';
import type { CompressedSource, DecodedHead, DecoderMemory } from '../codec.js';
import type { SynchronousZstdDecoder, ZstdDecoder } from './zstd-decoders.js';
import { requireEnd, walkZstd, type ZstdField, type ZstdFrameHeader } from './zstd-frames.js';

/**
 * The window that every decoder has to take (RFC 8878, 3.1.1.1.2); most frames stay below it. It is not counted in the
 * budget, like the state of gzip.
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
      `${path}: the zstd frame at byte ${storedOffset} (compressed) has a window of ${counted(windowBytes, 'byte')}, more than the ${mostWindowBytes} that the decoder on this machine takes; install the package zstd-napi beside pileshuf, or use Node 22.15 or later`,
    );
  }
  const neededBytes = Math.min(windowBytes, frame.contentBytes ?? windowBytes);
  if (neededBytes <= FREE_WINDOW_BYTES || memory.reserve(neededBytes)) return;
  const message = `${path}: the zstd frame at byte ${storedOffset} (compressed) has a window of ${counted(windowBytes, 'byte')}, which does not fit the memory budget; expected \`memoryBytes\` of at least ${memory.budgetFor(neededBytes)}`;
  throw memory.mayFitAlone?.(neededBytes)
    ? new WindowOverMemoryError(message)
    : new UsageError(message, 'ERR_MEMORY_BUDGET');
}

/** Decodes the first bytes of an input, up to about `mostBytes`; empty when they are corrupt. */
export function decodeZstdHead(
  decoder: SynchronousZstdDecoder,
  compressed: Uint8Array,
  { mostBytes, mostKeptBytes }: { readonly mostBytes: number; readonly mostKeptBytes: number },
): DecodedHead {
  const frameDecoder = decoder.open();
  const kept: Uint8Array[] = [];
  let byteLength = 0;
  const head = () => ({ kept: Buffer.concat(kept), byteLength });
  try {
    for (const { bytes, endsFrame } of new ZstdFrameCutter('', 0).cut(compressed)) {
      for (const piece of frameDecoder.decode(bytes, endsFrame)) {
        if (byteLength < mostKeptBytes) kept.push(piece.slice(0, mostKeptBytes - byteLength));
        byteLength += piece.byteLength;
        if (byteLength >= mostBytes) return head();
      }
    }
    return head();
  } catch {
    return { kept: new Uint8Array(), byteLength: 0 };
  } finally {
    frameDecoder.close();
  }
}

function requireLength({ frame, storedOffset, bytes }: FramePiece, decodedBytes: number, path: string): void {
  const { contentBytes } = frame;
  if (contentBytes === undefined || contentBytes === decodedBytes) return;
  throw corruptInput(
    path,
    `the zstd frame at byte ${frame.storedOffset} (compressed) says that it holds ${counted(contentBytes, 'byte')} and ends at byte ${storedOffset + bytes.byteLength} after ${decodedBytes}; check it with \`zstd -t\``,
  );
}

function asInputError(error: unknown, path: string, { storedOffset, bytes }: FramePiece): unknown {
  if (!types.isNativeError(error) || error instanceof PileshufError) return error;
  if (/memory/i.test(error.message)) {
    return new SystemError(
      'ERR_OUT_OF_MEMORY',
      `${path}: no memory to decode the zstd data at byte ${storedOffset} (compressed): ${error.message}; lower \`memoryBytes\``,
      { cause: error },
    );
  }
  const end = storedOffset + bytes.byteLength;
  return corruptInput(
    path,
    `the zstd data is corrupt between byte ${storedOffset} and byte ${end} (compressed): ${error.message}; check it with \`zstd -t\``,
    { cause: error },
  );
}

/** Window, dictionary and content size. Magic bytes and descriptor precede them. */
const MOST_FIELD_BYTES = 1 + 4 + 8;
const MOST_FRAME_HEADER_BYTES = 4 + 1 + MOST_FIELD_BYTES;

interface FramePiece {
  readonly frame: ZstdFrameHeader;
  readonly storedOffset: number;
  readonly bytes: Uint8Array;
  readonly beginsFrame: boolean;
  readonly endsFrame: boolean;
}

/** Cuts a stream of compressed bytes into its frames, without the skippable ones. */
class ZstdFrameCutter {
  readonly #path: string;
  readonly #walk: ReturnType<typeof walkZstd>;
  /** The field that the walk must see next; `#fieldBytes` holds its bytes so far. */
  #field: ZstdField;
  readonly #fieldBytes = new Uint8Array(MOST_FIELD_BYTES);
  #fieldFilled = 0;
  /** The header of the frame. A decoder gets it once it is known to be one. */
  readonly #header = new Uint8Array(MOST_FRAME_HEADER_BYTES);
  #headerFilled = 0;
  #frame: ZstdFrameHeader | undefined;
  #position: number;

  constructor(path: string, start: number) {
    this.#path = path;
    this.#walk = walkZstd(path, start);
    this.#field = this.#walk.next(this.#fieldBytes).value;
    this.#position = start;
  }

  /** A yielded piece lies in `bytes`, or is good until the next piece. */
  *cut(bytes: Uint8Array): Generator<FramePiece, void> {
    const start = this.#position;
    this.#position += bytes.byteLength;
    /** Bytes before this one were yielded, or are not for a decoder. */
    let yielded = 0;
    for (;;) {
      const wantedAt = this.#field.offset + this.#fieldFilled - start;
      let at = Math.min(wantedAt, bytes.byteLength);
      if (this.#frame !== undefined && this.#field.isBetweenFrames && at === wantedAt) {
        yield this.#piece(this.#frame, start + yielded, bytes.subarray(yielded, at), true);
        this.#frame = undefined;
      }
      if (this.#frame === undefined) yielded = at;
      if (at === bytes.byteLength) break;

      const count = Math.min(this.#field.byteLength - this.#fieldFilled, bytes.byteLength - at);
      this.#fieldBytes.set(bytes.subarray(at, at + count), this.#fieldFilled);
      this.#fieldFilled += count;
      at += count;
      if (this.#fieldFilled < this.#field.byteLength) break;
      this.#showField();
      if (this.#frame === undefined && this.#field.frame !== undefined) {
        this.#frame = this.#field.frame;
        const header = this.#header.subarray(0, this.#headerFilled);
        yield { ...this.#piece(this.#frame, this.#frame.storedOffset, header, false), beginsFrame: true };
        yielded = at;
      }
    }
    if (this.#frame !== undefined && yielded < bytes.byteLength) {
      yield this.#piece(this.#frame, start + yielded, bytes.subarray(yielded), false);
    }
  }

  end(): void {
    requireEnd(this.#path, this.#field, this.#position, this.#fieldBytes.subarray(0, this.#fieldFilled));
  }

  #showField(): void {
    const bytes = this.#fieldBytes.subarray(0, this.#fieldFilled);
    this.#fieldFilled = 0;
    if (this.#field.isBetweenFrames) this.#headerFilled = 0;
    if (this.#frame === undefined) {
      this.#header.set(bytes, this.#headerFilled);
      this.#headerFilled += bytes.byteLength;
    }
    this.#field = this.#walk.next(bytes).value;
  }

  #piece(frame: ZstdFrameHeader, storedOffset: number, bytes: Uint8Array, endsFrame: boolean): FramePiece {
    return { frame, storedOffset, bytes, beginsFrame: false, endsFrame };
  }
}
