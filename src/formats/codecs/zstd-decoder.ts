/**
 * The contract of what decodes zstd, one frame at a time: a library that may be on this machine or not.
 * Where a frame begins and ends is decided by our own walk (`zstd-frames.ts`), never by the decoder.
 */

/** Decoded bytes handed over at a time. */
export const DECODED_PIECE_BYTES = 1024 * 1024;

export interface ZstdDecoder {
  readonly name: string;
  /** Of the frames that it can decode. */
  readonly mostWindowBytes: number;
  /** A decoder for one input. */
  open(): ZstdFrameDecoder;
}

/** One that needs no other thread. */
export interface SynchronousZstdDecoder extends ZstdDecoder {
  open(): SynchronousZstdFrameDecoder;
}

export interface ZstdFrameDecoder {
  /**
   * What the next bytes of a frame decode to; a piece is good until the next one is asked for.
   * @param endsFrame whether the frame ends with them, so that the next ones begin another.
   * @throws Error, of any kind, when the frame is corrupt or is not over when it ends.
   */
  decode(bytes: Uint8Array, endsFrame: boolean): Iterable<Uint8Array> | AsyncIterable<Uint8Array>;
  /** Gives back what it holds, also inside a frame. */
  close(): void;
}

export interface SynchronousZstdFrameDecoder extends ZstdFrameDecoder {
  decode(bytes: Uint8Array, endsFrame: boolean): Iterable<Uint8Array>;
}

/** What one call of libzstd has done. */
export interface ZstdStep {
  readonly consumedBytes: number;
  readonly producedBytes: number;
  /** Whether the frame is decoded, and all of it was handed over. */
  readonly isFrameOver: boolean;
}

/**
 * Calls libzstd until it has consumed `byteLength` bytes and handed over what they decode to.
 * @param step decodes the bytes from `consumed` on to a room of `DECODED_PIECE_BYTES`, from `filled` on.
 * @param piece the first bytes of that room.
 */
export function* decodeInSteps(
  byteLength: number,
  endsFrame: boolean,
  step: (consumed: number, filled: number) => ZstdStep,
  piece: (byteLength: number) => Uint8Array,
): Generator<Uint8Array, void> {
  let consumed = 0;
  let filled = 0;
  let isOver = false;
  let mayHoldMore = true;
  while (!isOver && (consumed < byteLength || mayHoldMore)) {
    const { consumedBytes, producedBytes, isFrameOver } = step(consumed, filled);
    consumed += consumedBytes;
    filled += producedBytes;
    isOver = isFrameOver;
    mayHoldMore = filled === DECODED_PIECE_BYTES;
    if (filled < DECODED_PIECE_BYTES) continue;
    yield piece(filled);
    filled = 0;
  }
  if (filled > 0) yield piece(filled);
  if (consumed < byteLength || isOver !== endsFrame) throw new Error('its blocks end elsewhere than its data');
}
