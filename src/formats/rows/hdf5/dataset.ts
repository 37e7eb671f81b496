/** A dataset, and its rows: what belongs to one index of its first dimension. Rows are read a block at a time. */
import { copySharedBytes } from '../../../io/shared-bytes.js';
import { freeBytes } from '../../../machine/free-bytes.js';
import { copyBox, copyBytes, gridOf, placesIn, productOf } from './chunk-box.js';
import { chunkFinder, type FindChunk } from './chunk-index.js';
import { type Datatype, readDatatype } from './datatype.js';
import { decodeChunk, requireKnownFilters } from './filters/chunk-filters.js';
import type { FoundObject } from './groups.js';
import { Cursor, type Hdf5Bytes, Hdf5Problem } from './hdf5-bytes.js';
import { MESSAGE, messageIn } from './object-header.js';
import {
  type ChunkLayout,
  type Filter,
  type Layout,
  readFill,
  readFilters,
  readLayout,
  readShape,
  type Shape,
  VIRTUAL,
} from './object-messages.js';
import { joinedRowsOf } from './rows-spec.js';

export interface Dataset {
  readonly path: string;
  readonly address: number;
  readonly shape: Shape;
  readonly type: Datatype;
  readonly layout: Layout;
  readonly filters: readonly Filter[];
  readonly fill: Buffer | undefined;
  /** The elements of one row in each further dimension, if it has rows. */
  readonly rowShape: readonly number[];
  readonly rowBytes: number;
  /** The elements of a chunk in each dimension. Undefined: the data are in no chunks. */
  readonly chunkLengths: readonly number[] | undefined;
  /** The decoded bytes of a chunk; 0 without chunks. */
  readonly chunkBytes: number;
  /** How many rows are decoded together: those of a chunk. */
  readonly blockRows: number;
}

/** Rows that are not in chunks are read so many bytes at a time. */
const USUAL_BLOCK_BYTES = 2 ** 20;

/** Returns undefined if the object is not a dataset. */
export function readDataset(file: Hdf5Bytes, { path, address, header, kind }: FoundObject): Dataset | undefined {
  if (kind !== 'dataset') return undefined;
  const message = (type: number) => messageIn(file, header, type);
  const [ofShape, ofType, ofLayout] = [MESSAGE.DATASPACE, MESSAGE.DATATYPE, MESSAGE.LAYOUT].map(message);
  if (ofShape === undefined || ofType === undefined || ofLayout === undefined)
    throw new Hdf5Problem(`the dataset ${path} lacks its shape, its type or its layout`);
  if (message(MESSAGE.EXTERNAL) !== undefined || ofLayout[1] === VIRTUAL)
    throw new Hdf5Problem(`the dataset ${path} has its data in other files; write them into one`, false);
  const [shape, type, layout] = [readShape(ofShape), readDatatype(new Cursor(ofType)), readLayout(ofLayout)];
  const rowShape = shape.lengths.slice(1);
  const rowBytes = productOf(rowShape, type.byteLength);
  const usual = Math.max(1, Math.floor(USUAL_BLOCK_BYTES / rowBytes));
  const chunkLengths = layout.kind === 'chunks' ? layout.lengths : undefined;
  return {
    ...{ path, address, shape, type, layout, rowShape, rowBytes, chunkLengths },
    chunkBytes: chunkLengths === undefined ? 0 : productOf(chunkLengths, type.byteLength),
    filters: readFilters(message(MESSAGE.FILTERS)),
    fill: readFill(message(MESSAGE.FILL), message(MESSAGE.OLD_FILL)),
    blockRows: (chunkLengths ?? [usual])[0] ?? 1,
  };
}

/** Blocks of rows, chunks as they are stored and as they are decoded, and rows that are put together. */
export function readerBytes(datasets: readonly Dataset[]): number {
  return datasets.reduce((sum, { chunkBytes, rowBytes, blockRows }) => {
    const blockBytes = blockRows * rowBytes;
    return sum + joinedRowsOf(rowBytes) * rowBytes + blockBytes + 2 * (chunkBytes || blockBytes);
  }, 0);
}

/** Reads rows in their order. */
export class RowReader {
  readonly rowBytes: number;
  readonly #file: Hdf5Bytes;
  readonly #dataset: Dataset;
  readonly #find: FindChunk | undefined;
  readonly #blockRows: number;
  readonly #block: Uint8Array;
  /** Block i begins at row `i * blockRows`. */
  #known = -1;

