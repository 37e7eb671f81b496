/**
 * Decoders of zstd, one frame at a time: the addon `zstd-napi`, `node:zlib` of newer Nodes, or WebAssembly. The first
 * two may be missing. Our own walk (`zstd-frames.ts`) decides where a frame begins and ends, never the decoder.
 */
import { createRequire } from 'node:module';
import type { Transform } from 'node:stream';
import * as zlib from 'node:zlib';
import { SystemError } from '../../errors.js';
import { freeLastPiece } from '../../machine/free-bytes.js';

/** `zstd-napi/binding`, a thin layer over libzstd. This project must compile without the types of both libraries. */
export interface ZstdAddon {
  readonly CCtx: new () => AddonCompressor;
  readonly DCtx: new () => AddonDecompressor;
  readonly DParameter: { readonly windowLogMax: number };
  readonly ResetDirective: { readonly sessionOnly: number; readonly sessionAndParameters: number };
  compressBound(byteLength: number): number;
}

export interface AddonCompressor {
  reset(directive: number): void;
  setParameter(parameter: number, value: number): void;
  compress2(room: Uint8Array, bytes: Uint8Array): number;
}

export interface AddonDecompressor {
  setParameter(parameter: number, value: number): void;
  decompress(room: Uint8Array, frame: Uint8Array): number;
  reset(directive: number): void;
  /** Returns 0 at the end of a frame, else a guess of the missing bytes; bytes produced; bytes consumed. */
  decompressStream(room: Uint8Array, bytes: Uint8Array): [missing: number, produced: number, consumed: number];
}

export interface ZstdInNode {
  createZstdDecompress(options: ZstdOptions): Transform;
  zstdCompressSync(bytes: Uint8Array, options: ZstdOptions): Uint8Array;
  zstdDecompressSync(frame: Uint8Array, options: ZstdOptions & { readonly maxOutputLength: number }): Uint8Array;
}

interface ZstdOptions {
  readonly chunkSize?: number;
  readonly params: Readonly<Record<number, number>>;
}

/** Numbers of the parameters of libzstd, which its version 1 keeps. */
export const ZSTD_C_COMPRESSION_LEVEL = 100;
export const ZSTD_C_WINDOW_LOG = 101;
export const ZSTD_C_HASH_LOG = 102;
export const ZSTD_C_CHAIN_LOG = 103;
export const ZSTD_C_CHECKSUM_FLAG = 201;
const ZSTD_D_WINDOW_LOG_MAX = 100;

/** The largest window that libzstd accepts if the limit is raised: 2 GiB, as `zstd --long=31`. */
export const MOST_WINDOW_LOG = 31;

export function loadZstdAddon(): ZstdAddon | undefined {
  try {
    return createRequire(import.meta.url)('zstd-napi/binding');
  } catch {
    return undefined;
  }
}

/** Undefined before Node 22.15. */
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
  /** Whether all of the frame is decoded and handed over. */
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

interface AddonContext {
  readonly decompressor: AddonDecompressor;
  readonly room: Uint8Array;
}

export function addonDecoder(addon: ZstdAddon): SynchronousZstdDecoder {
  // Only the garbage collector frees a context, with its window, so contexts are used again.
  const idle: AddonContext[] = [];
  const open = (): AddonContext => {
    const decompressor = new addon.DCtx();
    decompressor.setParameter(addon.DParameter.windowLogMax, MOST_WINDOW_LOG);
    return { decompressor, room: new Uint8Array(DECODED_PIECE_BYTES) };
  };
  return {
    name: 'zstd-napi',
    mostWindowBytes: 2 ** MOST_WINDOW_LOG,
    open: () => {
      const context = idle.pop() ?? open();
      const { decompressor, room } = context;
      return {
        decode: (bytes, endsFrame) =>
          decodeInSteps(
            bytes.byteLength,
            endsFrame,
            (consumed, filled) => {
              const [missing, producedBytes, consumedBytes] = decompressor.decompressStream(
                room.subarray(filled),
                bytes.subarray(consumed),
              );
              return { consumedBytes, producedBytes, isFrameOver: missing === 0 };
            },
            (byteLength) => room.subarray(0, byteLength),
          ),
        close: () => {
          decompressor.reset(addon.ResetDirective.sessionOnly);
          idle.push(context);
        },
      };
    },
  };
}

