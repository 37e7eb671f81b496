/** Decompresses pages into a column memory. */
import { types } from 'node:util';
import { brotliDecompressSync, gunzipSync } from 'node:zlib';
import { counted } from '../../../../errors.js';
import { freeBytes } from '../../../../machine/free-bytes.js';
import { expandZstd } from '../../../codecs/zstd-decoders.js';
import type { PageCodec } from '../row-group.js';
import type { ColumnMemory } from './column-memory.js';
import { PageError, PageMemoryError } from './page-error.js';

/**
 * The most bytes of one compressed byte, of codecs that have such a limit: a match of 64 bytes in 3; 255 bytes of a match in
 * one; 258 bytes in two bits. A page that claims more is damaged, and gets no memory.
 */
const MOST_EXPANSION: Readonly<Partial<Record<PageCodec, number>>> = {
  UNCOMPRESSED: 1,
  SNAPPY: 22,
  LZ4: 256,
  LZ4_RAW: 256,
  GZIP: 1032,
};

/** @throws PageError if no compressed bytes of this number can be a page of `byteLength`. */
export function requireExpansion(codec: PageCodec, compressedBytes: number, byteLength: number): void {
  const most = MOST_EXPANSION[codec];
  if (most === undefined || byteLength <= compressedBytes * most) return;
  throw new PageError(
    `${counted(compressedBytes, 'byte')} of ${codec} cannot be the ${counted(byteLength, 'byte')} that its header says`,
  );
}

type Expand = (bytes: Uint8Array, target: Uint8Array) => void;

/**
 * Decompresses a page to `byteLength` bytes at `address`.
 * @throws PageError if it does not decode to exactly as many. PageMemoryError.
 */
export function decompressPage(
  memory: ColumnMemory,
  codec: PageCodec,
  bytes: Uint8Array,
  { address, byteLength }: { readonly address: number; readonly byteLength: number },
): void {
  if (bytes.byteLength === 0 && byteLength === 0) return;
  const { wasm } = memory;
  if (codec === 'SNAPPY') expandInMemory(memory, wasm.decodeSnappy, codec, bytes, { address, byteLength });
  else if (codec === 'LZ4_RAW') expandInMemory(memory, wasm.decodeLz4, codec, bytes, { address, byteLength });
  else if (codec === 'LZ4') expandInMemory(memory, wasm.decodeHadoopLz4, codec, bytes, { address, byteLength });
  else {
    try {
      expanders[codec](bytes, memory.bytes.subarray(address, address + byteLength));
    } catch (error) {
      if (!types.isNativeError(error)) throw error;
      throw new PageError(`its ${codec} data is damaged: ${error.message}`, { cause: error });
    }
  }
}

const expanders: Readonly<Record<Exclude<PageCodec, 'SNAPPY' | 'LZ4' | 'LZ4_RAW'>, Expand>> = {
  UNCOMPRESSED: (bytes, target) => {
    requireLength(bytes.byteLength, target.byteLength);
    target.set(bytes);
  },
  GZIP: (bytes, target) => expandByNode(gunzipSync, bytes, target),
  BROTLI: (bytes, target) => expandByNode(brotliDecompressSync, bytes, target),
  ZSTD: expandZstd,
};

function expandByNode(
  decode: (bytes: Uint8Array, options: { readonly maxOutputLength: number }) => Buffer,
  bytes: Uint8Array,
  target: Uint8Array,
): void {
  const expanded = decode(bytes, { maxOutputLength: Math.max(1, target.byteLength) });
  requireLength(expanded.byteLength, target.byteLength);
  target.set(expanded);
  freeBytes(expanded);
}

function requireLength(byteLength: number, expectedBytes: number): void {
  if (byteLength === expectedBytes) return;
  throw new Error(`it has ${counted(byteLength, 'byte')}, expected ${expectedBytes}`);
}

function expandInMemory(
  memory: ColumnMemory,
  decode: (from: number, to: number, target: number, byteLength: number) => boolean,
  codec: PageCodec,
  bytes: Uint8Array,
  { address, byteLength }: { readonly address: number; readonly byteLength: number },
): void {
  const stored = memory.allocate(bytes.byteLength);
  if (stored === undefined) throw new PageMemoryError(bytes.byteLength, 'a compressed page');
  memory.bytes.set(bytes, stored.address);
  const isWhole = decode(stored.address, stored.address + bytes.byteLength, address, byteLength);
  memory.release(stored);
  if (!isWhole) throw new PageError(`its ${codec} data is damaged, or does not have ${counted(byteLength, 'byte')}`);
}
