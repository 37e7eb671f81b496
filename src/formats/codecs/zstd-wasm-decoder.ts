/**
 * Decodes zstd where the machine has nothing faster: with libzstd as WebAssembly, from `zstddec`. Its own
 * interface neither waits for input nor tells of errors, so the functions of libzstd in it are called
 * directly. Its memory never shrinks, and a window can have 128 MiB.
 */
import { SystemError } from '../../errors.js';
import { DECODED_PIECE_BYTES, decodeInSteps, type SynchronousZstdDecoder } from './zstd-decoder.js';

/** What libzstd calls ZSTD_WINDOWLOG_LIMIT_DEFAULT: the parameter that raises it is not in this build. */
const MOST_WINDOW_BYTES = 128 * 1024 * 1024;
/** Compressed bytes given to libzstd at a time. */
const INPUT_BYTES = 128 * 1024;
/** `ZSTD_inBuffer` or `ZSTD_outBuffer`: address, size, position, 32 bits each. */
const BUFFER_STRUCT_BYTES = 12;

interface Libzstd {
  readonly memory: { readonly buffer: ArrayBuffer };
  malloc(byteLength: number): number;
  free(address: number): void;
  ZSTD_createDCtx(): number;
  ZSTD_freeDCtx(context: number): number;
  /** Below 0: an error. */
  ZSTD_decompressStream(context: number, output: number, input: number): number;
}

/** The errors that tell the reader of a message something. */
const ERROR_NAMES = new Map([
  [20, 'data corruption detected'],
  [22, 'the content does not match its checksum'],
  [64, 'not enough memory'],
]);

let loading: Promise<Libzstd> | undefined;

export async function wasmDecoder(): Promise<SynchronousZstdDecoder> {
  loading ??= loadLibzstd();
  const libzstd = await loading;
  return {
    name: 'zstddec',
    mostWindowBytes: MOST_WINDOW_BYTES,
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

/** `zstddec` hands the functions to a method of its decoder, once a thread. */
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