  constructor(file: Hdf5Bytes, dataset: Dataset) {
    const { layout, shape, rowBytes, blockRows } = dataset;
    this.rowBytes = rowBytes;
    this.#file = file;
    this.#dataset = dataset;
    this.#blockRows = blockRows;
    this.#block = Buffer.allocUnsafeSlow(Math.min(blockRows, shape.lengths[0] ?? 0) * rowBytes);
    this.#find = layout.kind === 'chunks' ? findChunksOf(file, dataset, layout) : undefined;
  }

  /** Puts each row to its place. @param strideBytes from one row to the next one. */
  copy(first: number, rows: number, to: Uint8Array, toAt: number, strideBytes: number): void {
    const { rowBytes } = this;
    for (let row = first; row < first + rows; ) {
      const block = Math.floor(row / this.#blockRows);
      if (block !== this.#known) this.#read(block);
      this.#known = block;
      const end = Math.min(first + rows, (block + 1) * this.#blockRows);
      let from = (row - block * this.#blockRows) * rowBytes;
      let place = toAt + (row - first) * strideBytes;
      if (rowBytes === strideBytes)
        copySharedBytes(this.#block.subarray(from, from + (end - row) * rowBytes), to, place);
      else
        for (let i = row; i < end; i++, from += rowBytes, place += strideBytes)
          copyBytes(this.#block, from, to, place, rowBytes);
      row = end;
    }
  }

  #read(block: number): void {
    const { layout, shape } = this.#dataset;
    const first = block * this.#blockRows;
    const rows = Math.min(this.#blockRows, (shape.lengths[0] ?? 0) - first);
    const bytes = this.#block.subarray(0, rows * this.rowBytes);
    const start = first * this.rowBytes;
    if (layout.kind === 'chunks') this.#readChunks(layout, block, rows, bytes);
    else if (layout.kind === 'compact') bytes.set(new Cursor(layout.bytes).skip(start).take(bytes.byteLength));
    else if (layout.address === undefined) this.#fill(bytes);
    else {
      const read = this.#file.bytes(layout.address + start, bytes.byteLength);
      bytes.set(read);
      freeBytes(read);
    }
  }

  #readChunks(layout: ChunkLayout, block: number, rows: number, bytes: Uint8Array): void {
    const { rowShape, type, filters, path, chunkBytes } = this.#dataset;
    const elementBytes = type.byteLength;
    for (const inRow of placesIn(gridOf(rowShape, layout.lengths.slice(1)))) {
      const place = [block, ...inRow];
      const stored = this.#find?.(place);
      let chunk: Uint8Array;
      if (stored === undefined) {
        chunk = Buffer.alloc(chunkBytes);
        this.#fill(chunk);
      } else {
        const read = this.#file.bytes(stored.address, stored.byteLength);
        chunk = inChunk(path, place, stored.address, () => decodeChunk(read, filters, stored.mask, chunkBytes));
        if (chunk.buffer !== read.buffer) freeBytes(read);
      }
      const lengths = [rows, ...rowShape];
      copyBox({ chunkLengths: layout.lengths, lengths, place: [0, ...inRow], elementBytes }, chunk, bytes, false);
      freeBytes(chunk);
    }
  }

  #fill(bytes: Uint8Array): void {
    const { fill, type } = this.#dataset;
    if (fill === undefined || fill.byteLength !== type.byteLength) bytes.fill(0);
    else for (let at = 0; at < bytes.byteLength; at += fill.byteLength) bytes.set(fill, at);
  }
}

export function findChunksOf(file: Hdf5Bytes, { shape, filters, chunkBytes }: Dataset, layout: ChunkLayout): FindChunk {
  requireKnownFilters(filters);
  return chunkFinder({ file, layout, shape, chunkBytes, filterCount: filters.length });
}

function inChunk<T>(path: string, place: readonly number[], address: number, decode: () => T): T {
  try {
    return decode();
  } catch (error) {
    if (!(error instanceof Hdf5Problem)) throw error;
    throw new Hdf5Problem(`the chunk (${place}) of ${path} at byte ${address} ${error.message}`, error.isDamage);
  }
}
