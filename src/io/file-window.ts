import { hash } from 'node:crypto';
import { type OpenFile, openForRead, readAt, withFile } from './files.js';
import type { FileRole } from './io-error.js';

const WINDOW_BYTES = 256 * 1024;
const END_BYTES = 4096;
const ends = new Uint8Array(2 * END_BYTES);

/**
 * Looks at a few bytes here and there, always further on, with few calls: a call reads as much as lies between two such
 * places, and more. Where they lie close, as headers of small members do, it reads the whole file, in the order in
 * which disks read fastest.
 */
export class FileWindow {
  readonly path: string;
  readonly byteLength: number;
  readonly #file: OpenFile;
  readonly #window = new Uint8Array(WINDOW_BYTES);
  #start = 0;
  #end = 0;

  constructor(file: OpenFile, byteLength: number) {
    this.path = file.path;
    this.#file = file;
    this.byteLength = byteLength;
  }

  /** Bytes [position, position + byteLength), fewer at the end of the file; good until the next call. */
  read(position: number, byteLength: number): Uint8Array {
    if (byteLength > WINDOW_BYTES)
      throw new RangeError(`a window of ${WINDOW_BYTES} bytes has no room for ${byteLength}`);
    const end = Math.min(position + byteLength, this.byteLength);
    if (position < this.#start || end > this.#end) {
      this.#start = position;
      this.#end =
        position +
        readAt(this.#file, this.#window, 0, Math.min(WINDOW_BYTES, Math.max(0, this.byteLength - position)), position);
    }
    return this.#window.subarray(position - this.#start, Math.max(position, Math.min(end, this.#end)) - this.#start);
  }
}

/** A cheap check that a file is unchanged: SHA-256 of the first and the last 4 KiB of its `byteLength` bytes. */
export function hashFileEnds(path: string, byteLength: number, role: FileRole): Buffer {
  return withFile(openForRead(path, role), (file) => {
    const headBytes = readAt(file, ends, 0, END_BYTES, 0);
    const tailBytes = readAt(file, ends, headBytes, END_BYTES, Math.max(0, byteLength - END_BYTES));
    // In one call: an object that hashes piece by piece holds memory that the collector does not see.
    return hash('sha256', ends.subarray(0, headBytes + tailBytes), 'buffer');
  });
}