const STREAM_OPTIONS = { chunkSize: DECODED_PIECE_BYTES, params: { [ZSTD_D_WINDOW_LOG_MAX]: MOST_WINDOW_LOG } };

/** A stream of `node:zlib` stops at the end of the first frame and drops what follows, so each frame gets its own. */
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

/** ZSTD_WINDOWLOG_LIMIT_DEFAULT of libzstd: this build lacks the parameter that raises it. */
const MOST_WASM_WINDOW_BYTES = 128 * 1024 * 1024;
const INPUT_BYTES = 128 * 1024;
/** Layout of `ZSTD_inBuffer` and `ZSTD_outBuffer`: address, size, position, 32 bits each. */
const BUFFER_STRUCT_BYTES = 12;

interface Libzstd {
  readonly memory: { readonly buffer: ArrayBuffer };
  malloc(byteLength: number): number;
  free(address: number): void;
  ZSTD_createDCtx(): number;
  ZSTD_freeDCtx(context: number): number;
  ZSTD_decompressStream(context: number, output: number, input: number): number;
}

const ERROR_NAMES = new Map([
  [20, 'data corruption detected'],
  [22, 'the content does not match its checksum'],
  [64, 'not enough memory'],
]);

let loadingLibzstd: Promise<Libzstd> | undefined;

/**
 * libzstd as WebAssembly, from `zstddec`, where the machine has nothing faster. The interface of `zstddec` neither
 * waits for input nor reports errors, so this calls the functions of libzstd directly. The memory never shrinks.
 */
export async function wasmDecoder(): Promise<SynchronousZstdDecoder> {
  loadingLibzstd ??= loadLibzstd();
  const libzstd = await loadingLibzstd;
  return {
    name: 'zstddec',
    mostWindowBytes: MOST_WASM_WINDOW_BYTES,
    open: () => {
      const context = libzstd.ZSTD_createDCtx();
      const input = libzstd.malloc(INPUT_BYTES);
      const room = libzstd.malloc(DECODED_PIECE_BYTES);
      const structs = libzstd.malloc(2 * BUFFER_STRUCT_BYTES);
      const addresses = [input, room, structs];
      const outputStruct = structs + BUFFER_STRUCT_BYTES;
      if (context === 0 || addresses.includes(0)) {
        throw new SystemError('ERR_OUT_OF_MEMORY', 'no memory to decode zstd in this thread; use fewer `workers`');
      }

      const step = (bytes: Uint8Array, consumed: number, filled: number) => {
        const given = bytes.subarray(consumed, consumed + INPUT_BYTES);
        new Uint8Array(libzstd.memory.buffer, input).set(given);
        new Int32Array(libzstd.memory.buffer, structs).set([
          input,
          given.byteLength,
          0,
          room,
          DECODED_PIECE_BYTES,
          filled,
        ]);
        const missing = libzstd.ZSTD_decompressStream(context, outputStruct, structs);
        if (missing < 0) throw new Error(ERROR_NAMES.get(-missing) ?? `libzstd gives error ${-missing}`);
        const [, , inputPosition = 0, , , outputPosition = 0] = new Int32Array(libzstd.memory.buffer, structs, 6);
        return { consumedBytes: inputPosition, producedBytes: outputPosition - filled, isFrameOver: missing === 0 };
      };
      return {
        decode: (bytes, endsFrame) =>
          decodeInSteps(
            bytes.byteLength,
            endsFrame,
            (consumed, filled) => step(bytes, consumed, filled),
            (byteLength) => new Uint8Array(libzstd.memory.buffer, room, byteLength),
          ),
        close: () => {
          for (const address of addresses) libzstd.free(address);
          libzstd.ZSTD_freeDCtx(context);
        },
      };
    },
  };
}

/** `zstddec` passes its functions only to this method of its decoder, once a thread. */
async function loadLibzstd(): Promise<Libzstd> {
  const { ZSTDDecoder } = await import('zstddec/stream');
  let exports: object | undefined;
  class Decoder extends ZSTDDecoder {
    override _init(result: { readonly instance: { readonly exports: object } }): void {
      super._init(result);
      exports = result.instance.exports;
    }
  }
  await new Decoder().init();
  if (exports === undefined) {
    throw new SystemError(
      'ERR_WORKER',
      'another part of this program uses zstddec in the same thread, so that pileshuf cannot decode zstd with it; install the package zstd-napi beside pileshuf, or use Node 22.15 or later',
    );
  }
  return exports as Libzstd;
}
