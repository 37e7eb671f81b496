/**
 * The compressed bytes of a part, as its codec asks for them.
 */
import type { CompressedSource } from '../../src/formats/codec.js';
import type { RegularInput } from '../../src/io/input-source.js';
import type { JobControl } from '../../src/job-control.js';

/** Read at a time. */
const PIECE_BYTES = 256 * 1024;

/**
 * Stored bytes [start, end) of an input, fewer where it ends before.
 * @param onRead told of the bytes that were read.
 */
export function compressedRange(
  input: RegularInput,
  start: number,
  end: number,
  control: JobControl,
  onRead: (byteLength: number) => void,
): CompressedSource {
  let position = start;
  return {
    path: input.path,
    start,
    throwIfAborted: () => control.throwIfAborted(),
    next: () => {
      control.throwIfAborted();
      const bytes = new Uint8Array(Math.min(PIECE_BYTES, end - position));
      const count = input.readAt(bytes, 0, bytes.byteLength, position);
      position += count;
      onRead(count);
      return bytes.subarray(0, count);
    },
  };
}
