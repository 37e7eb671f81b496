/**
 * Looking at a few bytes of a file here and there, always further on, with few calls: a call reads as much as
 * lies between two such places, and more. Where they lie close, as headers of small members do, all of the file is
 * read, in the order in which disks read fastest.
 */
import { type OpenFile, readAt } from './files.js';

const WINDOW_BYTES = 256 * 1024;

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

  /**
   * @param byteLength at most `WINDOW_BYTES`.
   * @returns bytes [position, position + byteLength), fewer at the end of the file; good until the next call.
   */
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
