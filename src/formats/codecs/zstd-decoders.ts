/**
 * Decoders of zstd, one frame at a time: `node:zlib` of newer Nodes, or libzstd as WebAssembly. Our own walk
 * (`zstd-frames.ts`) decides where a frame begins and ends, never the decoder.
 */
import type { Transform } from 'node:stream';
import * as zlib from 'node:zlib';
import { counted } from '../../errors.js';
import { freeBytes, freeLastPiece } from '../../machine/free-bytes.js';
import { type Libzstd, openLibzstd, requireAllocated, requireSuccess } from './libzstd.js';
import { zstdContentBytes } from './zstd-frames.js';

export interface ZstdInNode {
  createZstdDecompress(options: ZstdOptions): Transform;
  zstdCompressSync(bytes: Uint8Array, options: ZstdOptions): Uint8Array;
  zstdDecompressSync(bytes: Uint8Array, options: ZstdOptions): Uint8Array;
}

interface ZstdOptions {
  readonly chunkSize?: number;
  readonly params: Readonly<Record<number, number>>;
}

/** Numbers of the parameters of libzstd, which stay the same in its version 1. */
export const ZSTD_C_COMPRESSION_LEVEL = 100;
export const ZSTD_C_WINDOW_LOG = 101;
export const ZSTD_C_HASH_LOG = 102;
export const ZSTD_C_CHAIN_LOG = 103;
export const ZSTD_C_CHECKSUM_FLAG = 201;
const ZSTD_D_WINDOW_LOG_MAX = 100;

/** The largest window that libzstd accepts if the limit is raised: 2 GiB, as `zstd --long=31`. */
export const MOST_WINDOW_LOG = 31;

/** Returns the zstd of `node:zlib`. Undefined before Node 22.15. */
export function findZstdInNode(): ZstdInNode | undefined {
  return hasZstd(zlib) ? zlib : undefined;
}

function hasZstd(module: object): module is ZstdInNode {
  return ['createZstdDecompress', 'zstdCompressSync', 'zstdDecompressSync'].every((name) => name in module);
}

const DECODED_PIECE_BYTES = 1024 * 1024;

type Pieces = Iterable<Uint8Array> | AsyncIterable<Uint8Array>;

export interface ZstdDecoder<Decoded extends Pieces = Pieces> {
  readonly name: string;
  readonly mostWindowBytes: number;
  open(): ZstdFrameDecoder<Decoded>;
}

export type SynchronousZstdDecoder = ZstdDecoder<Iterable<Uint8Array>>;

interface ZstdFrameDecoder<Decoded extends Pieces> {
  /**
   * Decodes the next bytes of a frame; a piece is good until the next one is asked for.
   * @param endsFrame whether the frame ends with `bytes`; the next ones begin another.
   * @throws Error, of any kind, when the frame is corrupt or does not end where `endsFrame` says.
   */
  decode(bytes: Uint8Array, endsFrame: boolean): Decoded;
  close(): void;
}

interface ZstdStep {
  readonly consumedBytes: number;
  readonly producedBytes: number;
  /** True if all of the frame is decoded and handed over. */
  readonly isFrameOver: boolean;
}

/**
 * Calls libzstd until it has consumed `byteLength` bytes and handed over what they decode to.
 * @param step decodes the bytes from `consumed` on, into a room of `DECODED_PIECE_BYTES` from `filled` on.
 * @param piece gives the first bytes of that room.
 */
function* decodeInSteps(
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
  if (consumed < byteLength || isOver !== endsFrame) throw new Error('its blocks do not end where its data ends');
}

const STREAM_OPTIONS = { chunkSize: DECODED_PIECE_BYTES, params: { [ZSTD_D_WINDOW_LOG_MAX]: MOST_WINDOW_LOG } };

