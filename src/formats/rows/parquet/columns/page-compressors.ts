/**
 * How each codec compresses a page. All are synchronous: the caller is a worker thread that has nothing else to do. The
 * bytes follow from the page, the level and the version of the library alone.
 */
import { brotliCompressSync, constants, gzipSync } from 'node:zlib';
import { freeBytes } from '../../../../machine/free-bytes.js';
import { openZstdPages } from '../../../codecs/zstd-writer.js';
import type { TableWriteSpec } from '../table-output.js';
import type { ColumnMemory } from './column-memory.js';
import { GrownRegion } from './grown-region.js';

export interface PageCompressor {
  /** The page as it is stored; good until the next call, and as long as the column memory does not grow. */
  compress(address: number, byteLength: number): Uint8Array;
  close(): void;
}

/** Brotli's own default takes 4 MiB for each page. */
const BROTLI_WINDOW_LOG = 20;

export function openPageCompressor(memory: ColumnMemory, { codec, level }: TableWriteSpec): PageCompressor {
  const at = (address: number, byteLength: number) => memory.bytes.subarray(address, address + byteLength);
  switch (codec) {
    case 'UNCOMPRESSED':
      return { compress: at, close: () => {} };
    case 'SNAPPY':
    case 'LZ4_RAW':
      return new BlockCompressor(memory, codec === 'SNAPPY');
    case 'GZIP':
      return freeing((page) => gzipSync(page, { level }), at);
    case 'BROTLI':
      return freeing((page) => {
        const params = {
          [constants.BROTLI_PARAM_QUALITY]: level,
          [constants.BROTLI_PARAM_LGWIN]: BROTLI_WINDOW_LOG,
          [constants.BROTLI_PARAM_SIZE_HINT]: page.byteLength,
        };
        return brotliCompressSync(page, { params });
      }, at);
    case 'ZSTD':
      return freeing(openZstdPages(level), at);
  }
}

/** The garbage collector is slow with large buffers. */
function freeing(
  encode: (page: Uint8Array) => Uint8Array,
  at: (address: number, byteLength: number) => Uint8Array,
): PageCompressor {
  let last: Uint8Array = new Uint8Array();
  return {
    compress: (address, byteLength) => {
      const bytes = encode(at(address, byteLength));
      if (bytes.buffer !== last.buffer) freeBytes(last);
      last = bytes;
      return bytes;
    },
    close: () => freeBytes(last),
  };
}

class BlockCompressor implements PageCompressor {
  readonly #memory: ColumnMemory;
  readonly #isSnappy: boolean;
  readonly #table: GrownRegion;
  readonly #room: GrownRegion;

  constructor(memory: ColumnMemory, isSnappy: boolean) {
    this.#memory = memory;
    this.#isSnappy = isSnappy;
    this.#table = new GrownRegion(memory);
    this.#room = new GrownRegion(memory);
  }

  compress(address: number, byteLength: number): Uint8Array {
    const { wasm } = this.#memory;
    const table = this.#table.ensure(wasm.blockTableBytes());
    const room = this.#room.ensure(wasm.blockBound(byteLength));
    const compressedBytes = wasm.encodeBlock(this.#isSnappy, address, byteLength, table, room);
    return this.#memory.bytes.subarray(room, room + compressedBytes);
  }

  close(): void {
    this.#table.release();
    this.#room.release();
  }
}
