/**
 * libzstd 1.5.7 as WebAssembly: it decodes on every machine, and encodes where Node cannot. Given a buffer of the largest
 * size that a frame can have, each build of this version makes the same bytes. `libzstd.sh` builds it, with the functions
 * that are declared here.
 */
import { SystemError } from '../../errors.js';
import { compiledProgram } from '../../io/shipped-files.js';

export interface Libzstd {
  readonly memory: { readonly buffer: ArrayBuffer };
  malloc(byteLength: number): number;
  free(address: number): void;
  ZSTD_isError(result: number): number;
  ZSTD_getErrorName(result: number): number;
  ZSTD_createCCtx(): number;
  ZSTD_CCtx_reset(context: number, directive: number): number;
  ZSTD_CCtx_setParameter(context: number, parameter: number, value: number): number;
  ZSTD_compressBound(byteLength: number): number;
  ZSTD_compress2(context: number, room: number, roomBytes: number, bytes: number, byteLength: number): number;
  ZSTD_createDCtx(): number;
  ZSTD_freeDCtx(context: number): number;
  ZSTD_DCtx_setParameter(context: number, parameter: number, value: number): number;
  ZSTD_decompressDCtx(context: number, room: number, roomBytes: number, bytes: number, byteLength: number): number;
  ZSTD_decompressStream(context: number, output: number, input: number): number;
}

/** An instance with a memory of its own, which never shrinks. */
export function openLibzstd(): Libzstd {
  return new WebAssembly.Instance(compiledProgram('libzstd.wasm.br', import.meta.url)).exports as unknown as Libzstd;
}

/** Returns the result of a call. @throws Error with the reason of libzstd. */
export function requireSuccess(libzstd: Libzstd, result: number): number {
  if (libzstd.ZSTD_isError(result) === 0) return result >>> 0;
  const name = Buffer.from(libzstd.memory.buffer, libzstd.ZSTD_getErrorName(result));
  throw new Error(name.toString('latin1', 0, name.indexOf(0)).toLowerCase());
}

/** Returns the address of what libzstd has allocated. @throws SystemError if there is no memory for it. */
export function requireAllocated(address: number): number {
  if (address !== 0) return address >>> 0;
  throw new SystemError('ERR_OUT_OF_MEMORY', 'no memory for zstd in this thread; use fewer `workers`');
}
