/**
 * Cuts a stream of compressed bytes into its zstd frames: skippable ones are left out, and each decoder
 * gets the bytes of one frame, from the first to the last.
 */
import { type ZstdFrameHeader, ZstdWalker } from './zstd-frames.js';

/** Window, dictionary and content size; before them magic bytes and descriptor. */
const MOST_FIELD_BYTES = 1 + 4 + 8;
const MOST_HEADER_BYTES = 4 + 1 + MOST_FIELD_BYTES;

/** The next bytes of a frame. */
export interface FramePiece {
  readonly frame: ZstdFrameHeader;
  /** Position of the bytes in the compressed input. */
  readonly storedOffset: number;
  readonly bytes: Uint8Array;
  readonly beginsFrame: boolean;
  readonly endsFrame: boolean;
}

export class ZstdFrameCutter {
  readonly #walker: ZstdWalker;
  readonly #field = new Uint8Array(MOST_FIELD_BYTES);
  #fieldFilled = 0;
  /** The header of the frame, which is given to a decoder once it is known to be one. */
  readonly #header = new Uint8Array(MOST_HEADER_BYTES);
  #headerFilled = 0;
  #frame: ZstdFrameHeader | undefined;
  #passBytes = 0;
  #passEndsFrame = false;
  #position: number;

  /**
   * @param path for messages.
   * @param start position of the first byte in the compressed input.
   */
  constructor(path: string, start: number) {
    this.#walker = new ZstdWalker(path, start);
    this.#position = start;
  }

  /**
   * @param bytes the next ones of the input; what is yielded lies in them, or is good until the next piece.
   * @throws InputError ERR_INPUT_CORRUPT when they are not as RFC 8878 says.
   */
  *cut(bytes: Uint8Array): Generator<FramePiece, void> {
    const start = this.#position;
    this.#position += bytes.byteLength;
    let at = 0;
    /** Bytes before this one were yielded, or are not for a decoder. */
    let yielded = 0;
    for (;;) {
      const passed = Math.min(this.#passBytes, bytes.byteLength - at);
      at += passed;
      this.#passBytes -= passed;
      if (this.#frame !== undefined && this.#passBytes === 0 && this.#passEndsFrame) {
        yield this.#piece(this.#frame, start + yielded, bytes.subarray(yielded, at), true);
        this.#frame = undefined;
        this.#passEndsFrame = false;
      }
      if (this.#frame === undefined) yielded = at;
      if (at === bytes.byteLength) break;

      const count = Math.min(this.#walker.fieldBytes - this.#fieldFilled, bytes.byteLength - at);
      this.#field.set(bytes.subarray(at, at + count), this.#fieldFilled);
      this.#fieldFilled += count;
      at += count;
      if (this.#fieldFilled < this.#walker.fieldBytes) break;
      this.#seeField();
      if (this.#frame === undefined && this.#walker.frame !== undefined) {
        this.#frame = this.#walker.frame;
        const header = this.#header.subarray(0, this.#headerFilled);
        yield { ...this.#piece(this.#frame, this.#frame.storedOffset, header, false), beginsFrame: true };
        yielded = at;
      }
    }
    if (this.#frame !== undefined && yielded < at) {
      yield this.#piece(this.#frame, start + yielded, bytes.subarray(yielded, at), false);
    }
  }

  /**
   * The input ends here.
   * @throws InputError ERR_INPUT_CORRUPT when a frame does not.
   */
  end(): void {
    this.#walker.end(this.#position, this.#field.subarray(0, this.#fieldFilled));
  }

  #seeField(): void {
    const field = this.#field.subarray(0, this.#fieldFilled);
    this.#fieldFilled = 0;
    if (this.#walker.isBetweenFrames) this.#headerFilled = 0;
    if (this.#frame === undefined) {
      this.#header.set(field, this.#headerFilled);
      this.#headerFilled += field.byteLength;
    }
    const { byteLength, endsFrame } = this.#walker.see(field);
    this.#passBytes = byteLength;
    this.#passEndsFrame = endsFrame;
  }

  #piece(frame: ZstdFrameHeader, storedOffset: number, bytes: Uint8Array, endsFrame: boolean): FramePiece {
    return { frame, storedOffset, bytes, beginsFrame: false, endsFrame };
  }
}