/** Returns the decoder of `node:zlib`. A stream of it ends after the first frame, so each frame gets a stream of its own. */
export function nodeDecoder(inNode: ZstdInNode): ZstdDecoder {
  return {
    name: 'node:zlib',
    mostWindowBytes: 2 ** MOST_WINDOW_LOG,
    open: () => {
      let frame: FrameStream | undefined;
      return {
        decode: async function* (bytes, endsFrame) {
          frame ??= new FrameStream(inNode.createZstdDecompress(STREAM_OPTIONS));
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

/** A stream from which the output of each input piece can be told apart. */
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
      if (piece !== null) {
        yield piece;
        freeLastPiece(piece);
      } else if (this.#isOver) return;
      else await woken;
    }
  }

  destroy(): void {
    this.#stream.destroy();
  }

  #over(error?: Error | null): void {
    this.#isOver = true;
    this.#failure ??= error ?? undefined;
    this.#wake();
  }
}

/** The most that libzstd takes where addresses have 32 bits. */
const MOST_WASM_WINDOW_LOG = 30;
const INPUT_BYTES = 128 * 1024;
/** Layout of `ZSTD_inBuffer` and `ZSTD_outBuffer`: address, size, position, 32 bits each. */
const BUFFER_STRUCT_BYTES = 12;

let opened: Libzstd | undefined;

/** A context of libzstd, whose steps decode to a room of `DECODED_PIECE_BYTES`. */
class WasmContext {
  readonly #libzstd: Libzstd;
  readonly #context: number;
  readonly #structs: number;
  readonly #input: number;
  readonly #room: number;

  constructor() {
    opened ??= openLibzstd();
    this.#libzstd = opened;
    this.#context = requireAllocated(opened.ZSTD_createDCtx());
    opened.ZSTD_DCtx_setParameter(this.#context, ZSTD_D_WINDOW_LOG_MAX, MOST_WASM_WINDOW_LOG);
    this.#structs = requireAllocated(opened.malloc(2 * BUFFER_STRUCT_BYTES + INPUT_BYTES + DECODED_PIECE_BYTES));
    this.#input = this.#structs + 2 * BUFFER_STRUCT_BYTES;
    this.#room = this.#input + INPUT_BYTES;
  }

  /** Decodes the bytes from `consumed` on, into the room from `filled` on. */
  step(bytes: Uint8Array, consumed: number, filled: number): ZstdStep {
    const { memory } = this.#libzstd;
    const given = bytes.subarray(consumed, consumed + INPUT_BYTES);
    new Uint8Array(memory.buffer, this.#input).set(given);
    const buffers = [this.#input, given.byteLength, 0, this.#room, DECODED_PIECE_BYTES, filled];
    new Uint32Array(memory.buffer, this.#structs).set(buffers);
    const output = this.#structs + BUFFER_STRUCT_BYTES;
    const missing = requireSuccess(
      this.#libzstd,
      this.#libzstd.ZSTD_decompressStream(this.#context, output, this.#structs),
    );
    const [, , inputPosition = 0, , , outputPosition = 0] = new Uint32Array(memory.buffer, this.#structs, 6);
    return { consumedBytes: inputPosition, producedBytes: outputPosition - filled, isFrameOver: missing === 0 };
  }

  /** The first bytes of the room. */
  piece(byteLength: number): Uint8Array {
    return new Uint8Array(this.#libzstd.memory.buffer, this.#room, byteLength);
  }

  close(): void {
    this.#libzstd.free(this.#structs);
    this.#libzstd.ZSTD_freeDCtx(this.#context);
  }
}

export const wasmDecoder: SynchronousZstdDecoder = {
  name: 'WebAssembly',
  mostWindowBytes: 2 ** MOST_WASM_WINDOW_LOG,
  open: () => {
    const context = new WasmContext();
    return {
      decode: (bytes, endsFrame) =>
        decodeInSteps(
          bytes.byteLength,
          endsFrame,
          (consumed, filled) => context.step(bytes, consumed, filled),
          (byteLength) => context.piece(byteLength),
        ),
      close: () => context.close(),
    };
  },
};

/** `node:zlib` needs as much memory again. */
const MOST_EXPANDED_IN_NODE_BYTES = 16 * 1024 * 1024;
/** The least that `node:zlib` takes. */
const LEAST_CHUNK_BYTES = 64;

let expander: WasmContext | undefined;

/** Expands frames that are in memory, with little memory beside. @throws Error, of any kind, when they are damaged. */
export function expandZstd(bytes: Uint8Array, target: Uint8Array): void {
  const inNode = findZstdInNode();
  const { byteLength } = target;
  // Node drops what follows the first frame, so it gets one whole frame. With a spare byte, one call decodes all of it.
  if (inNode !== undefined && byteLength <= MOST_EXPANDED_IN_NODE_BYTES && zstdContentBytes(bytes) === byteLength) {
    const chunkSize = Math.max(LEAST_CHUNK_BYTES, byteLength + 1);
    const expanded = inNode.zstdDecompressSync(bytes, { chunkSize, params: {} });
    target.set(expanded);
    freeBytes(expanded);
  } else expandInWasm(bytes, target);
}

function expandInWasm(bytes: Uint8Array, target: Uint8Array): void {
  const context = expander ?? new WasmContext();
  // After an error there is a new context.
  expander = undefined;
  let consumed = 0;
  let filled = 0;
  for (let isOver = false; !isOver || consumed < bytes.byteLength; ) {
    const { consumedBytes, producedBytes, isFrameOver } = context.step(bytes, consumed, 0);
    if (consumedBytes === 0 && producedBytes === 0) throw new Error('it ends inside a frame');
    if (producedBytes > target.byteLength - filled) throw new Error('it decodes to more bytes');
    target.set(context.piece(producedBytes), filled);
    consumed += consumedBytes;
    filled += producedBytes;
    isOver = isFrameOver;
  }
  if (filled < target.byteLength) throw new Error(`it has ${counted(filled, 'byte')}, expected ${target.byteLength}`);
  expander = context;
}
