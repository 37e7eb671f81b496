/**
 * Copies between shared memory and a thread's own. V8 copies shared memory by words only if both ends have the same
 * alignment within a word, and else byte by byte, several times as slowly. So bytes of different alignment go through a
 * small buffer of this thread, which has the alignment of the shared bytes.
 */
const WORD_BYTES = 8;
/** Small enough to stay in the core's cache. */
const PIECE_BYTES = 64 * 1024;

let scratch: Uint8Array | undefined;

/** Copies all of `source` to `target` at `offset`; one of the two is shared memory. */
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
