/**
 * Decodes zstd with the streams of `node:zlib`, one for each frame, since a stream stops at the end of the
 * first and drops what follows.
 */
import type { Transform } from 'node:stream';
import { DECODED_PIECE_BYTES, type ZstdDecoder } from './zstd-decoder.js';
import { MOST_WINDOW_LOG, ZSTD_D_WINDOW_LOG_MAX, type ZstdInNode } from './zstd-native.js';

const OPTIONS = { chunkSize: DECODED_PIECE_BYTES, params: { [ZSTD_D_WINDOW_LOG_MAX]: MOST_WINDOW_LOG } };

export function nodeDecoder(inNode: ZstdInNode): ZstdDecoder {
  return {
    name: 'node:zlib',
    mostWindowBytes: 2 ** MOST_WINDOW_LOG,
    open: () => {
      let frame: FrameStream | undefined;
      return {
        decode: async function* (bytes, endsFrame) {
          frame ??= new FrameStream(inNode.createZstdDecompress(OPTIONS));
          yield* frame.decode(bytes, endsFrame);
          if (!endsFrame) return;
          frame.destroy();
          frame = undefined;
        },
        close: () => frame?.destroy(),
      };
    },
  };
}

/** A stream of which it can be said what comes from which bytes. */
class FrameStream {
  readonly #stream: Transform;
  #isOver = false;
  #failure: Error | undefined;
  #wake = () => {};

  constructor(stream: Transform) {
    this.#stream = stream;
    stream.on('readable', () => this.#wake());
    stream.on('end', () => this.#over());
    stream.on('error', (error) => this.#over(error));
  }

  async *decode(bytes: Uint8Array, endsFrame: boolean): AsyncGenerator<Uint8Array> {
    this.#isOver = false;
    if (endsFrame) this.#stream.end(bytes);
    else this.#stream.write(bytes, (error) => this.#over(error));
    for (;;) {
      const woken = new Promise<void>((resolve) => {
        this.#wake = resolve;
      });
      const piece: Uint8Array | null = this.#stream.read();
      if (this.#failure !== undefined) throw this.#failure;
      if (piece !== null) yield piece;
      else if (this.#isOver) return;
      else await woken;
    }
  }

  destroy(): void {
    this.#stream.destroy();
  }

  /** All that was given is decoded, or an error came between. */
  #over(error?: Error | null): void {
    this.#isOver = true;
    this.#failure ??= error ?? undefined;
    this.#wake();
  }
}
