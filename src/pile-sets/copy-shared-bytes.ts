/**
 * Copies between memory of one thread and memory that threads share. V8 copies shared memory by words only where both
 * ends lie alike within one, and else byte by byte, several times as slowly. So bytes that do not lie alike go through
 * a few KiB of this thread's own, which lie like the shared ones.
 */

const WORD_BYTES = 8;
/** Small enough to stay in the cache of the core. */
const PIECE_BYTES = 64 * 1024;

let scratch: Uint8Array | undefined;

/** Copies all of `source` to `target` at `offset`; one of them is shared. */
export function copySharedBytes(source: Uint8Array, target: Uint8Array, offset: number): void {
  const isShared = source.buffer instanceof SharedArrayBuffer;
  const sharedStart = isShared ? source.byteOffset : target.byteOffset + offset;
  const ownStart = isShared ? target.byteOffset + offset : source.byteOffset;
  if ((sharedStart - ownStart) % WORD_BYTES === 0) {
    target.set(source, offset);
    return;
  }
  scratch ??= new Uint8Array(PIECE_BYTES + WORD_BYTES);
  const lead = sharedStart % WORD_BYTES;
  for (let done = 0; done < source.byteLength; done += PIECE_BYTES) {
    const count = Math.min(PIECE_BYTES, source.byteLength - done);
    scratch.set(source.subarray(done, done + count), lead);
    target.set(scratch.subarray(lead, lead + count), offset + done);
  }
}
