/**
 * Makes V8's collector count shared memory. It knows nothing of what a `SharedArrayBuffer` holds, and would leave those
 * of loaders that have ended lying for as long as a program makes no other garbage. So memory of the same length, which
 * it does count, and which takes none because nobody ever writes to it, lives and dies with each.
 */
const counted = new WeakMap<SharedArrayBuffer, ArrayBuffer>();

export function countSharedMemory(buffer: SharedArrayBuffer): void {
  if (!counted.has(buffer)) counted.set(buffer, new ArrayBuffer(buffer.byteLength));
}
